import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { apiPages, codeBlocks, pages } from '../../support/documents.ts';
import { closed, fits } from '../openapi/json-schema.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'docs-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const samplesOf = (paths: string[], ...languages: string[]) =>
  paths.flatMap((path) =>
    codeBlocks(path)
      .filter(({ language }) => languages.includes(language))
      .map(({ language, text }, i) => ({ name: `${path}: ${language} ${i + 1}`, path, text })),
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

  test('is shown at all', () => expect(samples.length).toBeGreaterThan(30));

  test.each(samples.map(({ name, text }) => [name, text]))(
    '%s is a body that the API takes or gives',
    (_, text) => {
      const value: unknown = JSON.parse(text);
      const fitting = Object.keys(shapes).filter((name) => fits(shapes[name]!, value, document));
      expect({ value, fitting: fitting.length > 0 }).toEqual({ value, fitting: true });
    },
  );
});

describe('shell', () => {
  test.each(samplesOf(pages(), 'sh', 'bash').map(({ name, text }) => [name, text]))(
    '%s can be read by bash',
    (_, text) => {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    },
  );
});

describe('JavaScript', () => {
  test.each(samplesOf(pages(), 'js', 'javascript').map(({ name, text }) => [name, text]))(
    '%s can be read by Node.js',
    (_, text) => {
      const file = join(folder, 'sample.mjs');
      writeFileSync(file, text);
      const { status, stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    },
  );
});

describe('TypeScript', () => {
  test.each(samplesOf(pages(), 'ts', 'typescript').map(({ name, text }) => [name, text]))(
    '%s can be read by Node.js',
    (_, text) => {
      const file = join(folder, 'sample.mts');
      writeFileSync(file, text);
      const { status, stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    },
  );
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

(hasPython ? describe : describe.skip)('Python', () => {
  test.each(samplesOf(apiPages(), 'python').map(({ name, text }) => [name, text]))(
    '%s can be read by Python',
    (_, text) => {
      execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: text });
    },
  );
});

test('no sample holds a key: each reads it from the environment', () => {
  for (const { name, text } of samplesOf(apiPages(), 'sh', 'js', 'ts', 'python')) {
    expect([name, /svc_live_\w/.test(text)]).toEqual([name, false]);
  }
});
