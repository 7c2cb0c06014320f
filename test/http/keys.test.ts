import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { fingerprintApiKey, isApiKey } from '../../shared/keys/api-key.ts';
import { accountCallerId, newRequestId } from '../../shared/base/ids.ts';
import { writeCursor } from '../../shared/http/paging.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { keyLimitNames } from '../../shared/routes/limits.ts';
import { toItem } from '../../shared/keys/item.ts';
import { rateLogStore } from '../../shared/limits/rate-log-store.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, issueKey, newLicense, newStoredKey } from '../support/grants.ts';
import { revokeInRounds, usesAfterEach } from '../support/revocation-rounds.ts';
import { callApi, type ApiAnswer } from '../support/service.ts';
import { startRecordedGateway } from '../support/recorded-gateway.ts';
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
    const listed = { ...told, status: 'active', lastUsedAt: null, revokedAt: null, creditsUsed: 0 };
    expect(await list()).toEqual([listed, expect.objectContaining({ keyId: earlier })]);
    // A key that only reads.
    expectOk(await use(key));
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

  test('30 keys revoked and made anew beside 24 others are 25 with fresh limits, until a minute is over', async () => {
    const { license, keyId, create, revoke } = await owner();
    for (let i = 0; i < 24; i++) await issueKey(table, license);
    const answers: ApiAnswer[] = [];
    let lastId = keyId;
    for (let i = 0; i < 30; i++) {
      await revoke(lastId);
      const answer = await create();
      answers.push(answer);
      if (answer.status !== 201) continue;
      lastId = answer.body.keyId;
      expect((await use(answer.body.key)).status).toBe(200);
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(25).fill(201), ...Array(5).fill(409)]);
    for (const answer of answers.slice(25)) {
      expectError(answer, 409, 'KEY_LIMIT_REACHED');
      expect(answer.body.error).toMatch(/ has 50 keys that are active or ended .*: wait [1-6]?\d seconds\.$/);
    }
  });

  test('an account gets 100 new keys in 24 hours, which refused ones do not use up', async () => {
    const { license, create, revoke } = await owner();
    const callerId = accountCallerId(license.ownerId);
    const { log, version } = await rateLogStore(table).get(callerId, 'new-keys');
    const earlier = Array.from({ length: 98 }, (_, i) => Date.now() - 98_000 + i);
    await rateLogStore(table).put(callerId, 'new-keys', [...earlier, ...log], version);
    expectError(await create({ name: '' }), 400, 'INVALID_PARAMETERS');
    expectError(await create({ licenseId: 'lic_none' }), 404, 'LICENSE_NOT_FOUND');
    const last = await create();
    expect([last.status, last.headers.get('ratelimit-policy')]).toEqual([201, '"new-keys";q=100;w=86400']);
    expect(last.headers.get('ratelimit')).toMatch(/^"new-keys";r=0;t=\d+$/);
    const refused = await create();
    expectError(refused, 429, 'RATE_LIMITED');
    expect(refused.headers.get('ratelimit')).toBe(`"new-keys";r=0;t=${refused.headers.get('retry-after')}`);
    expectOk(await revoke(last.body.keyId));
  });
});

describe('GET /keys', () => {
  test('is told in pages, newest first, which the next cursor leads through', async () => {
    const { license, bySession, list } = await owner();
    for (let i = 0; i < 4; i++) await issueKey(table, license, { createdAtMs: Date.now() + i });
    const pages: any[] = [(await bySession('/keys?limit=2')).body];
    while (pages.at(-1).nextCursor !== null)
      pages.push((await bySession(`/keys?limit=2&cursor=${pages.at(-1).nextCursor}`)).body);
    expect(pages.map(({ keys }) => keys.length)).toEqual([2, 2, 1]);
    expect(pages.flatMap(({ keys }) => keys)).toEqual(await list());
  });

  test('without a limit is all 5,000 keys in what Lambda answers, by few reads, and logs of use for active ones alone', async () => {
    const { license, session } = await owner();
    // The longest that a name becomes. With the first, fifty are active.
    const made = { ownerId: license.ownerId, name: '\u0001'.repeat(64), expiresAtMs: Date.now() + 60_000 };
    const keys = Array.from({ length: 4999 }, (_, i) => {
      const licenseId = i < 49 ? license.licenseId : 'lic_another';
      return toItem(newStoredKey({ ...made, licenseId, revokedAtMs: i < 49 ? null : Date.now() - i }).stored);
    });
    for (let at = 0; at < keys.length; at += 25) {
      const puts = keys.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } }));
      await table.documents.send(new BatchWriteCommand({ RequestItems: { [table.name]: puts } }));
    }
    for (const i of [0, 49]) await rateLogStore(table).put(keys[i]!.keyId, 'fetch', [1000], 0);
    const recorded = await startRecordedGateway(service.dataDir);
    const { body } = await callApi(recorded.baseUrl, { path: '/keys', key: session });
    await recorded.close();
    expect([body.keys.length, body.nextCursor]).toEqual([5000, null]);
    const usedAt = (i: number) => body.keys.find(({ keyId }: any) => keyId === keys[i]!.keyId).lastUsedAt;
    expect([usedAt(0), usedAt(1), usedAt(49)]).toEqual([new Date(1000).toISOString(), null, null]);
    // Lambda's answer has the body as a string of JSON. 6,000 keys are the most that one has.
    const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(body)));
    expect((bytes / 5000) * 6000).toBeLessThan(6 * 1024 * 1024);
    const logs = recorded.calls.filter(({ keys: [first] }) => first?.startsWith('RATE#key_'));
    expect(logs.flatMap(({ keys: read }) => read)).toHaveLength(50 * keyLimitNames.length);
    expect(recorded.calls.length).toBeLessThan(20);
  });

  test.each(['limit=0', 'limit=101', 'cursor=abc', `cursor=${writeCursor(newRequestId(0))}`])(
    'refuses ?%s',
    async (query) => {
      const { bySession } = await owner();
      expectError(await bySession(`/keys?${query}`), 400, 'INVALID_PARAMETERS');
    },
  );

  test('another account’s cursor leads to nothing of that account', async () => {
    const [mine, other] = [await owner(), await owner()];
    await issueKey(table, other.license);
    const { nextCursor } = (await other.bySession('/keys?limit=1')).body;
    const { keys } = (await mine.bySession(`/keys?cursor=${nextCursor}`)).body;
    for (const { licenseId } of keys) expect(licenseId).toBe(mine.license.licenseId);
  });

  test('a key that ended 90 days ago is as if it had never been', async () => {
    const { license, keyId, list, revoke } = await owner();
    const ended = { revokedAtMs: Date.now() - 90 * 24 * 3600 * 1000, createdAtMs: 0 };
    const old = await issueKey(table, license, ended);
    expect((await list()).map((listed) => listed.keyId)).toEqual([keyId]);
    expectError(await revoke(old.keyId), 404, 'KEY_NOT_FOUND');
    expectError(await use(old.key), 401, 'INVALID_API_KEY');
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
