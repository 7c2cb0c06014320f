import { readFileSync } from 'node:fs';

/** A mistake that somebody could make, as changes to the service's source. */
export interface Mutant {
  name: string;
  /** The seed whose simulation shows it soon. */
  seed: number;
  /** What it would do to people. */
  what: string;
  changes: { file: string; find: string; replace: string }[];
}

const repository = new URL('../../', import.meta.url).href;
const text = readFileSync(new URL('mutants.diff', import.meta.url), 'utf8');

/** Each is found by `npm run faults -- --mutants`, or the simulation is not worth its time. */
export const mutants: readonly Mutant[] = parseMutants(text.trimEnd().split('\n'));

/**
 * Mutants as README.md describes them. A `-` after a `+` begins another change.
 * @throws when the lines are not of that form
 */
function parseMutants(lines: string[]): Mutant[] {
  const found: Mutant[] = [];
  let file = '';
  let before = '';
  for (const line of lines) {
    const title = /^([a-z0-9-]+) \(seed (\d+)\): (.+)$/.exec(line);
    const rest = line.slice(1);
    const changes = found.at(-1)?.changes;
    if (title !== null) found.push({ name: title[1]!, seed: Number(title[2]), what: title[3]!, changes: [] });
    else if (line.startsWith('in ')) file = line.slice('in '.length);
    else if (line.startsWith('-') && before.startsWith('-')) changes!.at(-1)!.find += `\n${rest}`;
    else if (line.startsWith('-')) changes!.push({ file, find: rest, replace: '' });
    else if (line.startsWith('+') && before.startsWith('+')) changes!.at(-1)!.replace += `\n${rest}`;
    else if (line.startsWith('+')) changes!.at(-1)!.replace = rest;
    else if (line !== '') throw new Error(`a mutant has a wrong line: ${line}`);
    before = line;
  }
  return found;
}

export function mutantNamed(name: string): Mutant {
  const mutant = mutants.find((one) => one.name === name);
  if (mutant === undefined) throw new Error(`There is no mutant ${name}.`);
  return mutant;
}

/**
 * The source of a file with a mutant in it, null when the mutant is elsewhere. Nothing is written to disk.
 * @throws when the place that it changes is not there any more, or not once
 */
export function mutate(path: string, { name, changes }: Mutant): string | null {
  const own = changes.filter(({ file }) => path.endsWith(`/${file}`));
  if (own.length === 0) return null;
  let source = readFileSync(path, 'utf8');
  for (const { file, find, replace } of own) {
    if (source.split(find).length !== 2)
      throw new Error(`${name}: the place that it changes is not once in ${file}: ${find}`);
    // An import names its file from the repository's root.
    source = source.replace(find, () => replace.replaceAll("from 'shared/", `from '${repository}shared/`));
  }
  return source;
}
