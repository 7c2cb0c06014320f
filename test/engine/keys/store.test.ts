import { beforeAll, describe, expect, test } from '@jest/globals';
import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { endedKeyMs, keyStatus, type KeyTimes } from '../../../shared/keys/api-key.ts';
import { accountCallerId, isKeyId, newId } from '../../../shared/base/ids.ts';
import { newKeyLimit } from '../../../shared/routes/limits.ts';
import { isKeyPlace } from '../../../shared/keys/pages.ts';
import { apiKeyStore, type ApiKey, type ApiKeyStore } from '../../../shared/keys/store.ts';
import { rateLogStore } from '../../../shared/limits/rate-log-store.ts';
import { itemKeys, ttlAttribute } from '../../../shared/table/keys.ts';
import { itemsWith } from '../../support/table-scan.ts';
import { hungUp } from '../generations/table.ts';
import { insertMany, newKey, nowMs } from './stored-keys.ts';
import { useTable } from '../generations/use-engines.ts';
import { runs } from '../../support/runs.ts';

const fixture = useTable();
let keys: ApiKeyStore;

beforeAll(() => void (keys = apiKeyStore(fixture.table)));

/** Whether there was room for a key. */
const inserted = async (key: ApiKey) => (await keys.insert(key)).stored;

/** A license's keys as its item lists them, those that ended within a minute included. */
async function listedKeys(licenseId: string): Promise<Record<string, KeyTimes>> {
  const Key = itemKeys.activeKeys(licenseId);
  const { Item } = await fixture.table.documents.send(
    new GetCommand({ TableName: fixture.table.name, Key, ConsistentRead: true }),
  );
  return Object.fromEntries(Object.entries(Item ?? {}).filter(([name]) => isKeyId(name)));
}

/** Those that are not revoked; those that expired are among them. */
async function activeKeys(licenseId: string): Promise<string[]> {
  const entries = Object.entries(await listedKeys(licenseId));
  return entries
    .filter(([, { revokedAtMs }]) => revokedAtMs === null)
    .map(([keyId]) => keyId)
    .sort();
}

const idsOf = (list: ApiKey[]) => list.map(({ keyId }) => keyId).sort();

async function active(licenseId: string, atMs = nowMs): Promise<string[]> {
  const listed = await keys.listByOwner(`owner of ${licenseId}`);
  return idsOf(listed.filter((key) => keyStatus(key, atMs) === 'active'));
}

test.each([
  ['as it is', {}],
  ['that expires', { expiresAtMs: 5000 }],
  ['that was revoked before it came here', { revokedAtMs: 3000 }],
  ['that was revoked and would have expired', { revokedAtMs: 3000, expiresAtMs: 5000 }],
])('a key %s is read back as it was stored', async (_what, changes) => {
  const key = newKey(newId('license'), changes);
  expect(await inserted(key)).toBe(true);
  expect(await keys.get(key.keyId)).toEqual(key);
  expect(await keys.listByOwner(key.ownerId)).toEqual([key]);
});

test('several keys are read at once, those that are there', async () => {
  const licenseId = newId('license');
  const [one, other] = await insertMany(keys, licenseId, 2);
  const read = await keys.getMany([other!.keyId, newKey(licenseId).keyId, one!.keyId]);
  expect(read).toEqual([other, one]);
});

test('a change of nothing is none, and a key that is gone is not changed', async () => {
  const [key] = await insertMany(keys, newId('license'), 1);
  const sent = fixture.count('TransactWriteItemsCommand');
  expect(await keys.change(key!, { name: key!.name }, nowMs)).toEqual(key);
  expect(sent.times).toBe(0);
  expect(await keys.change(newKey(newId('license')), { name: 'x' }, nowMs)).toBeNull();
});

