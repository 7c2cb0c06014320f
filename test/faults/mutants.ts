import { readFileSync, readdirSync } from 'node:fs';

/** A mistake that somebody could make, as changes to the service's source. */
export interface Mutant {
  name: string;
  /** The seed whose world shows it soon. */
  seed: number;
  /** What it would do to people. */
  what: string;
  changes: { file: string; find: string; replace: string }[];
}

const repository = new URL('../../', import.meta.url).href;
const folder = new URL('mutants/', import.meta.url);

/** Each is found by `npm run faults -- --mutants`, or the simulation is not worth its time. */
export const mutants: readonly Mutant[] = readdirSync(folder).flatMap((file) =>
  readFileSync(new URL(file, folder), 'utf8').trimEnd().split('\n\n').map(parseMutant),
);

/**
 * A mutant as README.md describes it. A `-` after a `+` begins another change.
 * @throws when its text is not of that form
 */
function parseMutant(text: string): Mutant {
  const [title, what, ...lines] = text.split('\n');
  const [, name, seed] = /^([a-z0-9-]+) \(seed (\d+)\)$/.exec(title!) ?? [];
  if (name === undefined || what === undefined) throw new Error(`a mutant begins wrongly: ${title}`);
  const changes: { file: string; find: string[]; replace: string[] }[] = [];
  let file = '';
  for (const line of lines) {
    const rest = line.slice(1);
    if (line.startsWith('in ')) file = line.slice('in '.length);
    else if (line.startsWith('+')) changes.at(-1)!.replace.push(rest);
    else if (!line.startsWith('-')) throw new Error(`${name}: a line begins wrongly: ${line}`);
    else if (changes.at(-1)?.file === file && changes.at(-1)!.replace.length === 0)
      changes.at(-1)!.find.push(rest);
    else changes.push({ file, find: [rest], replace: [] });
  }
  const joined = changes.map(({ find, replace, ...of }) => ({
    ...of,
    find: find.join('\n'),
    replace: replace.join('\n'),
  }));
  return { name, seed: Number(seed), what, changes: joined };
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
