import { registerHooks } from 'node:module';

/** A bug that somebody could make: where, and what it turns into what. */
export interface PlantedBug extends Change {
  name: string;
  /** What it would do to people. */
  what: string;
  /** Where it takes two mistakes. */
  also?: Change;
}

interface Change {
  /** Below `shared/`. */
  file: string;
  changes: readonly (readonly [from: string, to: string])[];
}

/**
 * Puts a bug into the service's source as it is loaded; nothing is written to disk. To be called before the file is
 * imported. @throws when its place is not there any more, or not once.
 */
export function plant(bug: PlantedBug): void {
  change(bug.name, bug);
  if (bug.also !== undefined) change(bug.name, bug.also);
}

function change(name: string, { file, changes }: Change): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!new URL(url).pathname.endsWith(`/shared/${file}`)) return loaded;
      let source = String(loaded.source);
      for (const [from, to] of changes) {
        if (source.split(from).length !== 2)
          throw new Error(`${name}: the place of the bug is not once in ${file}: ${from}`);
        source = source.replace(from, () => to);
      }
      return { ...loaded, source };
    },
  });
}
