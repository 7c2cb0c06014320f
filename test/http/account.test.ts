import { describe, expect, test } from '@jest/globals';
import type { License } from '../../shared/licenses/license.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant } from '../support/grants.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import type { ApiAnswer } from '../support/service.ts';
import { identities, newAccount, service, table, type Account } from './fixture.ts';

// What an account reads and chooses. The rules of licenses, periods, the audit log and refusals have tests of their own.

const { aurora, basalt, drift, flint } = identities;

const ofLicense = ({ bySession, license }: Account, path: string) =>
  bySession(`/licenses/${license.licenseId}/${path}`);

test('an account gets e-mails until it chooses otherwise, for itself alone, and what a change leaves out stays', async () => {
  const [account, other] = [await newAccount(), await newAccount()];
  const change = (body: object) => account.bySession('/account', { method: 'PATCH', body });
  const read = async ({ bySession }: Account) => (await bySession('/account')).body;
  expect(await read(account)).toEqual({ creditMails: true });
  for (const creditMails of [false, true, false]) {
    expect((await change({ creditMails })).body).toEqual({ creditMails });
    expect([await read(account), await read(other)]).toEqual([{ creditMails }, { creditMails: true }]);
  }
  for (const body of [{}, { creditMails: null }])
    expect((await change(body)).body).toEqual({ creditMails: false });
});

test('an account ends all its sessions, and says so by nothing but true', async () => {
  const { bySession } = await newAccount();
  const change = (body: object) => bySession('/account', { method: 'PATCH', body });
  expect((await change({ endSessions: false })).status).toBe(200);
  expect((await bySession('/account')).status).toBe(200);
  expect((await change({ endSessions: true })).body).toEqual({ creditMails: true });
  expectError(await bySession('/account'), 401, 'INVALID_SESSION');
});

