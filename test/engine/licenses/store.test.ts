import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../shared/base/ids.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { apiKeyStore } from '../../../shared/keys/store.ts';
import { licenseStore, type LicenseStore } from '../../../shared/licenses/store.ts';
import { issueKey, newLicense } from '../../support/grants.ts';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { itemKeys } from '../../../shared/table/keys.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
let licenses: LicenseStore;

beforeAll(() => {
  licenses = licenseStore(fixture.table);
});

/** So many identities that a page of the table holds a few licenses. */
const wide = Array.from({ length: 9000 }, (_, i) => `idn_${String(i).padStart(20, '0')}`);
const dated = (createdAtMs: number, changes: Partial<License> = {}) =>
  newLicense({ createdAtMs, ...changes });

describe('a license', () => {
  test('is read back as it was inserted', async () => {
    const license = newLicense({
      tier: 'starter',
      foundingCatalog: false,
      identityIds: ['idn_1', 'idn_2'],
      apiAccess: false,
      status: 'past_due',
      activeUntilMs: 1_800_000_000_000,
      carried: { startMs: 5, endMs: 9, creditsLimit: 7 },
      maxInFlight: 3,
    });
    await licenses.insert(license);
    expect(await licenses.get(license.licenseId)).toEqual(license);
    expect(await licenses.listByOwner(license.ownerId)).toEqual([license]);
    const many = await licenses.getMany([license.licenseId, newId('license')]);
    expect(many).toEqual(new Map([[license.licenseId, license]]));
  });

  test('that is not there is null, and is not made by changing it', async () => {
    const licenseId = newId('license');
    expect(await licenses.get(licenseId)).toBeNull();
    expect(await licenses.update(licenseId, { tier: 'pro' })).toBeNull();
    expect(await licenses.get(licenseId)).toBeNull();
  });

  test('never takes the place of another', async () => {
    const license = newLicense();
    await licenses.insert(license);
    await expect(licenses.insert({ ...license, tier: 'starter' })).rejects.toThrow(
      'a license with this id is there already',
    );
    expect(await licenses.get(license.licenseId)).toEqual(license);
  });

  test('whose insertion was answered too late, and which then meets itself, is inserted', async () => {
    const license = newLicense();
    await licenses.insert(license);
    await licenses.insert(license);
    expect(await licenses.get(license.licenseId)).toEqual(license);
  });

  test('changes in the members that are given, and in no other', async () => {
    const license = newLicense({ activeUntilMs: 5 });
    await licenses.insert(license);
    const change = { status: 'ended', creditsLimit: 7, activeUntilMs: null } as const;
    const changed = { ...license, ...change };
    expect(await licenses.update(license.licenseId, change)).toEqual(changed);
    expect(await licenses.get(license.licenseId)).toEqual(changed);
  });
});

test('a change meets one that came in between, and members that an older license does not have', async () => {
  const license = newLicense();
  await licenses.insert(license);
  fixture.meanwhile(() => licenses.update(license.licenseId, { creditsLimit: 5 }));
  await licenses.update(license.licenseId, { creditsLimit: 7 });
  expect(await licenses.get(license.licenseId)).toMatchObject({ creditsLimit: 7 });
  const { documents, name: TableName } = fixture.table;
  const Key = itemKeys.license(license.licenseId);
  await documents.send(
    new UpdateCommand({ TableName, Key, UpdateExpression: 'REMOVE maxInFlight, graceUntilMs' }),
  );
  const change = { maxInFlight: 3, graceUntilMs: 9 };
  const changed = { ...license, creditsLimit: 7, ...change };
  expect(await licenses.update(license.licenseId, change)).toEqual(changed);
  expect(await licenses.get(license.licenseId)).toEqual(changed);
});

describe('the licenses of an account', () => {
  test('are listed oldest first, and its keys newest first, neither among the other', async () => {
    const ownerId = newId('identity');
    const [old, middle, young] = [1000, 2000, 3000].map((ms) => dated(ms, { ownerId }));
    for (const license of [middle!, young!, old!]) await licenses.insert(license);
    await licenses.insert(newLicense());
    const issued = [];
    for (const createdAtMs of [20, 30, 10])
      issued.push((await issueKey(fixture.table, middle!, { createdAtMs })).keyId);
    expect(await licenses.listByOwner(ownerId)).toEqual([old, middle, young]);
    const keys = await apiKeyStore(fixture.table).listByOwner(ownerId);
    expect(keys.map(({ keyId }) => keyId)).toEqual([issued[1], issued[0], issued[2]]);
  });

  test('are listed whole, however many pages they take', async () => {
    const ownerId = newId('identity');
    const all = [1, 2, 3, 4, 5, 6].map((ms) => dated(ms, { ownerId, identityIds: wide }));
    for (const license of all) await licenses.insert(license);
    const pages = fixture.count('QueryCommand');
    const listed = await licenses.listByOwner(ownerId);
    expect(listed.map(({ licenseId }) => licenseId)).toEqual(all.map(({ licenseId }) => licenseId));
    expect(pages.times).toBeGreaterThan(1);
  });
});

test('all licenses are listed, oldest first and nothing else, over all pages of the table', async () => {
  const made = [40, 20, 50, 10, 30].map((ms) => dated(ms, { identityIds: wide, ownerId: 'everybody' }));
  for (const license of made) {
    await licenses.insert(license);
    await issueKey(fixture.table, license);
  }
  const pages = fixture.count('ScanCommand');
  const listed = await licenses.listAll();
  expect(pages.times).toBeGreaterThan(1);
  const times = listed.map(({ createdAtMs }) => createdAtMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(listed.filter(({ ownerId }) => ownerId === 'everybody')).toHaveLength(5);
  expect(listed.every(({ licenseId }) => licenseId.startsWith('lic_'))).toBe(true);
});
