import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { apiPages, codeBlocks, pages, readPage } from '../../support/documents.ts';
import { closed, fits } from '../openapi/json-schema.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'docs-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const samplesOf = (paths: string[], ...languages: string[]) =>
  paths.flatMap((path) =>
    codeBlocks(path)
      .filter(({ language }) => languages.includes(language))
      .map(({ language, text }, i) => ({ name: `${path}: ${language} ${i + 1}`, language, text })),
  );

const document = closed(openApiDocument());
const { schemas } = document.components;
/** Whole bodies, and the one part of a body that is shown alone. */
const shapes: Record<string, object> = {
  ...schemas,
  'Generation.usage': schemas.Generation.properties.usage,
};

describe('JSON', () => {
  const samples = samplesOf(apiPages(), 'json');

  test('is shown at all', () => expect(samples.length).toBeGreaterThan(5));

  test.each(samples)('$name is a body that the API takes or gives', ({ text }) => {
    const value: unknown = JSON.parse(text);
    const fitting = Object.values(shapes).some((shape) => fits(shape, value, document));
    expect({ value, fitting }).toEqual({ value, fitting: true });
  });
});

type Program = [file: string, command: string, ...args: string[]];
const shell: Program = ['sample.sh', 'bash', '-n'];
const javaScript: Program = ['sample.mjs', process.execPath, '--check'];
const typeScript: Program = ['sample.mts', process.execPath, '--check'];
const reading = 'import ast, sys; ast.parse(open(sys.argv[1]).read())';
/** What reads a sample without running it, by its language. */
const programs: Record<string, Program> = {
  sh: shell,
  bash: shell,
  js: javaScript,
  javascript: javaScript,
  ts: typeScript,
  typescript: typeScript,
  ...(spawnSync('python3', ['--version']).status === 0 && {
    python: ['sample.py', 'python3', '-c', reading],
  }),
};

test.each(samplesOf(pages(), ...Object.keys(programs)))('$name can be read', ({ language, text }) => {
  const [file, command, ...args] = programs[language]!;
  const path = join(folder, file);
  writeFileSync(path, text);
  const { status, stderr } = spawnSync(command, [...args, path], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('no sample holds a key: each reads it from the environment', () => {
  for (const { name, text } of samplesOf(apiPages(), 'sh', 'js', 'ts', 'python'))
    expect([name, /svc_live_\w/.test(text)]).toEqual([name, false]);
});

const current = pages().filter((path) => path !== 'CHANGELOG.md');

test.each(current)('%s calls the environment as the clients do', (path) => {
  const names = readPage(path).match(/\b[A-Z_]*(?:API_KEY|BASE_URL|IDENTITY_ID)\b/g) ?? [];
  const usual = /^(IMAGE_(API_KEY|BASE_URL|IDENTITY_ID)|INVALID_API_KEY)$/;
  expect(names.filter((name) => !usual.test(name))).toEqual([]);
});

test.each(current)('%s gives every order that a shell sends a key of its own, once', (path) => {
  const orders = samplesOf([path], 'sh', 'bash').flatMap(
    ({ text }) => text.replaceAll('\\\n', ' ').match(/curl .*\/generate" .*-d .*/g) ?? [],
  );
  const keys = orders.map((order) => /-H ['"]Idempotency-Key: ([\w-]+|\$1)['"]/.exec(order)?.[1]);
  expect(keys).not.toContain(undefined);
  expect(new Set(keys).size).toBe(orders.length);
});
