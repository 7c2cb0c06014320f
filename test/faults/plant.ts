import { registerHooks } from 'node:module';

/** A bug that somebody could make: where, and what it turns into what. */
export interface PlantedBug {
  name: string;
  /** What it would do to people. */
  what: string;
  /** Below `shared/`. */
  file: string;
  changes: readonly (readonly [from: string, to: string])[];
}

/**
 * Puts a bug into the service's source as it is loaded; nothing is written to disk. To be called before the file is
 * imported. @throws when its place is not there any more, or not once.
 */
export function plant({ name, file, changes }: PlantedBug): void {
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