test('a key and its rate log come in one strong read', async () => {
  const key = newKey(newId('license'));
  await keys.insert(key);
  const seen: any[] = [];
  fixture.state.before = (_name, input) => void seen.push(input.RequestItems[fixture.table.name]);
  expect(await keys.getWithRateLog(key.keyId, 'fetch')).toEqual({ key, rate: { log: [], version: 0 } });
  expect(seen).toMatchObject([{ ConsistentRead: true }]);
  fixture.mend();
  await rateLogStore(fixture.table).put(key.keyId, 'fetch', [1, 2], 0);
  expect(await keys.getWithRateLog(key.keyId, 'fetch')).toEqual({ key, rate: { log: [1, 2], version: 1 } });
  expect((await keys.getWithRateLog(key.keyId, 'generate')).rate).toEqual({ log: [], version: 0 });
});

describe('issuing a key', () => {
  test('has room for another from the very millisecond at which one expires, which is forgotten a minute later', async () => {
    const licenseId = newId('license');
    const expiresAtMs = nowMs + 1000;
    const [expiring] = await insertMany(keys, licenseId, 1, { expiresAtMs });
    const others = await insertMany(keys, licenseId, 24, { expiresAtMs: expiresAtMs + 120_000 });
    expect(await inserted(newKey(licenseId, { createdAtMs: expiresAtMs - 1 }))).toBe(false);
    const next = newKey(licenseId, { createdAtMs: expiresAtMs });
    expect(await inserted(next)).toBe(true);
    expect(await activeKeys(licenseId)).toEqual(idsOf([expiring!, ...others, next]));
    expect(await inserted(newKey(licenseId, { createdAtMs: expiresAtMs }))).toBe(false);
    await keys.revoke(next, expiresAtMs + 59_999);
    const last = newKey(licenseId, { createdAtMs: expiresAtMs + 60_000 });
    expect(await inserted(last)).toBe(true);
    expect(Object.keys(await listedKeys(licenseId)).sort()).toEqual(idsOf([...others, next, last]));
  });

  test.each(['before', 'after'] as const)(
    'breaks off %s it was written: the key and the active keys agree, and the place can be had again',
    async (when) => {
      const licenseId = newId('license');
      await insertMany(keys, licenseId, 24);
      fixture.fail(when, hungUp());
      const key = newKey(licenseId);
      await expect(keys.insert(key)).rejects.toThrow('socket hang up');
      const stored = await keys.get(key.keyId);
      expect(stored === null).toBe(when === 'before');
      expect(await activeKeys(licenseId)).toEqual(await active(licenseId));
      if (stored !== null) await keys.revoke(stored, nowMs);
      await insertMany(keys, licenseId, 1);
      expect(await inserted(newKey(licenseId))).toBe(false);
    },
  );

  test('that is revoked from the start takes no place, and needs none', async () => {
    const licenseId = newId('license');
    await insertMany(keys, licenseId, 24);
    for (const count of [24, 25]) {
      expect(await inserted(newKey(licenseId, { revokedAtMs: nowMs }))).toBe(true);
      expect(await activeKeys(licenseId)).toHaveLength(count);
      await inserted(newKey(licenseId));
    }
  });

  test('never replaces a key with the same id', async () => {
    const licenseId = newId('license');
    const key = newKey(licenseId);
    await keys.insert(key);
    await expect(keys.insert({ ...key, name: 'other' })).rejects.toThrow(
      'a key with this id is there already',
    );
    expect(await keys.get(key.keyId)).toEqual(key);
  });
});

