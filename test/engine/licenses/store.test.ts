import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../shared/base/ids.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { apiKeyStore } from '../../../shared/keys/store.ts';
import { maxConflictRetries } from '../../../shared/table/backoff.ts';
import { licenseStore, type LicenseStore } from '../../../shared/licenses/store.ts';
import { issueKey, newLicense } from '../../support/grants.ts';
import { busy, canceled, hungUp } from '../generations/table.ts';
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
  test.each([
    ['as it is granted', newLicense()],
    [
      'with other members',
      newLicense({
        tier: 'starter',
        foundingCatalog: false,
        identityIds: ['idn_1', 'idn_2'],
        apiAccess: false,
        status: 'past_due',
        activeUntilMs: 1_800_000_000_000,
      }),
    ],
  ])('%s is read back as it was inserted', async (_what, license) => {
    await licenses.insert(license);
    expect(await licenses.get(license.licenseId)).toEqual(license);
    expect(await licenses.listByOwner(license.ownerId)).toEqual([license]);
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

describe('a change that meets another transaction', () => {
  const conflict = () => canceled('TransactionConflict', 'None');

  test('is tried again until it is through', async () => {
    fixture.fail('before', conflict(), conflict(), conflict());
    const license = newLicense();
    await licenses.insert(license);
    fixture.fail('before', conflict(), conflict(), conflict());
    expect(await licenses.update(license.licenseId, { creditsLimit: 9 })).toMatchObject({ creditsLimit: 9 });
  });

  test('without an end is SERVICE_UNAVAILABLE, after a first time and 12 more', async () => {
    const last = conflict();
    fixture.state.before = () => last;
    const sent = fixture.count();
    const failure = await licenses.insert(newLicense()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ ...busy, cause: last });
    expect(sent.times).toBe(maxConflictRetries + 1);
    expect(maxConflictRetries).toBe(12);
  });

  test('is told from any other failure, which is not tried again', async () => {
    fixture.state.before = () => hungUp();
    const sent = fixture.count();
    const { licenseId } = newLicense();
    await expect(licenses.insert(newLicense())).rejects.toThrow('socket hang up');
    await expect(licenses.update(licenseId, { tier: 'pro' })).rejects.toThrow('socket hang up');
    expect(sent.times).toBe(2);
  });
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

  test('of nobody are none', async () => expect(await licenses.listByOwner('nobody')).toEqual([]));
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
  expect(
    listed.filter(({ ownerId }) => ownerId === 'everybody').map(({ createdAtMs }) => createdAtMs),
  ).toEqual([10, 20, 30, 40, 50]);
  expect(listed.map(({ createdAtMs }) => createdAtMs)).toEqual(
    listed.map(({ createdAtMs }) => createdAtMs).sort((a, b) => a - b),
  );
  expect(listed.every(({ licenseId }) => licenseId.startsWith('lic_'))).toBe(true);
});
