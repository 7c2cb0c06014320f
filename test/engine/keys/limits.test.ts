import { beforeAll, describe, expect, test } from '@jest/globals';
import { endedKeyMs } from '../../../shared/keys/api-key.ts';
import { accountCallerId, newId } from '../../../shared/base/ids.ts';
import { newKeyLimit } from '../../../shared/routes/limits.ts';
import { isKeyPlace } from '../../../shared/keys/pages.ts';
import { apiKeyStore, type ApiKey, type ApiKeyStore } from '../../../shared/keys/store.ts';
import { rateLogStore } from '../../../shared/limits/rate-log-store.ts';
import { ttlAttribute } from '../../../shared/table/keys.ts';
import { itemsWith } from '../../support/table-scan.ts';
import { insertMany, newKey, nowMs } from './stored-keys.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
let keys: ApiKeyStore;

beforeAll(() => void (keys = apiKeyStore(fixture.table)));

/** Whether there was room for a key. */
const inserted = async (key: ApiKey) => (await keys.insert(key)).stored;

const idsOf = (list: ApiKey[]) => list.map(({ keyId }) => keyId).sort();

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

  test.each([3, 7])('comes in pages of %i, each key once and the newest first', async (limit) => {
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

  test('passes over removed keys that are still there', async () => {
    const ownerId = newId('identity');
    const [old] = await insertMany(keys, newId('license'), 1, { ownerId, createdAtMs: nowMs - 10 });
    await insertMany(keys, newId('license'), 9, { ownerId, expiresAtMs: nowMs });
    expect(await page(ownerId, 2, null, nowMs + endedKeyMs)).toEqual({ keys: [old], next: null });
  });
});
