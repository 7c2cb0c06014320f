import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Identity } from '../../../shared/domain/identity.ts';
import { newId } from '../../../shared/domain/ids.ts';
import type { License } from '../../../shared/domain/license.ts';
import { apiKeyStore } from '../../../shared/store/api-key-store.ts';
import { maxConflictRetries } from '../../../shared/store/backoff.ts';
import { readForCommand } from '../../../shared/store/command-reads.ts';
import { hashIdempotencyKey } from '../../../shared/store/idempotency-store.ts';
import { identityStore, type IdentityStore } from '../../../shared/store/identity-store.ts';
import { licenseStore, type LicenseStore } from '../../../shared/store/license-store.ts';
import { itemKeys } from '../../../shared/store/table-keys.ts';
import { issueKey, newLicense } from '../../support/grants.ts';
import { sampleIdentity } from '../../support/unit-samples.ts';
import { busy, hungUp, writeConflict } from './table.ts';
import { useTable } from './use-world.ts';

const world = useTable();
let licenses: LicenseStore;
let identities: IdentityStore;

beforeAll(() => {
  licenses = licenseStore(world.table);
  identities = identityStore(world.table);
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
    await expect(licenses.insert({ ...license, tier: 'starter' })).rejects.toBeInstanceOf(
      ConditionalCheckFailedException,
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

describe('a write that meets a transaction', () => {
  test('is tried again until it is through', async () => {
    let conflicts = 3;
    world.state.before = () => (conflicts-- > 0 ? writeConflict() : undefined);
    const license = newLicense();
    await licenses.insert(license);
    conflicts = 3;
    expect(await licenses.update(license.licenseId, { creditsLimit: 9 })).toMatchObject({ creditsLimit: 9 });
  });

  test('without an end is SERVICE_UNAVAILABLE, after a first time and 12 more', async () => {
    const last = writeConflict();
    world.state.before = () => last;
    const sent = world.count();
    const failure = await licenses.insert(newLicense()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ ...busy, cause: last });
    expect(sent.times).toBe(maxConflictRetries + 1);
    expect(maxConflictRetries).toBe(12);
  });

  test('is told from any other failure, which is not tried again', async () => {
    world.state.before = () => hungUp();
    const sent = world.count();
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
      issued.push((await issueKey(world.table, middle!, { createdAtMs })).keyId);
    expect(await licenses.listByOwner(ownerId)).toEqual([old, middle, young]);
    const keys = await apiKeyStore(world.table).listByOwner(ownerId);
    expect(keys.map(({ keyId }) => keyId)).toEqual([issued[1], issued[0], issued[2]]);
  });

  test('are listed whole, however many pages they take', async () => {
    const ownerId = newId('identity');
    const all = [1, 2, 3, 4, 5, 6].map((ms) => dated(ms, { ownerId, identityIds: wide }));
    for (const license of all) await licenses.insert(license);
    const pages = world.count('QueryCommand');
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
    await issueKey(world.table, license);
  }
  const pages = world.count('ScanCommand');
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

const identity = (identityId: string, changes: Partial<Identity> = {}): Identity => ({
  ...sampleIdentity,
  identityId,
  name: identityId,
  catalog: 'specialist',
  productPhotos: true,
  model: {
    version: '7',
    adapterKey: 'adapters/a.safetensors',
    adapterSha256: 'f0'.repeat(32),
    settings: { scale: 0.8 },
  },
  ...changes,
});

async function emptyCatalog(): Promise<void> {
  const { documents, name: TableName } = world.table;
  for (const { identityId } of await identities.list())
    await documents.send(new DeleteCommand({ TableName, Key: itemKeys.identity(identityId) }));
}

describe('an identity', () => {
  beforeEach(emptyCatalog);

  test.each([
    ['with a model', identity('idn_a')],
    ['without one', identity('idn_b', { model: null, catalog: 'founding', productPhotos: false })],
  ])('%s is read back as it was put', async (_what, one) => {
    await identities.put(one);
    expect(await identities.get(one.identityId)).toEqual(one);
    expect(await identities.list()).toEqual([one]);
  });

  test('that is put again is replaced whole', async () => {
    await identities.put(identity('idn_a'));
    const next = identity('idn_a', { name: 'Another', model: null });
    await identities.put(next);
    expect(await identities.list()).toEqual([next]);
  });

  test('that is not there is null', async () => expect(await identities.get('idn_none')).toBeNull());

  test('stored before it had a model has none', async () => {
    const { model: _model, ...older } = identity('idn_old');
    const Item = { ...itemKeys.identity('idn_old'), ...older };
    await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item }));
    expect((await identities.get('idn_old'))!.model).toBeNull();
  });

  test('stored before adapters had digests has none', async () => {
    const { model, ...rest } = identity('idn_older');
    const { adapterSha256: _digest, ...older } = model!;
    const Item = { ...itemKeys.identity('idn_older'), ...rest, model: older };
    await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item }));
    expect((await identities.get('idn_older'))!.model).toEqual({ ...older, adapterSha256: null });
  });
});

