import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  dataFolder,
  isUnfinished,
  readServiceFile,
  writeServiceFile,
  type DataFolder,
  type ServiceFile,
} from '../../../local/data-folder.ts';
import { demoAccounts, demoIdentities, demoKeys, demoLicenses } from '../../../local/demo-data.ts';
import { StartError } from '../../../local/start-error.ts';

let folder: DataFolder;

beforeEach(() => {
  folder = dataFolder(mkdtempSync(join(tmpdir(), 'data-folder-')));
});
afterEach(() => rmSync(folder.path, { recursive: true }));

const named = (demo: object) => Object.fromEntries(Object.keys(demo).map((name) => [name, `of ${name}`]));

/** What a whole first start leaves. */
function wholeFile(): ServiceFile {
  const demo = {
    identities: named(demoIdentities),
    licenses: named(demoLicenses),
    keys: named(demoKeys),
  };
  const accounts = Object.values(demoAccounts).map(({ email }) => ({ email, sub: email, password: 'p' }));
  const signIn = { accounts, signingKey: { kty: 'RSA', kid: 'kid' } };
  return { ...readServiceFile(folder), demo, signIn } as ServiceFile;
}

describe('service.json', () => {
  test('is made by the first start, which is unfinished until the demo data is noted', () => {
    const made = readServiceFile(folder);
    expect(made.demo).toBeNull();
    expect(readServiceFile(folder)).toEqual(made);
    expect(isUnfinished(folder)).toBe(true);
    const whole = wholeFile();
    writeServiceFile(folder, whole);
    expect(readServiceFile(folder)).toEqual(whole);
    expect(isUnfinished(folder)).toBe(false);
  });

  test.each<[string, () => string]>([
    ['is no JSON', () => 'garbage'],
    ['has no credentials of the engines', () => JSON.stringify({ ...wholeFile(), secretAccessKey: '' })],
    ['lost its keys', () => JSON.stringify({ ...wholeFile(), demo: {} })],
    ['lost its accounts', () => JSON.stringify({ ...wholeFile(), signIn: null })],
    ['has no account and no signing key', () => JSON.stringify({ ...wholeFile(), signIn: {} })],
  ])('that %s makes the folder corrupt', (_, textOf) => {
    writeFileSync(join(folder.path, 'service.json'), textOf());
    const read = () => readServiceFile(folder);
    expect(read).toThrow(StartError);
    expect(read).toThrow(/^The data folder \S+ is corrupt \(.*\): start with --fresh to empty it\.$/);
  });

  test('of the first version is refused as another one', () => {
    writeServiceFile(folder, { ...wholeFile(), version: 1, signIn: null } as unknown as ServiceFile);
    expect(() => readServiceFile(folder)).toThrow(/another version.*--fresh/);
  });
});
