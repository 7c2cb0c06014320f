import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readPage } from '../../support/documents.ts';
import { hasTitles, namedTests, notPassed } from '../../support/guarantees.ts';
import { inRepository } from '../../support/repository.ts';

const { default: jestConfig } = await import(inRepository('jest.config.js'));
const roots: string[] = jestConfig.projects.flatMap((project: { roots: string[] }) => project.roots);

test('docs/guarantees.md has about fifty promises, each with one test', () => {
  const promises = readPage('docs/guarantees.md').match(/^- /gm)!;
  expect(promises.length).toBeGreaterThanOrEqual(45);
  expect(namedTests()).toHaveLength(promises.length);
});

test.each(namedTests().map(({ file, titles }) => [file, titles.join(' › '), titles] as const))(
  '%s has “%s”, which nothing skips, in a file that is run',
  (file, _name, titles) => {
    expect(existsSync(inRepository(file))).toBe(true);
    const text = readFileSync(inRepository(file), 'utf8');
    expect(hasTitles(text, titles)).toBe(true);
    expect(text).not.toMatch(/\b(test|it|describe|mark)\.(only|skip|todo|xfail)|importorskip/);
    const isRun = roots.some((root) => file.startsWith(`${root.replace('<rootDir>/', '')}/`));
    expect(isRun || file.endsWith('.py')).toBe(true);
  },
);

describe('a run that did not pass a named test fails, where the test', () => {
  const named = { file: 'test/http/a.test.ts', titles: ['a key', 'is refused: %s'] };
  const ran = (title: string, status: string, testFilePath = inRepository(named.file)) =>
    notPassed([{ testFilePath, testResults: [{ ancestorTitles: ['a key'], title, status }] }], [named]);

  test('was skipped', () => expect(ran('is refused: old', 'pending')).toEqual([named]));
  test('has another name', () => expect(ran('is not refused: old', 'passed')).toEqual([named]));
  test('but not where it passed, or its file was not run', () => {
    expect(ran('is refused: old', 'passed')).toEqual([]);
    expect(ran('is refused: old', 'pending', inRepository('test/http/b.test.ts'))).toEqual([]);
  });
});
