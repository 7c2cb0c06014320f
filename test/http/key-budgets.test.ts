import { describe, expect, test } from '@jest/globals';
import { endedKeyMs } from '../../shared/keys/api-key.ts';
import { creditPeriod } from '../../shared/licenses/credit-period.ts';
import { newRequestId } from '../../shared/base/ids.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { callTool } from '../support/agent.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, issueKey } from '../support/grants.ts';
import { expectCharged } from '../support/period-totals.ts';
import { generate, small, stored } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { until } from '../support/until.ts';
import { sampleGeneration } from '../support/unit-samples.ts';
import { sharedService } from '../support/use-service.ts';

// The tests of the store hold how exact a budget is, under requests at once too.

const service = sharedService();
const { table } = service;
const { aurora, citrine, flint } = service.ready.identities as Record<string, string>;

interface Owner extends Account {
  change(body: unknown, keyId?: string): Promise<ApiAnswer>;
  listed(keyId?: string): Promise<any>;
  usage(): Promise<any>;
}

async function owner(options: Parameters<typeof newAccount>[1] = {}): Promise<Owner> {
  const account = await newAccount(service, options);
  const { bySession, keyId: own, license } = account;
  return {
    ...account,
    change: (body, keyId = own) => bySession(`/keys/${keyId}`, { method: 'PATCH', body }),
    listed: async (keyId = own) =>
      (await bySession('/keys')).body.keys.find((key: any) => key.keyId === keyId),
    usage: async () => (await bySession(`/usage?licenseId=${license.licenseId}`)).body,
  };
}

describe('a key with a budget', () => {
  test('is created with it, spends it, is then refused in its own words, and goes on once it is raised', async () => {
    const { license, bySession, change, listed, usage, key: other } = await owner();
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
    const { byKey } = (await usage()).aggregates;
    expect(byKey[keyId]).toEqual({ name: 'CI', requests: 3, credits: 4 });
    // Less than is used refuses, and changes nothing else.
    expectOk(await change({ monthlyCredits: 1 }, keyId));
    expectError(await generate(service, key, { identityId: aurora }), 429, 'CREDIT_LIMIT_EXCEEDED');
    expectOk(await change({ monthlyCredits: null }, keyId));
    expectOk(await generate(service, key, { identityId: aurora }));
    expect(await listed(keyId)).toMatchObject({ monthlyCredits: null, creditsUsed: 5 });
  });

  test('is refused in every way in which it may ask, and the playground is not', async () => {
    const { license, keyId, key, change, bySession, usage } = await owner();
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
    expect((await usage()).aggregates.byKey).toEqual({
      [keyId]: { name: 'test', requests: 1, credits: 1 },
      playground: { name: 'Playground', requests: 1, credits: 2 },
    });
  });

  test('hears of its license’s credits first', async () => {
    const { key, change } = await owner({ creditsLimit: 1 });
    expectOk(await change({ monthlyCredits: 1 }));
    for (const path of ['/generate', '/generate?dryRun=true']) {
      const body = { ...small, identityId: aurora, numOutputs: 2 };
      const answer = await service.api({ path, key, body });
      expectError(answer, 429, 'CREDIT_LIMIT_EXCEEDED');
      expect(answer.body.error).toContain("this month's 1.");
    }
  });
});

