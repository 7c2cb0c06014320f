import { execFileSync, spawnSync } from 'node:child_process';
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
      .map(({ language, text }, i) => ({ name: `${path}: ${language} ${i + 1}`, text })),
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

describe('shell', () => {
  test.each(samplesOf(pages(), 'sh', 'bash'))('$name can be read by bash', ({ text }) => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('JavaScript and TypeScript', () => {
  const samples = [
    ...samplesOf(pages(), 'js', 'javascript').map((sample) => ({ ...sample, file: 'sample.mjs' })),
    ...samplesOf(pages(), 'ts', 'typescript').map((sample) => ({ ...sample, file: 'sample.mts' })),
  ];
  test.each(samples)('$name can be read by Node.js', ({ text, file }) => {
    const path = join(folder, file);
    writeFileSync(path, text);
    const { status, stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

(hasPython ? describe : describe.skip)('Python', () => {
  test.each(samplesOf(apiPages(), 'python'))('$name can be read by Python', ({ text }) => {
    execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: text });
  });
});

test('no sample holds a key: each reads it from the environment', () => {
  for (const { name, text } of samplesOf(apiPages(), 'sh', 'js', 'ts', 'python')) {
    expect([name, /svc_live_\w/.test(text)]).toEqual([name, false]);
  }
});

const current = pages().filter((path) => path !== 'CHANGELOG.md');

test.each(current)('%s calls the environment as the clients do', (path) => {
  const names = readPage(path).match(/\b[A-Z_]*(?:API_KEY|BASE_URL|IDENTITY_ID)\b/g) ?? [];
  const others = names.filter(
    (name) => !/^(IMAGE_(API_KEY|BASE_URL|IDENTITY_ID)|INVALID_API_KEY)$/.test(name),
  );
  expect(others).toEqual([]);
});

test.each(current)('%s gives every order that a shell sends a key of its own, once', (path) => {
  const orders = samplesOf([path], 'sh', 'bash').flatMap(
    ({ text }) => text.replaceAll('\\\n', ' ').match(/curl .*\/generate" .*-d .*/g) ?? [],
  );
  const keys = orders.map((order) => /-H ['"]Idempotency-Key: ([\w-]+|\$1)['"]/.exec(order)?.[1]);
  expect(keys).not.toContain(undefined);
  expect(new Set(keys).size).toBe(orders.length);
});