test('GET /licenses says of each license, oldest first, whether its keys are accepted, as they are', async () => {
  const changes: Partial<License>[] = [{}, { status: 'ended' }, { activeUntilMs: Date.now() + 3600_000 }];
  const { license, bySession } = await newAccount({ createdAtMs: 0, apiAccess: false });
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

test('a suspended license is refused by key and by session, and its owner reads why', async () => {
  const suspended = { atMs: Date.UTC(2026, 10, 24), reason: 'Chargeback' };
  const { generate, play, byKey, bySession } = await newAccount({ suspended });
  const refused = await generate();
  expectError(refused, 401, 'INVALID_API_KEY');
  expect(refused.body.error).toContain('its license is not active: it is suspended.');
  expect(refused.body.error).not.toContain('Chargeback');
  expectError(await byKey('/key'), 401, 'INVALID_API_KEY');
  expectError(await play(), 403, 'LICENSE_INACTIVE');
  const [license] = (await bySession('/licenses')).body.licenses;
  const shown = { at: '2026-11-24T00:00:00.000Z', reason: 'Chargeback' };
  expect(license).toMatchObject({ status: 'active', usable: false, suspended: shown });
});

describe('GET /identities', () => {
  const founding = ['aurora', 'basalt', 'citrine', 'ember', 'flint', 'glacier', 'harbor'];
  const slugs = ({ body }: ApiAnswer) => body.identities.map(({ slug }: any) => slug).sort();

  test('shows a key what it may use and whether that is available, and a session the same of its license', async () => {
    const { license, byKey, bySession } = await newAccount({ identityIds: [drift!] });
    const { body } = await byKey('/identities');
    expect(body.identities.map(({ slug }: any) => slug).sort()).toEqual([...founding, 'drift'].sort());
    const members =
      'available defaultSize description id license name productPhotos samples slug source triggerWords version'.split(
        ' ',
      );
    for (const identity of body.identities) {
      expect(identity.available).toBe(identity.slug !== 'ember');
      expect(Object.keys(identity).sort()).toEqual(members);
    }
    expect((await bySession(`/identities?licenseId=${license.licenseId}`)).body).toEqual(body);
  });

  test('by session shows each identity that the license named may use, or any active license, once', async () => {
    const special = { foundingCatalog: false, identityIds: [drift!] };
    const { license, bySession } = await newAccount();
    const { ownerId } = license;
    const shown = async (query = '') => slugs(await bySession(`/identities${query}`));
    await grant(table, { ownerId, ...special, status: 'past_due' });
    expect(await shown()).toEqual(founding);
    const more = await grant(table, { ownerId, ...special });
    await grant(table, { ownerId, ...special, foundingCatalog: true });
    expect(await shown()).toEqual([...founding, 'drift'].sort());
    expect(await shown(`?licenseId=${license.licenseId}`)).toEqual(founding);
    expect(await shown(`?licenseId=${more.license.licenseId}`)).toEqual(['drift']);
  });
});

describe('GET /usage', () => {
  test('counts what completed, charges nothing for what failed, and has both in the history', async () => {
    const { generate, license, bySession } = await newAccount({ creditsLimit: 500, used: 33 });
    const answers = await Promise.all([
      generate(),
      generate({ width: 1088, height: 1024, numOutputs: 2 }),
      generate({ identityId: basalt }),
      generate({ identityId: flint, numOutputs: 3 }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 500]);
    const { stats, history, aggregates } = (await bySession(`/usage?licenseId=${license.licenseId}`)).body;
    expect(stats).toMatchObject({ current: 33 + 6, limit: 500, percentage: 7 });
    expect(aggregates.byIdentity).toEqual({
      [aurora!]: { name: 'aurora', slug: 'aurora', requests: 2, credits: 5 },
      [basalt!]: { name: 'basalt', slug: 'basalt', requests: 1, credits: 1 },
    });
    // What was imported was counted elsewhere, and is in no statistic.
    for (const view of ['byDay', 'byType', 'byIdentity', 'byKey']) {
      const tallies = Object.values<{ requests: number; credits: number }>(aggregates[view]);
      const total = (of: 'requests' | 'credits') => tallies.reduce((sum, tally) => sum + tally[of], 0);
      expect([view, total('requests'), total('credits')]).toEqual([view, 3, 6]);
    }
    expect(history).toHaveLength(4);
    const of = (i: number) => {
      const id = answers[i]!.headers.get('x-request-id')!;
      return history.find(({ requestId }: any) => requestId === id);
    };
    expect(of(1)).toEqual({
      requestId: answers[1]!.body.requestId,
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
    const { license, bySession } = await newAccount();
    const ids: string[] = [];
    for (let i = 0; i < 21; i++)
      ids.unshift((await reserveAbandoned(table, license, { identityId: aurora! })).requestId);
    const { history, stats } = (await bySession(`/usage?licenseId=${license.licenseId}`)).body;
    expect(history.map(({ requestId }: any) => requestId)).toEqual(ids.slice(0, 20));
    // What is held is not used yet.
    expect(stats.current).toBe(0);
  });
});

test('GET /licenses/{licenseId}/activity says who changed what, newest first, and never which operator', async () => {
  const account = await newAccount();
  const { license, bySession } = account;
  const { licenseId } = license;
  const operator = 'operator:arn:aws:iam::123456789012:user/Mallory';
  await licenseStore(table).update(licenseId, { tier: 'enterprise', creditsLimit: 9000 }, operator);
  const made = (await bySession('/keys', { body: { licenseId, name: 'CI' } })).body;
  await bySession(`/keys/${made.keyId}`, { method: 'DELETE' });
  await licenseStore(table).update(licenseId, { status: 'past_due' }, 'billing:evt_secret');
  const { activity, nextCursor } = (await ofLicense(account, 'activity')).body;
  const ofKey = { by: 'owner', keyId: made.keyId, keyName: 'CI' };
  const ofNoKey = { keyId: null, keyName: null };
  const changed = (by: string, ...changes: [member: string, from: unknown, to: unknown][]) => {
    const members = changes.map(([member, from, to]) => ({ member, from, to }));
    return { by, action: 'license_changed', changes: members, ...ofNoKey };
  };
  expect(activity).toMatchObject([
    changed('billing', ['status', 'active', 'past_due']),
    { ...ofKey, action: 'key_revoked', changes: [] },
    { ...ofKey, action: 'key_issued' },
    changed('operator', ['tier', 'Pro', 'Enterprise'], ['creditsLimit', 4000, 9000]),
    { by: 'owner', action: 'key_issued', keyId: account.keyId },
    { by: 'operator', action: 'license_granted', ...ofNoKey },
  ]);
  expect(nextCursor).toBeNull();
  const text = JSON.stringify(activity);
  const secrets = ['Mallory', 'evt_secret', license.ownerId, made.key.slice(9), 'svc_live'];
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  expectError(await ofLicense(account, 'activity?limit=0'), 400, 'INVALID_PARAMETERS');
});

describe('GET /licenses/{licenseId}/refusals', () => {
  async function refusalsOf(account: Account): Promise<Record<string, number>> {
    const answer = await ofLicense(account, 'refusals');
    expectOk(answer);
    // Midnight may pass during a test.
    const counts: Record<string, number> = {};
    for (const { keyId, code, count } of answer.body.days.flatMap(({ refusals }: any) => refusals))
      counts[`${keyId} ${code}`] = (counts[`${keyId} ${code}`] ?? 0) + count;
    return counts;
  }

  test('counts what was refused in every way of asking, and nothing that was accepted', async () => {
    const account = await newAccount();
    const { byKey, keyId, bySession, generate, play, tool } = account;
    expectOk(await generate());
    expectError(await generate({ identityId: flint }), 500, 'GENERATION_FAILED');
    expect(await refusalsOf(account)).toEqual({});
    for (const headers of [{}, { accept: 'text/event-stream' }])
      expectError(await byKey('/generate', { body: {}, headers }), 400, 'MISSING_IDENTITY');
    expectError(await generate({ numOutputs: 99 }), 400, 'TIER_LIMIT');
    expect((await byKey('/openai/v1/models/nobody')).status).toBe(404);
    expectError(await byKey('/generate/nothing'), 404, 'REQUEST_NOT_FOUND');
    await tool('get_generation', { requestId: 'nothing' });
    expectError(await play({ numOutputs: 99 }), 400, 'TIER_LIMIT');
    // No license is known of these.
    expectError(await bySession('/generate/nothing'), 404, 'REQUEST_NOT_FOUND');
    expectError(await play({ licenseId: undefined }), 400, 'INVALID_PARAMETERS');
    expect(await refusalsOf(account)).toEqual({
      [`${keyId} MISSING_IDENTITY`]: 2,
      [`${keyId} TIER_LIMIT`]: 1,
      [`${keyId} IDENTITY_NOT_FOUND`]: 1,
      [`${keyId} REQUEST_NOT_FOUND`]: 2,
      'null TIER_LIMIT': 1,
    });
  });

  test('counts a key whose license is not active, and no key that is revoked', async () => {
    const account = await newAccount({ status: 'ended' });
    expectError(await account.generate(), 401, 'INVALID_API_KEY');
    expectError(await account.play(), 403, 'LICENSE_INACTIVE');
    const counted = { [`${account.keyId} INVALID_API_KEY`]: 1, 'null LICENSE_INACTIVE': 1 };
    expect(await refusalsOf(account)).toEqual(counted);
    const revoked = await newAccount({ key: { revokedAtMs: Date.now() } });
    expectError(await revoked.generate(), 401, 'INVALID_API_KEY');
    expect(await refusalsOf(revoked)).toEqual({});
  });

  test('are also listed one by one, with why, and nothing that was sent; none before its key is known', async () => {
    const account = await newAccount();
    const { byKey, keyId } = account;
    await service.api({ path: '/generate', key: 'svc_live_nobody', body: {} });
    const secret = { 'a dog in the rain': 1, svc_live_secret: 2 };
    const { headers } = await byKey('/generate', { body: { ...secret, prompt: 'a red fox' } });
    await byKey('/generate', { body: {} });
    const listed = await ofLicense(account, 'refused-requests');
    expect(listed.body.requests).toEqual([
      {
        requestId: headers.get('x-request-id'),
        at: expect.any(String),
        route: 'POST /generate',
        keyId,
        keyName: expect.any(String),
        status: 400,
        code: expect.any(String),
        error: expect.any(String),
      },
    ]);
    expect(JSON.stringify(listed.body)).not.toMatch(/dog|secret|fox/);
    const found = async (requestId: string) =>
      (await ofLicense(account, `refused-requests?requestId=${requestId}`)).body.requests;
    expect(await found(headers.get('x-request-id')!.toUpperCase())).toEqual(listed.body.requests);
    expect(await found(crypto.randomUUID())).toBeUndefined();
  });

  test('is of 1 to 30 days, which are named in one way', async () => {
    const account = await newAccount();
    expectOk(await ofLicense(account, 'refusals?days=30'));
    for (const query of ['days=0', 'days=31', 'days=', 'days=1.5', 'days=7&days=7', 'limit=1'])
      expectError(await ofLicense(account, `refusals?${query}`), 400, 'INVALID_PARAMETERS');
  });
});
