import { readFileSync } from 'node:fs';

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
 * The source of a file with a bug in it, null when the bug is elsewhere. Nothing is written to disk.
 * @throws when the bug's place is not there any more, or not once.
 */
export function plantIn(path: string, { name, also, ...first }: PlantedBug): string | null {
  const change = [first, also].find((some) => some !== undefined && path.endsWith(`/shared/${some.file}`));
  if (change === undefined) return null;
  let source = readFileSync(path, 'utf8');
  for (const [from, to] of change.changes) {
    if (source.split(from).length !== 2)
      throw new Error(`${name}: the place of the bug is not once in ${change.file}: ${from}`);
    source = source.replace(from, () => to);
  }
  return source;
}