describe('revoking a key', () => {
  test('of a license whose item of active keys is gone works, and the item begins anew', async () => {
    const licenseId = newId('license');
    const [key] = await insertMany(keys, licenseId, 1);
    const { table } = fixture;
    const Key = itemKeys.activeKeys(licenseId);
    await table.documents.send(new DeleteCommand({ TableName: table.name, Key }));
    expect(await keys.revoke(key!, nowMs)).toEqual({ ...key, revokedAtMs: nowMs });
    const [next] = await insertMany(keys, licenseId, 1);
    expect(await activeKeys(licenseId)).toEqual([next!.keyId]);
  });

  test('twice, one after the other or at once, gives the one time of who came first, and changes nothing else', async () => {
    const licenseId = newId('license');
    const [one, two] = await insertMany(keys, licenseId, 2, { expiresAtMs: nowMs + 5000 });
    const first = { ...one, revokedAtMs: nowMs + 1 };
    expect(await keys.revoke(one!, nowMs + 1)).toEqual(first);
    expect(await keys.get(one!.keyId)).toEqual(first);
    expect(await keys.revoke(one!, nowMs + 2)).toEqual(first);
    const times = [3, 4, 5, 6, 7, 8].map((ms) => nowMs + ms);
    const answers = await Promise.all(times.map((ms) => keys.revoke(two!, ms)));
    const stored = await keys.get(two!.keyId);
    expect(times).toContain(stored!.revokedAtMs);
    for (const answer of answers) expect(answer).toEqual(stored);
    expect(await activeKeys(licenseId)).toEqual([]);
  });

  test('that expired more than a minute ago gives it no place again', async () => {
    const licenseId = newId('license');
    const [key] = await insertMany(keys, licenseId, 1, { expiresAtMs: nowMs + 1 });
    const atMs = nowMs + 60_001;
    await insertMany(keys, licenseId, 1, { createdAtMs: atMs });
    expect(await keys.revoke(key!, atMs)).toMatchObject({ revokedAtMs: atMs });
    expect(Object.keys(await listedKeys(licenseId))).not.toContain(key!.keyId);
  });

  test('that was never stored is a fault, and stores nothing', async () => {
    const key = newKey(newId('license'));
    await expect(keys.revoke(key, nowMs)).rejects.toThrow('not there');
    expect(await keys.get(key.keyId)).toBeNull();
    expect(await activeKeys(key.licenseId)).toEqual([]);
  });
});

test('however issuing and revoking interleave, at most 25 keys are active and 50 ended within a minute or are active', async () => {
  const step = fc.record({ revokes: fc.boolean(), which: fc.nat({ max: 40 }) });
  const wave = fc.record({
    afterMs: fc.constantFrom(0, 1, 20_000),
    steps: fc.array(step, { minLength: 1, maxLength: 8 }),
  });
  const waves = fc.array(wave, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 18, max: 25 }), waves, async (before, parallel) => {
      const licenseId = newId('license');
      const known = await insertMany(keys, licenseId, before);
      let atMs = nowMs;
      for (const { afterMs, steps } of parallel) {
        atMs += afterMs;
        const work = steps.map(async ({ revokes, which }) => {
          if (revokes) return void (await keys.revoke(known[which % known.length]!, atMs));
          const key = newKey(licenseId, { createdAtMs: atMs });
          if (await inserted(key)) known.push(key);
        });
        await Promise.all(work);
        const there = await activeKeys(licenseId);
        expect(there.length).toBeLessThanOrEqual(25);
        expect(await active(licenseId, atMs)).toEqual(there);
        const all = await keys.listByOwner(`owner of ${licenseId}`);
        const recent = all.filter(({ revokedAtMs }) => revokedAtMs === null || revokedAtMs > atMs - 60_000);
        expect(recent.length).toBeLessThanOrEqual(50);
      }
    }),
    { numRuns: runs(3) },
  );
});

describe('a key that is revoked and made anew', () => {
  test('gives a license fresh limits only 25 times a minute beside 25 keys', async () => {
    const licenseId = newId('license');
    const there = await insertMany(keys, licenseId, 25);
    const made: ApiKey[] = [];
    for (const [i, key] of there.entries()) {
      await keys.revoke(key, nowMs + i);
      const next = newKey(licenseId, { createdAtMs: nowMs + i });
      expect(await inserted(next)).toBe(true);
      made.push(next);
    }
    await keys.revoke(made[0]!, nowMs + 1000);
    const late = (createdAtMs: number) => keys.insert(newKey(licenseId, { createdAtMs }));
    // The first of the 25 ended at nowMs.
    const wait = (waitSeconds: number) => ({ stored: false, noRoom: { reason: 'recent', waitSeconds } });
    expect(await late(nowMs + 1000)).toEqual(wait(59));
    expect(await late(nowMs + 59_999)).toEqual(wait(1));
    expect(await late(nowMs + 60_000)).toMatchObject({ stored: true });
    expect(await late(nowMs + 60_000)).toEqual({ stored: false, noRoom: { reason: 'active' } });
  });

  test('gives none by expiring soon instead', async () => {
    const licenseId = newId('license');
    for (let round = 0; round < 2; round++) {
      const createdAtMs = nowMs + 10 * round;
      await insertMany(keys, licenseId, 25, { createdAtMs, expiresAtMs: createdAtMs + 1 });
    }
    const next = { createdAtMs: nowMs + 20 };
    expect(await keys.insert(newKey(licenseId, next))).toMatchObject({
      noRoom: { reason: 'recent', waitSeconds: 60 },
    });
    // Revoking one that has expired frees nothing.
    const [expired] = await keys.listByOwner(`owner of ${licenseId}`);
    await keys.revoke(expired!, next.createdAtMs);
    expect(await inserted(newKey(licenseId, next))).toBe(false);
  });
});

