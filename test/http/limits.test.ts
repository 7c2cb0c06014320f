import { describe, expect, test } from '@jest/globals';
import { billingPeriod } from '../../shared/licenses/billing-period.ts';
import { accountCallerId, newRequestId } from '../../shared/base/ids.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { periodStore } from '../../shared/licenses/period-store.ts';
import { rateLogStore } from '../../shared/limits/rate-log-store.ts';
import { expectError, inOurShape } from '../support/answers.ts';
import { grant, issueKey } from '../support/grants.ts';
import { ways, type Way } from '../support/hostile.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { identities, newAccount, service, table, type Account } from './fixture.ts';

const identityId = identities.aurora!;

/** A request to a route with a limit that costs no generation, for one of an account's licenses. */
async function call({ route, by }: Way, credential: string, licenseId: string): Promise<ApiAnswer> {
  const { method, path } = route as Route;
  const body = route.streams ? '{' : { ...(by === 'session' && { licenseId }) };
  const answer = await service.api({
    method,
    path:
      path.replace(/\{\w+\}/, newRequestId(0)) +
      (method === 'GET' && by === 'session' ? `?licenseId=${licenseId}` : ''),
    key: credential,
    ...(method === 'POST' && { body }),
  });
  return { ...answer, body: inOurShape(answer.body) };
}

const limited = ways.filter(({ route }) => route.limit !== undefined);

/**
 * Makes a limit count from an hour ahead, so that no use is forgotten while a test runs: the log of the last uses never
 * goes back in time.
 * @returns how many uses are left: few, so that a test need not send all of them.
 */
async function countFromAnHourAhead({ route, by }: Way, { keyId, license }: Account): Promise<number> {
  const callerId = by === 'key' ? keyId : accountCallerId(license.ownerId);
  const { name, quota } = route.limit!;
  const used = Math.max(1, quota - 12);
  await rateLogStore(table).put(callerId, name, Array(used).fill(Date.now() + 3600_000), 0);
  return quota - used;
}

describe.each(limited)('the rate limit of $name', (way) => {
  const { name, quota, windowSeconds } = way.route.limit!;
  const policy = `"${name}";q=${quota};w=${windowSeconds}`;

  test(`lets exactly as many parallel requests through as are free, whatever license they are for`, async () => {
    const account = await newAccount();
    const free = await countFromAnHourAhead(way, account);
    const second = await grant(table, { ownerId: account.license.ownerId });
    const licenseIds = [account, second].map(({ license }) => license.licenseId);
    const answers: ApiAnswer[] = [];
    while (answers.length < free + 5) {
      const wave = Array.from({ length: 15 }, (_, i) => call(way, account[way.by!], licenseIds[i % 2]!));
      answers.push(...(await Promise.all(wave)));
    }
    const refused = answers.filter(({ status }) => status === 429);
    const passed = answers.filter(({ status }) => status !== 429);
    expect([passed.length, refused.length > 0]).toEqual([free, true]);
    for (const answer of refused) {
      expectError(answer, 429, 'RATE_LIMITED');
      expect(answer.body.error).toContain(way.by === 'session' ? 'account' : 'key');
      expect(answer.headers.get('ratelimit')).toBe(`"${name}";r=0;t=${answer.headers.get('retry-after')}`);
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(3600 + windowSeconds);
    }
    const left = passed.map(({ headers }) => Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1]));
    expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: free }, (_, i) => i));
    for (const { headers } of answers) expect(headers.get('ratelimit-policy')).toBe(policy);
    await expectOthersGoOn(account);
  });

  /** Another key of the license, the account's other credential, another account, and another route. */
  async function expectOthersGoOn({ license, ...account }: Account) {
    const sibling = await issueKey(table, license);
    const others = [(await newAccount())[way.by!], ...(way.by === 'key' ? [sibling.key] : [])];
    for (const credential of others)
      expect((await call(way, credential, license.licenseId)).status).not.toBe(429);
    const elsewhere = way.route === routes.getGeneration ? '/identities' : `/generate/${newRequestId(0)}`;
    expect((await service.api({ path: elsewhere, key: account[way.by!] })).status).not.toBe(429);
    const [byOther] = limited.filter(({ route, by }) => route === way.route && by !== way.by);
    if (!byOther) return;
    expect((await call(byOther, account[byOther.by!], license.licenseId)).status).not.toBe(429);
  }
});

test('the rate limit comes before the body, and the key before the rate limit', async () => {
  const [way] = limited.filter(({ route }) => route === routes.createGeneration) as [Way];
  const account = await newAccount();
  const free = await countFromAnHourAhead(way, account);
  const send = () => account.byKey('/generate', { body: '{' });
  for (let i = 0; i < free; i++) expectError(await send(), 400, 'INVALID_BODY');
  expectError(await send(), 429, 'RATE_LIMITED');
  await licenseStore(table).update(account.license.licenseId, { status: 'ended' });
  expectError(await send(), 401, 'INVALID_API_KEY');
});

test('a license with as many requests in flight as it may have is refused with that reason, a dry run too', async () => {
  const { license, byKey } = await newAccount({ maxInFlight: 1 });
  await reserveAbandoned(table, license, { identityId });
  for (const path of ['/generate', '/generate?dryRun=true']) {
    const refused = await byKey(path, { body: { ...small, identityId } });
    expectError(refused, 429, 'RATE_LIMITED');
    expect(refused.body.error).toContain('This license has 1 request in flight');
    expect(refused.headers.get('retry-after')).toBe('1');
  }
});

test('50 parallel requests by four keys and the playground on 7 credits: exactly 7 are made', async () => {
  const own = await newAccount({ creditsLimit: 500, used: 493 });
  const more = await Promise.all([1, 2, 3].map(() => issueKey(table, own.license)));
  const body = { ...small, identityId };
  // Five callers, so that the rate limit of ten a minute refuses nobody.
  const byKeys = [own, ...more].map(
    ({ key }) =>
      () =>
        service.api({ path: '/generate', key, body }),
  );
  const callers = [...byKeys, () => own.play()];
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => callers[i % callers.length]!()));
  const codes = answers.map(({ status, body: answer }) => answer.code ?? status).toSorted();
  expect(codes).toEqual([...Array(7).fill(200), ...Array(43).fill('CREDIT_LIMIT_EXCEEDED')]);
  const used = answers.filter(({ status }) => status === 200).map((made) => made.body.usage.creditsUsed);
  expect(Math.max(...used)).toBe(500);
  const { startMs } = billingPeriod(own.license.periodAnchorMs, Date.now());
  expect(await periodStore(table).get(own.license.licenseId, startMs)).toMatchObject({
    used: 500,
    committed: 500,
    byType: { text_to_image: { requests: 7, credits: 7 } },
  });
});
