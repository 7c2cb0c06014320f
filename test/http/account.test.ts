import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { License } from '../../shared/licenses/license.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { callTool } from '../support/agent.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, newLicense } from '../support/grants.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { generate, small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { sharedService } from '../support/use-service.ts';

// What an account reads and chooses. The rules of licenses, periods, the audit log and refusals have tests of their own.

const service = sharedService();
const { table } = service;
const { aurora, basalt, drift, flint } = service.ready.identities as Record<string, string>;

const idOf = ({ headers }: ApiAnswer) => headers.get('x-request-id')!;
const ofLicense = ({ bySession, license }: Account, path: string) =>
  bySession(`/licenses/${license.licenseId}/${path}`);

describe('an account that has chosen nothing gets e-mails', () => {
  test('what it chooses holds at once, for itself alone, and what a change leaves out stays', async () => {
    const [account, other] = [await newAccount(service), await newAccount(service)];
    const change = (body: object) => account.bySession('/account', { method: 'PATCH', body });
    const read = async ({ bySession }: Account) => (await bySession('/account')).body;
    expect(await read(account)).toEqual({ creditMails: true });
    for (const creditMails of [false, true, false]) {
      expect((await change({ creditMails })).body).toEqual({ creditMails });
      expect([await read(account), await read(other)]).toEqual([{ creditMails }, { creditMails: true }]);
    }
    for (const body of [{}, { creditMails: null }])
      expect((await change(body)).body).toEqual({ creditMails: false });
    expect((await change({ creditMails: 'no' })).body.error).toContain('creditMails must be true or false');
  });
});

test('GET /licenses says of each license, oldest first, whether its keys are accepted, as they are', async () => {
  const changes: Partial<License>[] = [{}, { status: 'ended' }, { activeUntilMs: Date.now() + 3600_000 }];
  const { license, bySession } = await newAccount(service, { createdAtMs: 0, apiAccess: false });
  const { ownerId, licenseId } = license;
  const expected = [{ licenseId, usable: false }];
  for (const [i, change] of changes.entries()) {
    const granted = await grant(table, { ownerId, createdAtMs: i + 1, ...change });
    const { status } = await service.api({ path: '/identities', key: granted.key });
    expected.push({ licenseId: granted.license.licenseId, usable: status === 200 });
  }
  expect(expected.map(({ usable }) => usable)).toEqual([false, true, false, true]);
  expect((await bySession('/licenses')).body.licenses).toMatchObject(expected);
});

describe('GET /identities', () => {
  const founding = ['aurora', 'basalt', 'citrine', 'ember', 'flint', 'glacier', 'harbor'];
  const slugs = ({ body }: ApiAnswer) => body.identities.map(({ slug }: any) => slug).sort();

  test('shows a key what it may use and whether that is available, and a session the same of its license', async () => {
    const { license, key, bySession } = await newAccount(service, { identityIds: [drift!] });
    const byKey = await service.api({ path: '/identities', key });
    expect(slugs(byKey)).toEqual([...founding, 'drift'].sort());
    const members = ['available', 'description', 'id', 'name', 'productPhotos', 'samples', 'slug'];
    for (const { name, available, ...identity } of byKey.body.identities) {
      expect([name, available]).toEqual([name, name !== 'ember']);
      expect(Object.keys({ name, available, ...identity }).sort()).toEqual(members);
    }
    expect((await bySession(`/identities?licenseId=${license.licenseId}`)).body).toEqual(byKey.body);
  });

  test('by session shows each identity that the license named may use, or any active license, once', async () => {
    const shown = async (changes: Partial<License>[], named?: number) => {
      const ownerId = randomUUID();
      const licenses = changes.map((change) => newLicense({ ownerId, ...change }));
      for (const license of licenses) await licenseStore(table).insert(license);
      const query = named === undefined ? '' : `?licenseId=${licenses[named]!.licenseId}`;
      const key = await sessionOf(service.dataDir, { sub: ownerId });
      return slugs(await service.api({ path: `/identities${query}`, key }));
    };
    const special = { foundingCatalog: false, identityIds: [drift!] };
    const active = [{}, special, { ...special, foundingCatalog: true }];
    expect(await shown(active)).toEqual([...founding, 'drift'].sort());
    expect([await shown(active, 0), await shown(active, 1)]).toEqual([founding, ['drift']]);
    expect(await shown([{}, { ...special, status: 'past_due' }])).toEqual(founding);
    expect(await shown([])).toEqual([]);
  });
});