describe('the 100 new keys of an account in 24 hours', () => {
  const dayMs = 24 * 3600 * 1000;
  /** Each of a license of its own. */
  const anotherOf = (ownerId: string, createdAtMs: number) =>
    newKey(newId('license'), { ownerId, createdAtMs });

  async function accountWith(count: number): Promise<string> {
    const ownerId = newId('identity');
    const log = Array.from({ length: count }, (_, i) => nowMs - count + i);
    await rateLogStore(fixture.table).put(accountCallerId(ownerId), newKeyLimit.name, log, 0);
    return ownerId;
  }

  test('are exact, whatever licenses they are for, and roll on', async () => {
    const ownerId = await accountWith(96);
    const wanted = Array.from({ length: 8 }, () => anotherOf(ownerId, nowMs));
    const results = await Promise.all(wanted.map((key) => keys.insert(key)));
    expect(results.filter(({ stored }) => stored)).toHaveLength(4);
    const refused = results.filter(({ stored }) => !stored);
    for (const one of refused)
      expect(one).toMatchObject({ noRoom: null, rate: { remaining: 0, resetSeconds: 24 * 3600 } });
    expect(await keys.listByOwner(ownerId)).toHaveLength(4);
    // The first of the 96 was made 96 ms before.
    expect(await inserted(anotherOf(ownerId, nowMs - 97 + dayMs))).toBe(false);
    expect(await inserted(anotherOf(ownerId, nowMs - 96 + dayMs))).toBe(true);
    expect(await inserted(anotherOf(ownerId, nowMs - 96 + dayMs))).toBe(false);
  });

  test('are not used up by keys that find no room', async () => {
    const ownerId = await accountWith(74);
    const licenseId = newId('license');
    const made = await insertMany(keys, licenseId, 25, { ownerId });
    for (let i = 0; i < 3; i++) expect(await inserted(newKey(licenseId, { ownerId }))).toBe(false);
    await keys.revoke(made[0]!, nowMs);
    expect(await keys.insert(newKey(licenseId, { ownerId }))).toMatchObject({
      stored: true,
      rate: { remaining: 0 },
    });
  });
});