describe('PATCH /keys/{keyId}', () => {
  test('changes what it names alone; null takes a budget away and leaves a name', async () => {
    const { change, listed, key } = await owner();
    const before = await listed();
    expectOk(await change({ name: ' “CI” 🙂 ' }));
    expect(await listed()).toEqual({ ...before, name: ' “CI” 🙂 ' });
    expectOk(await change({ monthlyCredits: 1_000_000_000, name: null }));
    expect(await listed()).toEqual({ ...before, name: ' “CI” 🙂 ', monthlyCredits: 1_000_000_000 });
    expectOk(await change({ name: 'test', monthlyCredits: null }));
    expect(await listed()).toEqual(before);
    expectOk(await service.api({ path: '/identities', key }));
  });

  test.each([
    [{}, 'Send name, monthlyCredits or both.'],
    [{ name: null }, 'Send name, monthlyCredits or both.'],
    [
      { name: ' ', monthlyCredits: 0 },
      'name must be a string of 1 to 64 characters, not only white space; monthlyCredits must be an integer from 1 to 1000000000.',
    ],
    [{ monthlyCredits: 1.5 }, 'monthlyCredits must be an integer from 1 to 1000000000.'],
    [{ monthlyCredits: '5' }, 'monthlyCredits must be an integer from 1 to 1000000000.'],
    [{ monthlyCredits: 1_000_000_001 }, 'monthlyCredits must be an integer from 1 to 1000000000.'],
    [{ name: 'x', expiresAt: null }, 'unknown member "expiresAt".'],
  ])('refuses %j', async (body, sentence) => {
    const { change, listed } = await owner();
    const answer = await change(body);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toBe(sentence);
    expect(await listed()).toMatchObject({ name: 'test', monthlyCredits: null });
  });

  test('is for the owner’s session alone, and a removed key is not there', async () => {
    const { change, keyId, key, license } = await owner();
    const path = `/keys/${keyId}`;
    const body = { name: 'mine' };
    expectError(await service.api({ method: 'PATCH', path, key, body }), 401, 'INVALID_SESSION');
    const missing = await change(body, `key_${'0'.repeat(32)}`);
    const stranger = await newAccount(service);
    const refused = await stranger.bySession(path, { method: 'PATCH', body });
    const removed = await issueKey(table, license, { expiresAtMs: Date.now() - endedKeyMs });
    for (const answer of [missing, refused, await change(body, removed.keyId)]) {
      expectError(answer, 404, 'KEY_NOT_FOUND');
      expect(answer.body).toEqual(missing.body);
    }
  });

  test('names an ended key still, and makes it no more usable', async () => {
    const { change, keyId, key, bySession, listed } = await owner();
    expectOk(await bySession(`/keys/${keyId}`, { method: 'DELETE' }));
    expectOk(await change({ name: 'the old one', monthlyCredits: 5 }));
    expect(await listed()).toMatchObject({ name: 'the old one', status: 'revoked', monthlyCredits: 5 });
    expectError(await service.api({ path: '/identities', key }), 401, 'INVALID_API_KEY');
  });

  test('is told in the license’s activity, and what changes nothing is not', async () => {
    const { change, bySession, license } = await owner();
    expectOk(await change({ monthlyCredits: 5 }));
    expectOk(await change({ monthlyCredits: 5, name: 'test' }));
    const { activity } = (await bySession(`/licenses/${license.licenseId}/activity`)).body;
    const changes = activity.filter(({ action }: any) => action === 'key_changed');
    expect(changes).toMatchObject([
      { by: 'owner', keyName: 'test', changes: [{ member: 'monthlyCredits', from: null, to: 5 }] },
    ]);
  });
});

test('GET /keys tells each key’s credits of its own license’s period', async () => {
  const { license, key, keyId, listed } = await owner();
  const second = await grant(table, { ownerId: license.ownerId });
  expectOk(await generate(service, key, { identityId: aurora, numOutputs: 2 }));
  expectOk(await generate(service, second.key, { identityId: aurora }));
  const { startMs: periodStartMs } = creditPeriod(license, Date.now());
  const ofKey = { requestId: newRequestId(Date.now()), licenseId: license.licenseId, keyId, periodStartMs };
  const limits = { creditsLimit: 1000, keyBudget: null, maxInFlight: 1000 };
  // What is held is not used.
  const held = await generationStore(table).reserve(sampleGeneration(ofKey), limits, 'h');
  expect(held).toEqual({ outcome: 'reserved' });
  expect((await listed(keyId)).creditsUsed).toBe(2);
  expect((await listed(second.keyId)).creditsUsed).toBe(1);
});
