import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { inRepository, repository } from '../../support/repository.ts';

const lists = globSync(['test/long/uv.txt', '{clients,inference,test}/**/requirements*.txt'], {
  cwd: repository,
  exclude: ['**/node_modules'],
});

/** PyPI's names, of which `a_B` is another form of `a-b`. */
const pinsOf = (path: string): string[] =>
  [...readFileSync(inRepository(path), 'utf8').matchAll(/^([\w.-]+)==([^ \n]+)/gm)]
    .map(([, name, version]) => `${name!.replaceAll(/[-_.]+/g, '-').toLowerCase()}==${version}`)
    .sort();

test.each(lists)('all that %s names is locked, with hashes', (list) => {
  const lock = list.replace(/txt$/, 'lock');
  expect(existsSync(inRepository(lock))).toBe(true);
  expect(pinsOf(lock)).toEqual(pinsOf(list));
  const text = readFileSync(inRepository(lock), 'utf8').replaceAll(/^ *#.*\n/gm, '');
  for (const entry of text.trim().split(/\n(?=\S)/)) {
    expect(entry).toMatch(/^\S+==\S+( \\\n {4}--hash=sha256:[0-9a-f]{64})+$/);
  }
});

test('whatever installs Python packages for a release, an image or a test asks for their hashes', () => {
  const files = [
    '.ci/run',
    '.github/workflows/*',
    'inference/Dockerfile',
    '{clients,inference,test}/**/*.sh',
  ];
  const installing = globSync(files, { cwd: repository, exclude: ['**/node_modules'] }).flatMap((path) =>
    [...readFileSync(inRepository(path), 'utf8').matchAll(/^(?!#).*\bpip"? install .*$/gm)].map(
      ([line]) => line,
    ),
  );
  expect(installing.length).toBeGreaterThanOrEqual(3);
  expect(installing.filter((line) => !line.includes('--require-hashes'))).toEqual([]);
});

test('actions are named by their commits, with the versions beside them, and no checkout keeps its token', () => {
  const paths = globSync('.github/workflows/*.yml', { cwd: repository });
  const text = paths.map((path) => readFileSync(inRepository(path), 'utf8')).join('');
  const steps = text.split(/^ +- /m).filter((step) => step.includes('uses:'));
  expect(steps.length).toBeGreaterThanOrEqual(7);
  for (const step of steps) {
    expect(step).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n/);
    if (step.includes('actions/checkout@')) expect(step).toMatch(/^ +persist-credentials: false$/m);
  }
});