describe('GET /usage', () => {
  interface Tally {
    requests: number;
    credits: number;
  }

  /** The days, the types, the identities and the keys count the same requests. */
  function expectSums({ byDay, byType, byIdentity, byKey }: any, sum: Tally): void {
    for (const view of [byDay, byType, byIdentity, byKey].map((one): Tally[] => Object.values(one))) {
      const total = (of: keyof Tally) => view.reduce((counted, tally) => counted + tally[of], 0);
      expect({ requests: total('requests'), credits: total('credits') }).toEqual(sum);
    }
  }

  test('counts what completed, charges nothing for what failed, and tells of both in the history', async () => {
    const { key, license, bySession } = await newAccount(service, { creditsLimit: 500, used: 33 });
    const wide = { width: 1088, height: 1024 };
    const answers = await Promise.all([
      generate(service, key, { identityId: aurora }),
      generate(service, key, { identityId: aurora, ...wide, numOutputs: 2 }),
      generate(service, key, { identityId: basalt }),
      generate(service, key, { identityId: flint, numOutputs: 3 }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 500]);
    const usage = await bySession(`/usage?licenseId=${license.licenseId}`);
    const { stats, history, aggregates } = usage.body;
    expect(stats).toMatchObject({ current: 33 + 6, limit: 500, percentage: 7 });
    // What was imported was counted elsewhere, and is in no statistic.
    expectSums(aggregates, { requests: 3, credits: 6 });
    expect(aggregates.byIdentity).toEqual({
      [aurora!]: { name: 'aurora', slug: 'aurora', requests: 2, credits: 5 },
      [basalt!]: { name: 'basalt', slug: 'basalt', requests: 1, credits: 1 },
    });
    const of = (i: number) => history.find(({ requestId }: any) => requestId === idOf(answers[i]!));
    expect(history).toHaveLength(4);
    expect(of(1)).toEqual({
      requestId: idOf(answers[1]!),
      type: 'text_to_image',
      status: 'COMPLETED',
      identity: { id: aurora, name: 'aurora', slug: 'aurora' },
      numOutputs: 2,
      creditsCharged: 4,
      createdAt: expect.any(String),
      completedAt: expect.any(String),
    });
    expect(of(3)).toMatchObject({ status: 'FAILED', creditsCharged: 0, numOutputs: 3 });
  });

  test('has the newest 20 requests, newest first, whatever became of them', async () => {
    const { license, bySession } = await newAccount(service);
    const ids: string[] = [];
    for (let i = 0; i < 21; i++)
      ids.unshift((await reserveAbandoned(table, license, { identityId: aurora! })).requestId);
    const { history, stats } = (await bySession(`/usage?licenseId=${license.licenseId}`)).body;
    expect(history.map(({ requestId }: any) => requestId)).toEqual(ids.slice(0, 20));
    // What is held is not used yet.
    expect(stats.current).toBe(0);
  });
});

test('GET /licenses/{licenseId}/activity tells who changed what, newest first, and never which operator', async () => {
  const account = await newAccount(service);
  const { license, bySession } = account;
  const { licenseId } = license;
  const operator = 'operator:arn:aws:iam::123456789012:user/Mallory';
  await licenseStore(table).update(licenseId, { tier: 'enterprise', creditsLimit: 9000 }, operator);
  await licenseStore(table).update(licenseId, { status: 'past_due' }, 'billing:evt_secret');
  await licenseStore(table).update(licenseId, { status: 'active' }, 'billing:evt_secret');
  const made = await bySession('/keys', { body: { licenseId, name: 'CI' } });
  await bySession(`/keys/${made.body.keyId}`, { method: 'DELETE' });
  const { activity, nextCursor } = (await ofLicense(account, 'activity')).body;
  const ofKey = { by: 'owner', keyId: made.body.keyId, keyName: 'CI' };
  const status = (from: string, to: string) => ({
    by: 'billing',
    action: 'license_changed',
    changes: [{ member: 'status', from, to }],
  });
  expect(activity).toMatchObject([
    { ...ofKey, action: 'key_revoked', changes: [] },
    { ...ofKey, action: 'key_issued' },
    status('past_due', 'active'),
    status('active', 'past_due'),
    {
      by: 'operator',
      action: 'license_changed',
      keyId: null,
      keyName: null,
      changes: [
        { member: 'tier', from: 'Pro', to: 'Enterprise' },
        { member: 'creditsLimit', from: 4000, to: 9000 },
      ],
    },
    { by: 'owner', action: 'key_issued', keyId: account.keyId },
    { by: 'operator', action: 'license_granted', keyId: null, keyName: null },
  ]);
  expect(nextCursor).toBeNull();
  const text = JSON.stringify(activity);
  const secrets = ['Mallory', 'evt_secret', license.ownerId, made.body.key.slice(9), 'svc_live'];
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  expectError(await ofLicense(account, 'activity?limit=0'), 400, 'INVALID_PARAMETERS');
});

describe('GET /licenses/{licenseId}/refusals', () => {
  async function refusalsOf(account: Account): Promise<Record<string, number>> {
    const answer = await ofLicense(account, 'refusals');
    expectOk(answer);
    // Midnight may pass during a test.
    const counts: Record<string, number> = {};
    for (const { refusals } of answer.body.days) {
      for (const { keyId, code, count } of refusals) {
        counts[`${keyId} ${code}`] = (counts[`${keyId} ${code}`] ?? 0) + count;
      }
    }
    return counts;
  }

  test('counts what was refused in every way of asking, and nothing that was accepted', async () => {
    const account = await newAccount(service);
    const { key, keyId, license, bySession } = account;
    const tooMany = { ...small, identityId: aurora, numOutputs: 99 };
    const events = { accept: 'text/event-stream' };
    const byKey = (path: string, body?: object, headers = {}) => service.api({ path, key, headers, body });
    expectOk(await generate(service, key, { identityId: aurora }));
    expectError(await generate(service, key, { identityId: flint }), 500, 'GENERATION_FAILED');
    expect(await refusalsOf(account)).toEqual({});
    expectError(await byKey('/generate', {}), 400, 'MISSING_IDENTITY');
    expectError(await byKey('/generate', {}, events), 400, 'MISSING_IDENTITY');
    expectError(await byKey('/generate', tooMany), 400, 'TIER_LIMIT');
    expect((await byKey('/openai/v1/models/nobody')).status).toBe(404);
    expectError(await byKey('/generate/nothing'), 404, 'REQUEST_NOT_FOUND');
    await callTool(service, key, 'get_generation', { requestId: 'nothing' });
    const ofPlayground = { body: { ...tooMany, licenseId: license.licenseId } };
    expectError(await bySession('/playground/generate', ofPlayground), 400, 'TIER_LIMIT');
    // No license is known of these.
    expectError(await bySession('/generate/nothing'), 404, 'REQUEST_NOT_FOUND');
    expectError(await bySession('/playground/generate', { body: tooMany }), 400, 'INVALID_PARAMETERS');
    expect(await refusalsOf(account)).toEqual({
      [`${keyId} MISSING_IDENTITY`]: 2,
      [`${keyId} TIER_LIMIT`]: 1,
      [`${keyId} IDENTITY_NOT_FOUND`]: 1,
      [`${keyId} REQUEST_NOT_FOUND`]: 2,
      'null TIER_LIMIT': 1,
    });
  });

  test('counts a key whose license is not active, and no key that is revoked or was never made', async () => {
    const account = await newAccount(service, { status: 'ended' });
    const { key, keyId, license, bySession } = account;
    const { ownerId, licenseId } = license;
    expectError(await generate(service, key, { identityId: aurora }), 401, 'INVALID_API_KEY');
    const body = { ...small, identityId: aurora, licenseId };
    expectError(await bySession('/playground/generate', { body }), 403, 'LICENSE_INACTIVE');
    const counted = { [`${keyId} INVALID_API_KEY`]: 1, 'null LICENSE_INACTIVE': 1 };
    expect(await refusalsOf(account)).toEqual(counted);
    const revoked = await grant(table, { ownerId, key: { revokedAtMs: Date.now() } });
    expectError(await generate(service, revoked.key, { identityId: aurora }), 401, 'INVALID_API_KEY');
    expect(await refusalsOf({ ...account, license: revoked.license })).toEqual({});
  });

  test('is of 1 to 30 days, which are named in one way', async () => {
    const account = await newAccount(service);
    expectOk(await ofLicense(account, 'refusals?days=30'));
    for (const query of ['days=0', 'days=31', 'days=', 'days=1.5', 'days=7&days=7', 'limit=1'])
      expectError(await ofLicense(account, `refusals?${query}`), 400, 'INVALID_PARAMETERS');
  });
});
