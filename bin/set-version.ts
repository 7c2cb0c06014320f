import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** A file that names the version of what is released together. */
interface VersionFile {
  path: string;
  /** Where the version stands: all before it, and all that may be it. */
  place: RegExp;
}

const inManifest = /^( {2}"version": ")([^"]*)/m;

/** Wherever a page names a package of a dashboard. */
const inLinks = /(\/packages\/[\w-]+?-)(\d+\.\d+\.\d+)(?=\.tgz|-py3)/g;

/** The first is the one that the others follow. */
const files: VersionFile[] = [
  { path: 'package.json', place: inManifest },
  { path: 'package-lock.json', place: inManifest },
  { path: 'package-lock.json', place: /("packages": \{\n {4}"": \{[^}]*?"version": ")([^"]*)/ },
  { path: 'package-lock.json', place: /("clients\/typescript": \{[^}]*?"version": ")([^"]*)/ },
  { path: 'clients/typescript/package.json', place: inManifest },
  { path: 'clients/python/src/image_generation/_version.py', place: /^(__version__ = ')([^']*)/m },
  ...['README.md', 'clients/python/README.md', 'clients/typescript/README.md'].map((path) => ({
    path,
    place: inLinks,
  })),
];

/** Of this repository; a client that a checkout lacks is left out. */
const present = (root: string): VersionFile[] => files.filter(({ path }) => existsSync(join(root, path)));

/** The versions that each file names; undefined where it names none. */
export function versionsIn(root: string): { path: string; version: string | undefined }[] {
  return present(root).flatMap(({ path, place }) => {
    const text = readFileSync(join(root, path), 'utf8');
    const found = place.global ? text.matchAll(place) : [place.exec(text)];
    return Array.from(found, (match) => ({ path, version: match?.[2] }));
  });
}

/** Writes a version into every file. @throws RangeError if it is no version as npm and PyPI both write it */
export function setVersion(root: string, version: string): void {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version)) {
    throw new RangeError(`"${version}" is no version: write three numbers, as 1.2.3.`);
  }
  for (const { path, place } of present(root)) {
    const text = readFileSync(join(root, path), 'utf8');
    writeFileSync(
      join(root, path),
      text.replace(place, (_, before: string) => before + version),
    );
  }
}

/** What does not name a version, as sentences. */
export function wrongVersions(root: string, expected: string): string[] {
  return versionsIn(root)
    .filter(({ version }) => version !== expected)
    .map(({ path, version = 'none' }) => `${path} names ${version}, not ${expected}.`);
}

const usage = `npm run set-version -- VERSION

Writes a version, as 1.2.3, into every file that names it: the service and its clients are released together.
With --check VERSION it only says which files name another one, and exits with 1 if any does.`;

function run(root: string): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { check: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.check !== undefined) {
    const wrong = wrongVersions(root, values.check);
    wrong.forEach((sentence) => console.error(sentence));
    return wrong.length === 0 ? 0 : 1;
  }
  const [version, ...others] = positionals;
  if (values.help || version === undefined || others.length > 0) {
    console.log(usage);
    return values.help ? 0 : 2;
  }
  setVersion(root, version);
  return 0;
}

if (import.meta.main) process.exitCode = run(fileURLToPath(new URL('..', import.meta.url)));
