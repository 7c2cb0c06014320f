import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { fingerprintApiKey, isApiKey } from '../../shared/keys/api-key.ts';
import { accountCallerId } from '../../shared/base/ids.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { keyLimitNames } from '../../shared/routes/limits.ts';
import { toItem } from '../../shared/keys/item.ts';
import { rateLogStore } from '../../shared/limits/rate-log-store.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { callTool } from '../support/agent.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, issueKey, newStoredKey } from '../support/grants.ts';
import { expectCharged } from '../support/period-totals.ts';
import { generate, small, stored } from '../support/requests.ts';
import { callApi, type ApiAnswer } from '../support/service.ts';
import { startRecordedGateway } from '../support/recorded-gateway.ts';
import { itemsWith } from '../support/table-scan.ts';
import { pause, until } from '../support/until.ts';
import { sharedService } from '../support/use-service.ts';

// The tests of the store hold which keys take a place, those of the workflow what is told of a key.

const service = sharedService();
const { table } = service;
const { aurora, citrine, flint } = service.ready.identities as Record<string, string>;

interface Owner extends Account {
  create(body?: object): Promise<ApiAnswer>;
  /** What GET /keys tells of its keys. */
  list(): Promise<any[]>;
  revoke(keyId: string): Promise<ApiAnswer>;
  change(body: unknown, keyId?: string): Promise<ApiAnswer>;
}

/** A signed-in account with one license and one key. */
async function owner(): Promise<Owner> {
  const account = await newAccount(service);
  const { bySession, license, keyId: own } = account;
  return {
    ...account,
    create: (body = {}) => bySession('/keys', { body: { licenseId: license.licenseId, name: 'k', ...body } }),
    list: async () => (await bySession('/keys')).body.keys,
    revoke: (keyId) => bySession(`/keys/${keyId}`, { method: 'DELETE' }),
    change: (body, keyId = own) => bySession(`/keys/${keyId}`, { method: 'PATCH', body }),
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
    const { keyId, create, list, revoke } = await owner();
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
  });

  test('beyond the 100 that an account gets in 24 hours is refused, and says when there is a new one', async () => {
    const { license, create } = await owner();
    const callerId = accountCallerId(license.ownerId);
    const { version } = await rateLogStore(table).get(callerId, 'new-keys');
    await rateLogStore(table).put(callerId, 'new-keys', Array(99).fill(Date.now()), version);
    const last = await create();
    expect([last.status, last.headers.get('ratelimit-policy')]).toEqual([201, '"new-keys";q=100;w=86400']);
    expect(last.headers.get('ratelimit')).toMatch(/^"new-keys";r=0;t=\d+$/);
    const refused = await create();
    expectError(refused, 429, 'RATE_LIMITED');
    expect(refused.headers.get('ratelimit')).toBe(`"new-keys";r=0;t=${refused.headers.get('retry-after')}`);
  });
});

describe('GET /keys', () => {
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

  test('a key that ended 90 days ago is as if it had never been', async () => {
    const { license, keyId, list, revoke } = await owner();
    const ended = { revokedAtMs: Date.now() - 90 * 24 * 3600 * 1000, createdAtMs: 0 };
    const old = await issueKey(table, license, ended);
    expect((await list()).map((listed) => listed.keyId)).toEqual([keyId]);
    expectError(await revoke(old.keyId), 404, 'KEY_NOT_FOUND');
    expectError(await use(old.key), 401, 'INVALID_API_KEY');
  });

  test('tells each key’s credits of its own license’s period', async () => {
    const { license, key, keyId, list } = await owner();
    const second = await grant(table, { ownerId: license.ownerId });
    expectOk(await generate(service, key, { identityId: aurora, numOutputs: 2 }));
    expectOk(await generate(service, second.key, { identityId: aurora }));
    const used = Object.fromEntries((await list()).map((one) => [one.keyId, one.creditsUsed]));
    expect(used).toEqual({ [keyId]: 2, [second.keyId]: 1 });
  });
});