describe('the catalog', () => {
  beforeEach(emptyCatalog);

  test('is listed whole and by name, however many pages it takes, and holds identities only', async () => {
    const settings = { notes: 'x'.repeat(300_000) };
    const all = ['d', 'b', 'e', 'a', 'c'].map((name, i) =>
      identity(`idn_${i}`, {
        name,
        model: { version: '1', adapterKey: null, adapterSha256: null, settings },
      }),
    );
    for (const one of all) await identities.put(one);
    const other = { PK: 'CATALOG', SK: 'NOTE#1', name: 'aa' };
    await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item: other }));
    const pages = world.count('QueryCommand');
    const listed = await identities.list();
    expect(listed.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(pages.times).toBeGreaterThan(1);
  });

  test('keeps those of one name together', async () => {
    for (const [id, name] of [
      ['1', 'b'],
      ['2', 'a'],
      ['3', 'b'],
      ['4', 'a'],
    ])
      await identities.put(identity(`idn_${id}`, { name: name! }));
    const listed = await identities.list();
    expect(listed.map(({ identityId }) => identityId)).toEqual(['idn_2', 'idn_4', 'idn_1', 'idn_3']);
  });
});

describe('what a request needs beside its caller', () => {
  const idempotencyKeyHash = hashIdempotencyKey('a key');
  const expiresAtMs = Date.UTC(2026, 5, 1);
  const idempotencyRecord = { requestId: 'r1', bodyHash: 'h1', expiresAtMs };

  beforeEach(async () => {
    await identities.put(identity('idn_a'));
    const Item = { ...itemKeys.idempotencyRecord('key_1', idempotencyKeyHash), ...idempotencyRecord };
    await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item }));
  });

  test.each([
    ['both', 'idn_a', 'key_1', idempotencyKeyHash, identity('idn_a'), idempotencyRecord],
    ['an identity alone', 'idn_a', 'key_1', null, identity('idn_a'), null],
    ['an idempotency key alone', null, 'key_1', idempotencyKeyHash, null, idempotencyRecord],
    ['neither', null, 'key_1', null, null, null],
    ['an identity that is not there', 'idn_none', 'key_1', idempotencyKeyHash, null, idempotencyRecord],
    ['an idempotency key of another caller', 'idn_a', 'key_2', idempotencyKeyHash, identity('idn_a'), null],
  ])('is found for %s', async (_what, identityId, callerId, id, foundIdentity, foundRecord) => {
    const reads = world.count();
    expect(await readForCommand(world.table, { identityId, callerId, idempotencyKeyHash: id })).toEqual({
      identity: foundIdentity,
      idempotencyRecord: foundRecord,
    });
    // One strong read, and none where nothing is asked for.
    expect(reads.times).toBe(identityId === null && id === null ? 0 : 1);
  });
});
