import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { fingerprintApiKey, isApiKey } from '../../shared/domain/api-key.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, newLicense } from '../support/grants.ts';
import { revokeInRounds, usesAfterEach } from '../support/revocation-rounds.ts';
import { type ApiAnswer } from '../support/service.ts';
import { itemsWith } from '../support/table-scan.ts';
import { pause } from '../support/until.ts';
import { sharedService } from '../support/use-service.ts';

// The tests of the store hold which keys take a place, those of the workflow what is told of a key.

const service = sharedService();
const { table } = service;

interface Owner extends Account {
  create(body?: object): Promise<ApiAnswer>;
  /** What GET /keys tells of its keys. */
  list(): Promise<any[]>;
  revoke(keyId: string): Promise<ApiAnswer>;
}

/** A signed-in account with one license and one key. */
async function owner(): Promise<Owner> {
  const account = await newAccount(service);
  const { bySession, license } = account;
  return {
    ...account,
    create: (body = {}) => bySession('/keys', { body: { licenseId: license.licenseId, name: 'k', ...body } }),
    list: async () => (await bySession('/keys')).body.keys,
    revoke: (keyId) => bySession(`/keys/${keyId}`, { method: 'DELETE' }),
  };
}

const use = (key: string) => service.api({ path: '/identities', key });

describe('POST /keys', () => {
  test('answers 201 with a key that works at once, is the first of the list and tells of its use', async () => {
    const { license, keyId: earlier, create, list } = await owner();
    await grant(table);
    // Creation is told to the millisecond.
    await pause(2);
    const expiresAt = new Date(Date.now() + 3600_000).toISOString();
    const answer = await create({ name: ' CI "ß" 🙂 ', expiresAt });
    expect(answer.status).toBe(201);
    const { key, ...told } = answer.body;
    expect(isApiKey(key)).toBe(true);
    const { keyId } = fingerprintApiKey(key);
    expect(told).toMatchObject({ keyId, name: ' CI "ß" 🙂 ', licenseId: license.licenseId, expiresAt });
    const listed = { ...told, status: 'active', lastUsedAt: null, revokedAt: null };
    expect(await list()).toEqual([listed, expect.objectContaining({ keyId: earlier })]);
    expectOk(await use(key));
    // Only what has a limit counts as a use.
    await service.api({ path: '/generate', key, body: '{' });
    expect(Date.parse((await list())[0].lastUsedAt)).toBeGreaterThanOrEqual(Date.parse(told.createdAt));
  });

  test('of 40 parallel requests exactly 25 get one, 15 are KEY_LIMIT_REACHED, and every key works', async () => {
    const { license, keyId, create, list, revoke } = await owner();
    await revoke(keyId);
    const answers = await Promise.all(Array.from({ length: 40 }, () => create()));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(15);
    for (const answer of refused) {
      expectError(answer, 409, 'KEY_LIMIT_REACHED');
      // No waiting frees a place.
      expect(answer.headers.get('retry-after')).toBeNull();
    }
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body);
    expect(new Set(made.map(({ key }) => key)).size).toBe(25);
    const uses = await Promise.all(made.map(({ key }) => use(key)));
    expect(uses.map(({ status }) => status)).toEqual(made.map(() => 200));
    const active = (await list()).filter(({ status }) => status === 'active').map((listed) => listed.keyId);
    expect(active.toSorted()).toEqual(made.map((one) => one.keyId).toSorted());

    // The limit is each license's own, and a revocation frees a place at once.
    const second = newLicense({ ownerId: license.ownerId });
    await licenseStore(table).insert(second);
    expect((await create({ licenseId: second.licenseId })).status).toBe(201);
    expectOk(await revoke(made[0].keyId));
    const after = await Promise.all([create(), create()]);
    expect(after.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });
});

describe('DELETE /keys/{keyId}', () => {
  test('answers when the key was revoked; again, the same; for a license that has ended, too', async () => {
    const { license, key, keyId, revoke, list } = await owner();
    const first = await revoke(keyId);
    expectOk(first);
    const { revokedAt, ...rest } = first.body;
    expect(rest).toEqual({ keyId, status: 'revoked' });
    // The time is told to the millisecond.
    await pause(5);
    expect((await revoke(keyId)).body).toEqual(first.body);
    expectError(await use(key), 401, 'INVALID_API_KEY');
    expect(await list()).toMatchObject([{ keyId, status: 'revoked', revokedAt }]);
    await licenseStore(table).update(license.licenseId, { status: 'ended' });
    expect((await revoke(keyId)).body).toEqual(first.body);
  });

  test('takes no raw key for the key’s id', async () => {
    const { key, revoke } = await owner();
    expectError(await revoke(key), 404, 'KEY_NOT_FOUND');
    expectOk(await use(key));
  });

  test('no request that begins after a revocation was answered is accepted', async () => {
    const rounds = 12;
    const seen = await revokeInRounds(service, rounds);
    expect(seen).toMatchObject({ after: rounds * usesAfterEach, acceptedAfter: 0, refusedOtherwise: 0 });
    expect(seen.acceptedBefore).toBe(rounds);
  });
});

test('the raw key is shown once: not in the list, not in the table, not in any log', async () => {
  const { license, create, list, revoke } = await owner();
  const { key, keyId } = (await create()).body;
  await use(key);
  await revoke(key);
  await revoke(keyId);
  const stored = await itemsWith(table, [license.licenseId, keyId]);
  const log = readFileSync(join(service.dataDir, 'service.log'), 'utf8');
  const texts = [JSON.stringify(stored), JSON.stringify(await list()), log];
  // Its secret part, wherever it would be cut; and its prefix shows that the right places were searched.
  const secret = key.slice('svc_live_'.length + 4);
  expect(texts.map((text) => text.includes(secret))).toEqual([false, false, false]);
  expect(texts[0]).toContain(key.slice(0, 13));
  expect(log).toContain(keyId);
});
