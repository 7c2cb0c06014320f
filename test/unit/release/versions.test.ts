import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { setVersion, versionsIn, wrongVersions } from '../../../bin/set-version.ts';
import { inRepository, repository } from '../../support/repository.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';

let copy: string;

beforeEach(() => {
  copy = temporaryFolder();
  for (const { path } of versionsIn(repository)) cpSync(inRepository(path), join(copy, path));
});
afterEach(() => removeFolder(copy));

test('every package has the version of the service', () => {
  const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as { version: string };
  expect(wrongVersions(repository, version)).toEqual([]);
  expect(versionsIn(repository).length).toBeGreaterThanOrEqual(5);
});

test('a new version is written into every file, and changes nothing else', () => {
  const texts = (): string[] => versionsIn(copy).map(({ path }) => readFileSync(join(copy, path), 'utf8'));
  const before = texts();
  setVersion(copy, '7.10.3');
  expect(wrongVersions(copy, '7.10.3')).toEqual([]);
  const lock = JSON.parse(readFileSync(join(copy, 'package-lock.json'), 'utf8'));
  const named = [lock.version, lock.packages[''].version, lock.packages['clients/typescript'].version];
  expect(named).toEqual(['7.10.3', '7.10.3', '7.10.3']);
  expect(lock.packages.dashboard.version).not.toBe('7.10.3');
  const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as { version: string };
  setVersion(copy, version);
  expect(texts()).toEqual(before);
});

test('what is no version of three numbers is refused, and changes nothing', () => {
  const before = versionsIn(copy);
  for (const wrong of ['', 'v1.2.3', '1.2', '1.2.3-beta', '01.2.3', '1.2.3\n'])
    expect(() => setVersion(copy, wrong)).toThrow(RangeError);
  expect(versionsIn(copy)).toEqual(before);
});

test('a file that names another version is named', () => {
  setVersion(copy, '1.2.3');
  expect(wrongVersions(copy, '1.2.4')).toContain('clients/typescript/package.json names 1.2.3, not 1.2.4.');
});