describe('PATCH /keys/{keyId}', () => {
  test.each([
    [{}, 'Send name, monthlyCredits or both.'],
    [{ name: null }, 'Send name, monthlyCredits or both.'],
    [
      { name: ' ', monthlyCredits: 0 },
      'name must be a string of 1 to 64 characters, not only white space; monthlyCredits must be an integer from 1 to 1000000000.',
    ],
    [{ monthlyCredits: 1_000_000_001 }, 'monthlyCredits must be an integer from 1 to 1000000000.'],
    [{ name: 'x', expiresAt: null }, 'unknown member "expiresAt".'],
  ])('refuses %j', async (body, sentence) => {
    const { change, list } = await owner();
    const answer = await change(body);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toBe(sentence);
    expect(await list()).toMatchObject([{ name: 'test', monthlyCredits: null }]);
  });

  test('changes what it names alone, of an ended key too, which it makes no more usable', async () => {
    const { change, keyId, key, revoke, list } = await owner();
    const [before] = await list();
    expectOk(await change({ name: ' “CI” 🙂 ' }));
    expectOk(await change({ monthlyCredits: 1_000_000_000, name: null }));
    const changed = { ...before, name: ' “CI” 🙂 ', monthlyCredits: 1_000_000_000 };
    expect(await list()).toEqual([changed]);
    expectOk(await use(key));
    expectOk(await revoke(keyId));
    expectOk(await change({ name: 'the old one', monthlyCredits: null }));
    expect(await list()).toMatchObject([{ name: 'the old one', status: 'revoked', monthlyCredits: null }]);
    expectError(await use(key), 401, 'INVALID_API_KEY');
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

  test('no request that begins after a revocation was answered is accepted', async () => {
    // Each of a license of its own: a key that was just revoked still takes one of its license's places.
    const round = async () => {
      const { key, keyId, revoke } = await owner();
      expectOk(await use(key));
      // These may meet the revocation on their way.
      const during = [use(key), use(key)];
      const revocations = [revoke(keyId), revoke(keyId), revoke(keyId)];
      during.push(use(key));
      await Promise.race(revocations);
      const after = await Promise.all(Array.from({ length: 10 }, () => use(key)));
      for (const answer of after) expectError(answer, 401, 'INVALID_API_KEY');
      for (const { status } of await Promise.all(during)) expect([200, 401]).toContain(status);
      const answers = await Promise.all(revocations);
      answers.forEach(expectOk);
      expect(new Set(answers.map(({ body }) => body.revokedAt)).size).toBe(1);
    };
    for (let i = 0; i < 4; i++) await Promise.all([round(), round(), round()]);
  });
});

// The tests of the store hold how exact a budget is, under requests at once too.
describe('a key with a budget', () => {
  test('is created with it, spends it, is then refused in its own words, and goes on once it is raised', async () => {
    const { license, bySession, change, list, key: other } = await owner();
    const listed = async (id: string) => (await list()).find((one) => one.keyId === id);
    const body = { licenseId: license.licenseId, name: 'CI', monthlyCredits: 3 };
    const made = await bySession('/keys', { body });
    expect(made).toMatchObject({ status: 201, body: { name: 'CI', monthlyCredits: 3 } });
    const { key, keyId } = made.body;
    expectOk(await generate(service, key, { identityId: aurora, numOutputs: 2 }));
    // What failed was given back.
    expectError(await generate(service, key, { identityId: flint }), 500, 'GENERATION_FAILED');
    const refused = await generate(service, key, { identityId: aurora, numOutputs: 2 });
    expectError(refused, 429, 'CREDIT_LIMIT_EXCEEDED');
    expect(refused.body.error).toMatch(
      /^This request costs 2 credits, more than is left of this key's own monthly limit of 3\. The period resets at /,
    );
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
    expectOk(await generate(service, key, { identityId: aurora }));
    expectOk(await generate(service, other, { identityId: aurora }));
    const mine = { keyId, monthlyCredits: 3, creditsUsed: 3 };
    expect(await listed(keyId)).toMatchObject(mine);

    const raised = await change({ monthlyCredits: 4 }, keyId);
    expectOk(raised);
    expect(raised.body).toEqual({ ...(await listed(keyId)), ...mine, monthlyCredits: 4 });
    expectOk(await generate(service, key, { identityId: aurora }));
    await expectCharged(table, license, 5);
    // Less than is used refuses, and changes nothing else.
    expectOk(await change({ monthlyCredits: 1 }, keyId));
    expectError(await generate(service, key, { identityId: aurora }), 429, 'CREDIT_LIMIT_EXCEEDED');
    expectOk(await change({ monthlyCredits: null }, keyId));
    expectOk(await generate(service, key, { identityId: aurora }));
    expect(await listed(keyId)).toMatchObject({ monthlyCredits: null, creditsUsed: 5 });
  });

  test('is refused in every way in which it may ask, and the playground is not', async () => {
    const { license, keyId, key, change, bySession } = await owner();
    expectOk(await change({ monthlyCredits: 1 }));
    const order = { ...small, identityId: aurora, numOutputs: 2 };
    const reference = [{ url: 'https://somewhere.example/never-fetched.png' }];
    const product = { identityId: citrine, referenceImages: reference };
    const own = (path: string, body: object, headers = {}) => service.api({ path, key, body, headers });
    const sentence = /of this key's own monthly limit of 1\./;
    for (const answer of [
      await own('/generate?dryRun=true', order),
      await own('/generate', order, { prefer: 'respond-async' }),
      await own('/generate', order, { accept: 'text/event-stream' }),
      await own('/generate', { ...order, ...product }),
    ]) {
      expect(answer.body.error).toMatch(sentence);
      expectError(answer, 429, 'CREDIT_LIMIT_EXCEEDED');
    }
    const theirs = { model: 'aurora', prompt: 'x', size: '512x512', n: 2 };
    const { status, body } = await own('/openai/v1/images/generations', theirs);
    expect([status, body.error.code]).toEqual([429, 'CREDIT_LIMIT_EXCEEDED']);
    expect(body.error.message).toMatch(sentence);
    for (const tool of ['quote', 'generate']) {
      expect(JSON.stringify(await callTool(service, key, tool, order))).toMatch(sentence);
    }
    const { licenseId } = license;
    expectOk(await bySession('/playground/generate', { body: { ...order, licenseId } }));
    const async = await own('/generate', { ...order, numOutputs: 1 }, { prefer: 'respond-async' });
    expect(async.status).toBe(202);
    await until(
      'it completed',
      async () => (await stored(service, key, async.body.requestId)).status === 'COMPLETED',
    );
    const { body: usage } = await bySession(`/usage?licenseId=${licenseId}`);
    expect(usage.aggregates.byKey).toEqual({
      [keyId]: { name: 'test', requests: 1, credits: 1 },
      playground: { name: 'Playground', requests: 1, credits: 2 },
    });
  });
});

test('the raw key is shown once: not in the list, not in the table, not in any log', async () => {
  const { license, create, list, revoke } = await owner();
  const { key, keyId } = (await create()).body;
  await use(key);
  await revoke(key);
  await revoke(keyId);
  const items = await itemsWith(table, [license.licenseId, keyId]);
  const log = readFileSync(join(service.dataDir, 'service.log'), 'utf8');
  const texts = [JSON.stringify(items), JSON.stringify(await list()), log];
  // Its secret part, wherever it would be cut; and its prefix shows that the right places were searched.
  const secret = key.slice('svc_live_'.length + 4);
  expect(texts.map((text) => text.includes(secret))).toEqual([false, false, false]);
  expect(texts[0]).toContain(key.slice(0, 13));
  expect(log).toContain(keyId);
});
