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
import { expectError, expectOk, inOurShape } from '../support/answers.ts';
import { grant, issueKey, newStoredKey } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import { callApi, type ApiAnswer } from '../support/service.ts';
import { startRecordedGateway } from '../support/recorded-gateway.ts';
import { itemsWith } from '../support/table-scan.ts';
import { pause } from '../support/until.ts';
import { identities, newAccount, service, table, type Account } from './fixture.ts';

// The tests of the store hold which keys take a place, those of the rules what an answer says of a key.

interface Owner extends Account {
  create(body?: object): Promise<ApiAnswer>;
  list(): Promise<any[]>;
  revoke(keyId: string): Promise<ApiAnswer>;
  change(body: object, keyId?: string): Promise<ApiAnswer>;
}

/** A signed-in account with one license and one key. */
async function owner(): Promise<Owner> {
  const account = await newAccount();
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

/** Sends a request again while it is answered 503, as docs/errors.md asks: many at once can be too much for a busy machine. */
async function untilServed(send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    await pause(Number(answer.headers.get('retry-after')) * 1000);
  }
}

describe('POST /keys', () => {
  test('answers 201 with a key that works at once, is the first of the list and shows its use', async () => {
    const { license, keyId: earlier, create, list } = await owner();
    // Keys are listed by the millisecond of their creation.
    await pause(2);
    const expiresAt = new Date(Date.now() + 3600_000).toISOString();
    const answer = await create({ name: ' CI "ß" 🙂 ', expiresAt });
    expect(answer.status).toBe(201);
    const { key, ...shown } = answer.body;
    expect(isApiKey(key)).toBe(true);
    const { keyId } = fingerprintApiKey(key);
    expect(shown).toMatchObject({ keyId, name: ' CI "ß" 🙂 ', licenseId: license.licenseId, expiresAt });
    const listed = { ...shown, status: 'active', lastUsedAt: null, revokedAt: null, creditsUsed: 0 };
    expect(await list()).toEqual([listed, expect.objectContaining({ keyId: earlier })]);
    // A key that only reads.
    expectOk(await use(key));
    expect(Date.parse((await list())[0].lastUsedAt)).toBeGreaterThanOrEqual(Date.parse(shown.createdAt));
  });

  test('of 40 parallel requests exactly 25 get one, 15 are KEY_LIMIT_REACHED, and every key works', async () => {
    const { keyId, create, list, revoke } = await owner();
    await revoke(keyId);
    const answers = await Promise.all(Array.from({ length: 40 }, () => untilServed(create)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(15);
    for (const answer of refused) {
      expectError(answer, 409, 'KEY_LIMIT_REACHED');
      // No waiting frees a place.
      expect(answer.headers.get('retry-after')).toBeNull();
    }
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body);
    const uses = await Promise.all(made.map(({ key }) => untilServed(() => use(key))));
    expect(uses.map(({ status }) => status)).toEqual(Array(25).fill(200));
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
  });

  test('shows each key’s credits of its own license’s period', async () => {
    const { license, generate, keyId, list } = await owner();
    const second = await grant(table, { ownerId: license.ownerId });
    expectOk(await generate({ numOutputs: 2 }));
    const body = { ...small, identityId: identities.aurora };
    expectOk(await service.api({ path: '/generate', key: second.key, body }));
    const used = Object.fromEntries((await list()).map((one) => [one.keyId, one.creditsUsed]));
    expect(used).toEqual({ [keyId]: 2, [second.keyId]: 1 });
  });
});

// A refusal that names every field is in named-fields.test.ts.
test('PATCH /keys/{keyId} changes what it names alone, of an ended key too, which it makes no more usable', async () => {
  const { change, keyId, key, revoke, list } = await owner();
  const [before] = await list();
  const nothing = await change({ name: null });
  expect([nothing.status, nothing.body.error]).toEqual([
    400,
    'Send at least one of name, monthlyCredits, access and maxInFlight.',
  ]);
  expectOk(await change({ name: ' “CI” 🙂 ' }));
  expectOk(await change({ monthlyCredits: 1_000_000_000, name: null }));
  expect(await list()).toEqual([{ ...before, name: ' “CI” 🙂 ', monthlyCredits: 1_000_000_000 }]);
  expectOk(await use(key));
  expectOk(await revoke(keyId));
  expectOk(await change({ name: 'the old one', monthlyCredits: null }));
  expect(await list()).toMatchObject([{ name: 'the old one', status: 'revoked', monthlyCredits: null }]);
  expectError(await use(key), 401, 'INVALID_API_KEY');
});

describe('DELETE /keys/{keyId}', () => {
  test('answers when the key was revoked; again, the same; for a license that has ended, too', async () => {
    const { license, keyId, revoke, list } = await owner();
    const first = await revoke(keyId);
    expectOk(first);
    const { revokedAt } = first.body;
    expect(first.body).toEqual({ keyId, status: 'revoked', revokedAt });
    expect(await list()).toMatchObject([first.body]);
    // A second revocation would have another time.
    await pause(5);
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
test('a key has an access and at most the places of its license, from its creation or by a change', async () => {
  const { create, change, list, keyId } = await owner();
  expect((await create({ access: 'own', maxInFlight: 40 })).body).toMatchObject({
    access: 'own',
    maxInFlight: 40,
  });
  expect((await list())[1]).toMatchObject({ keyId, access: 'license', maxInFlight: null });
  for (const refused of [await create({ maxInFlight: 41 }), await change({ maxInFlight: 41 })]) {
    expectError(refused, 400, 'INVALID_PARAMETERS');
    expect(refused.body.error).toBe('maxInFlight must be at most 40, as of its license.');
  }
  expectError(await change({ access: 'all' }), 400, 'INVALID_PARAMETERS');
  for (const changes of [{ access: 'own', maxInFlight: 2 }, { access: 'license' }, { maxInFlight: null }]) {
    expect((await change(changes)).body).toMatchObject(changes);
  }
});

describe('a key with a budget', () => {
  test('is created with it, spends it, is then refused in its own words, and goes on once it is raised', async () => {
    const { create, change, list, generate: byOther, expectCharged } = await owner();
    const made = await create({ monthlyCredits: 3 });
    const { key, keyId } = made.body;
    const send = (numOutputs = 1, identity = 'aurora') => {
      const body = { ...small, identityId: identities[identity], numOutputs };
      return service.api({ path: '/generate', key, body });
    };
    expectOk(await send(2));
    // What failed was given back.
    expectError(await send(1, 'flint'), 500, 'GENERATION_FAILED');
    const refused = await send(2);
    expectError(refused, 429, 'CREDIT_LIMIT_EXCEEDED');
    expect(refused.body.error).toMatch(
      /^This request costs 2 credits, more than is left of this key's own monthly limit of 3\. The period resets at /,
    );
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
    for (const answer of [await send(), await byOther()]) expectOk(answer);
    const raised = await change({ monthlyCredits: 4 }, keyId);
    expect(raised.body).toMatchObject({ keyId, monthlyCredits: 4, creditsUsed: 3 });
    expect(await list()).toContainEqual(raised.body);
    expectOk(await send());
    // Less than is used refuses, and changes nothing else.
    expectOk(await change({ monthlyCredits: 1 }, keyId));
    expectError(await send(), 429, 'CREDIT_LIMIT_EXCEEDED');
    expectOk(await change({ monthlyCredits: null }, keyId));
    expectOk(await send());
    await expectCharged(6);
  });

  test('is refused in every way in which it may ask, and the playground is not', async () => {
    const { license, keyId, byKey, change, bySession, generate, play, tool } = await owner();
    expectOk(await change({ monthlyCredits: 1 }));
    const body = { ...small, identityId: identities.aurora, numOutputs: 2 };
    const referenceImages = [{ url: 'https://somewhere.example/never-fetched.png' }];
    const inTheirWords = { model: 'aurora', prompt: 'x', size: '512x512', n: 2 };
    const refusals = [
      await byKey('/generate?dryRun=true', { body }),
      await byKey('/generate', { body, headers: { prefer: 'respond-async' } }),
      await byKey('/generate', { body, headers: { accept: 'text/event-stream' } }),
      await byKey('/generate', { body: { ...body, identityId: identities.citrine, referenceImages } }),
      await byKey('/openai/v1/images/generations', { body: inTheirWords }),
    ].map((answer) => inOurShape(answer.body));
    refusals.push((await tool('generate', body)).structuredContent);
    for (const { code, error } of refusals) {
      expect(code).toBe('CREDIT_LIMIT_EXCEEDED');
      expect(error).toContain("of this key's own monthly limit of 1.");
    }
    for (const answer of [await play({ numOutputs: 2 }), await generate()]) expectOk(answer);
    const { body: usage } = await bySession(`/usage?licenseId=${license.licenseId}`);
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