describe('the list of an account’s keys', () => {
  const page = (ownerId: string, limit: number, before: string | null, atMs = nowMs) =>
    keys.listPage(ownerId, { limit, before, nowMs: atMs });

  test.each([1, 2, 3, 7, 8])('comes in pages of %i, each key once and the newest first', async (limit) => {
    const ownerId = newId('identity');
    const made = Array.from({ length: 7 }, (_, i) =>
      newKey(newId('license'), { ownerId, createdAtMs: nowMs + Math.floor(i / 2) }),
    );
    await Promise.all(made.map((key) => keys.insert(key)));
    const found: ApiKey[] = [];
    let before: string | null = null;
    do {
      const { keys: some, next } = await page(ownerId, limit, before);
      expect(some.length).toBe(Math.min(limit, 7 - found.length));
      expect(next === null).toBe(found.length + some.length === 7);
      found.push(...some);
      before = next;
      if (next !== null) expect(isKeyPlace(next)).toBe(true);
    } while (before !== null);
    expect(found).toEqual(await keys.listByOwner(ownerId));
    expect(idsOf(found)).toEqual(idsOf(made));
  });

  test.each([
    ['revoked', { revokedAtMs: nowMs, expiresAtMs: nowMs + 1 }],
    ['expired', { expiresAtMs: nowMs, createdAtMs: nowMs - 1 }],
  ])('has a key that has %s for 90 days, and DynamoDB removes it then', async (_what, times) => {
    const licenseId = newId('license');
    const [key] = await insertMany(keys, licenseId, 1, times);
    const later = nowMs + endedKeyMs;
    expect((await page(key!.ownerId, 5, null, later - 1)).keys).toEqual([key]);
    expect(await page(key!.ownerId, 5, null, later)).toEqual({ keys: [], next: null });
    const item = (await itemsWith(fixture.table, [key!.keyId])).find(({ SK }) => SK === 'KEY');
    expect(item![ttlAttribute]).toBe(later / 1000);
  });

  test('keeps one that does not end, and forgets one from 90 days after its revocation', async () => {
    const [kept, revoked] = await insertMany(keys, newId('license'), 2);
    await keys.revoke(revoked!, nowMs + 1);
    const later = nowMs + 1 + endedKeyMs;
    expect((await page(kept!.ownerId, 5, null, later)).keys).toEqual([kept]);
    const items = await itemsWith(fixture.table, [kept!.ownerId]);
    const ttls = items.filter(({ SK }) => SK === 'KEY').map((item) => item[ttlAttribute]);
    expect(ttls.sort()).toEqual([Math.ceil(later / 1000), undefined]);
  });

  test.each([
    ['of 1002 that are removed', 501, endedKeyMs, 2, 0],
    ['of 1500 that are removed', 500, endedKeyMs, 3, 0],
    ['as soon as it is full', 1, 0, 3, 2],
  ])('ends a page %s, and goes on behind it', async (_what, scanned, laterMs, queries, length) => {
    const ownerId = newId('identity');
    await insertMany(keys, newId('license'), 4, { ownerId, expiresAtMs: nowMs + 1 });
    fixture.readOneByOne(scanned);
    const sent = fixture.count('QueryCommand');
    const first = await page(ownerId, 2, null, nowMs + 1 + laterMs);
    expect([sent.times, first.keys.length]).toEqual([queries, length]);
    fixture.mend();
    const all = await keys.listByOwner(ownerId);
    expect((await page(ownerId, 5, first.next)).keys).toEqual(all.slice(length === 0 ? queries : length));
  });

  test('has as places a time and the id of a key, and nothing else', () => {
    const place = `2026-11-01T00:00:00.000Z#${newKey('lic_1').keyId}`;
    expect(isKeyPlace(place)).toBe(true);
    for (const text of [`x${place}`, `${place}\nx`, place.replace('#', '#x'), place.split('#')[0]!, ''])
      expect([text, isKeyPlace(text)]).toEqual([text, false]);
  });

  test('passes over removed keys that are still there', async () => {
    const ownerId = newId('identity');
    const [old] = await insertMany(keys, newId('license'), 1, { ownerId, createdAtMs: nowMs - 10 });
    await insertMany(keys, newId('license'), 9, { ownerId, expiresAtMs: nowMs });
    expect(await page(ownerId, 2, null, nowMs + endedKeyMs)).toEqual({ keys: [old], next: null });
  });
});

test('when keys were last used is read for more of them than one read can hold', async () => {
  const [licenseId, limits] = [newId('license'), ['generate', 'fetch', 'other']];
  const ids = Array.from({ length: 150 }, () => newKey(licenseId).keyId);
  const rateLogs = rateLogStore(fixture.table);
  // Around the hundredth item of a read, and at both ends.
  for (const i of [0, 33, 34, 66, 67, 149]) {
    await rateLogs.put(ids[i]!, limits[i % 3]!, [1, 2, nowMs + i], 0);
    await rateLogs.put(ids[i]!, limits[(i + 1) % 3]!, [2], 0);
  }
  const lastUsed = await keys.lastUsed(ids, limits);
  const expected = ids.map((keyId, i) => [keyId, [0, 33, 34, 66, 67, 149].includes(i) ? nowMs + i : null]);
  expect([...lastUsed]).toEqual(expected);
  expect(await keys.lastUsed([], limits)).toEqual(new Map());
});
