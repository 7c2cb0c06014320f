import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { billingPeriod } from '../../shared/domain/billing-period.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { reserveAbandoned } from '../support/books.ts';
import { grant, newLicense, tableOf, type Granted } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';

let service: RunningService;
let table: Table;
let identities: Record<string, string>;

beforeAll(async () => {
  service = await startService({ args: ['--deadline', '10'] });
  table = tableOf(service.dataDir);
  identities = service.ready.identities;
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

interface Owner extends Granted {
  session: string;
  usage(licenseId?: string): Promise<ApiAnswer>;
}

async function owner(options: Parameters<typeof grant>[1] = {}): Promise<Owner> {
  const granted = await grant(table, options);
  const session = await sessionOf(service.dataDir, { sub: granted.license.ownerId });
  return {
    ...granted,
    session,
    usage: (licenseId = granted.license.licenseId) =>
      service.api({ path: `/usage?licenseId=${licenseId}`, key: session }),
  };
}

const today = () => new Date().toISOString().slice(0, 10);
const hourMs = 3600_000;

interface Tally {
  requests: number;
  credits: number;
}

function sumOf(tallies: Tally[]): Tally {
  return tallies.reduce(
    (sum, { requests, credits }) => ({ requests: sum.requests + requests, credits: sum.credits + credits }),
    { requests: 0, credits: 0 },
  );
}

/** The days, the types and the identities count the same requests. */
function expectSums({ byDay, byType, byIdentity }: any, sum: Tally): void {
  const views = [byDay, Object.values(byType), Object.values(byIdentity)] as Tally[][];
  expect(views.map(sumOf)).toEqual([sum, sum, sum]);
}

describe('the usage of a license', () => {
  test('without a request is all there, and zero', async () => {
    const { license, usage } = await owner();
    const { startMs, endMs } = billingPeriod(license.periodAnchorMs, Date.now());
    const answer = await usage();
    expectOk(answer);
    const nothing = { requests: 0, credits: 0 };
    expect(answer.body).toEqual({
      licenseId: license.licenseId,
      stats: {
        current: 0,
        limit: 4000,
        percentage: 0,
        billingPeriodStart: new Date(startMs).toISOString(),
        billingPeriodEnd: new Date(endMs).toISOString(),
        daysRemaining: Math.ceil((endMs - Date.now()) / (24 * hourMs)),
        tier: 'Pro',
      },
      history: [],
      aggregates: {
        byType: { text_to_image: nothing, reference: nothing, exact_product: nothing },
        byIdentity: {},
        byDay: [{ date: today(), ...nothing }],
      },
    });
  });

  test('counts what completed, and charges nothing for what failed or ran out of time', async () => {
    const { key, usage } = await owner({ creditsLimit: 500, used: 33 });
    const { aurora, basalt, flint, glacier } = identities;
    const wide = { width: 1088, height: 1024 };
    const answers = await Promise.all([
      generate(service, key, { identityId: aurora }),
      generate(service, key, { identityId: aurora, ...wide, numOutputs: 2 }),
      generate(service, key, { identityId: basalt }),
      generate(service, key, { identityId: flint, numOutputs: 3 }),
      generate(service, key, { identityId: glacier, numOutputs: 4 }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 500, 504]);
    const { stats, history, aggregates } = (await usage()).body;
    expect(stats).toMatchObject({ current: 33 + 6, limit: 500, percentage: 7 });
    // What was imported was counted elsewhere, and is in no statistic.
    expectSums(aggregates, { requests: 3, credits: 6 });
    expect(aggregates.byType.text_to_image).toEqual({ requests: 3, credits: 6 });
    expect(aggregates.byIdentity).toEqual({
      [aurora!]: { name: 'aurora', slug: 'aurora', requests: 2, credits: 5 },
      [basalt!]: { name: 'basalt', slug: 'basalt', requests: 1, credits: 1 },
    });
    const of = (i: number) => history.find(({ requestId }: any) => requestId === idOf(answers[i]!));
    expect(history).toHaveLength(5);
    const { createdAt, completedAt, ...wideItem } = of(1);
    expect(wideItem).toEqual({
      requestId: idOf(answers[1]!),
      type: 'text_to_image',
      status: 'COMPLETED',
      identity: { id: aurora, name: 'aurora', slug: 'aurora' },
      numOutputs: 2,
      creditsCharged: 4,
    });
    expect(Date.parse(completedAt)).toBeGreaterThan(Date.parse(createdAt));
    expect(of(3)).toMatchObject({ status: 'FAILED', creditsCharged: 0, numOutputs: 3 });
    expect(of(4)).toMatchObject({ status: 'TIMEOUT', creditsCharged: 0, numOutputs: 4 });
  });

  test('agrees with the usage that each answer told, after every request', async () => {
    const { key, usage } = await owner();
    for (const credits of [1, 2, 3]) {
      const { body } = await generate(service, key, { identityId: identities.aurora });
      expect(body.usage.creditsUsed).toBe(credits);
      const { stats, aggregates } = (await usage()).body;
      expect(stats.current).toBe(credits);
      expectSums(aggregates, { requests: credits, credits });
    }
  });

  test.each([
    [0, 500, 0],
    [4, 500, 0],
    [499, 500, 99],
    [500, 500, 100],
    [600, 500, 120],
  ])('of %i of %i credits is %i percent', async (used, creditsLimit, percentage) => {
    const { usage } = await owner({ used, creditsLimit });
    expect((await usage()).body.stats).toMatchObject({ current: used, limit: creditsLimit, percentage });
  });

  test('lists every UTC day of the period until today, once', async () => {
    const periodAnchorMs = Date.now() - 40 * 24 * hourMs;
    const { usage } = await owner({ periodAnchorMs });
    const { startMs } = billingPeriod(periodAnchorMs, Date.now());
    const days: string[] = [];
    for (let ms = startMs - (startMs % (24 * hourMs)); ms <= Date.now(); ms += 24 * hourMs) {
      days.push(new Date(ms).toISOString().slice(0, 10));
    }
    const { byDay } = (await usage()).body.aggregates;
    expect(byDay.map(({ date }: { date: string }) => date)).toEqual(days);
  });

  test('counts nothing of another license', async () => {
    const [one, two] = [await owner(), await owner()];
    await generate(service, one.key, { identityId: identities.aurora });
    expect(Object.keys((await one.usage()).body.aggregates.byIdentity)).toEqual([identities.aurora]);
    expect((await two.usage()).body.aggregates.byIdentity).toEqual({});
  });

  test.each([{ status: 'ended' }, { status: 'past_due' }, { apiAccess: false }] as const)(
    'is told for a record with %j too',
    async (change) => {
      const { license, usage } = await owner({ used: 5 });
      await licenseStore(table).update(license.licenseId, change);
      expect((await usage()).body.stats.current).toBe(5);
    },
  );
});

describe('the history', () => {
  test('is the newest 20 of the period, newest first, whatever became of them', async () => {
    const { license, usage } = await owner();
    const ids: string[] = [];
    for (let i = 0; i < 23; i++) {
      const { requestId } = await reserveAbandoned(table, license, { identityId: identities.aurora! });
      ids.unshift(requestId);
    }
    const { history, stats, aggregates } = (await usage()).body;
    expect(history.map(({ requestId }: any) => requestId)).toEqual(ids.slice(0, 20));
    for (const item of history) {
      expect(item).toMatchObject({ status: 'QUEUED', creditsCharged: 0, completedAt: null });
    }
    // What is held is not used yet.
    expect(stats.current).toBe(0);
    expectSums(aggregates, { requests: 0, credits: 0 });
  });

  test('holds nothing of the period before', async () => {
    const { license, usage } = await owner({ periodAnchorMs: Date.now() - 2 * hourMs });
    const identityId = identities.aurora!;
    const at = (acceptedAtMs: number) => reserveAbandoned(table, license, { identityId, acceptedAtMs });
    await at(license.periodAnchorMs - 1);
    const first = await at(license.periodAnchorMs);
    const second = await at(Date.now());
    const { history } = (await usage()).body;
    expect(history.map(({ requestId }: any) => requestId)).toEqual([second.requestId, first.requestId]);
  });
});

function idOf(answer: ApiAnswer): string {
  return answer.headers.get('x-request-id')!;
}

describe('GET /usage', () => {
  let own: Owner;

  beforeEach(async () => {
    own = await owner();
  });

  test.each([
    ['no license', '', 'licenseId'],
    ['an empty license', '?licenseId=', 'licenseId'],
    ['a license named twice', '?licenseId=LICENSE&licenseId=LICENSE', 'licenseId'],
    ['an unknown parameter', '?licenseId=LICENSE&from=2026-01-01', 'from'],
  ])('refuses %s by name', async (_, query, name) => {
    const path = `/usage${query.replaceAll('LICENSE', own.license.licenseId)}`;
    const answer = await service.api({ path, key: own.session });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain(name);
  });

  test('a license that is unknown, or of another account, is LICENSE_NOT_FOUND in the same words', async () => {
    const other = await owner({ used: 7 });
    const sentences = new Set<string>();
    for (const id of [other.license.licenseId, 'lic_unknown', '%23', '%00', 'x'.repeat(100)]) {
      const answer = await own.usage(id);
      expectError(answer, 404, 'LICENSE_NOT_FOUND');
      sentences.add(answer.body.error);
    }
    expect(sentences.size).toBe(1);
  });

  test('lets 30 a minute through for one account, whatever licenses it asks for, and others go on', async () => {
    const second = newLicense({ ownerId: own.license.ownerId });
    await licenseStore(table).insert(second);
    const other = await owner();
    const ids = [own.license.licenseId, second.licenseId];
    for (let left = 29; left >= 0; left--) {
      const answer = await own.usage(ids[left % 2]);
      expectOk(answer);
      expect(answer.headers.get('ratelimit-policy')).toBe('"usage";q=30;w=60');
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"usage";r=${left};t=\\d+$`));
    }
    for (const id of [...ids, 'lic_unknown', '']) {
      const refused = await own.usage(id);
      expectError(refused, 429, 'RATE_LIMITED');
      expect(refused.body.error).toContain('account');
      const wait = refused.headers.get('retry-after');
      expect(Number(wait)).toBeLessThanOrEqual(60);
      expect(refused.headers.get('ratelimit')).toBe(`"usage";r=0;t=${wait}`);
    }
    expectOk(await other.usage());
    expectOk(await service.api({ path: '/licenses', key: own.session }));
  });

  test('of 45 parallel requests exactly 30 pass', async () => {
    const answers = await Promise.all(Array.from({ length: 45 }, () => own.usage()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
    expect(answers.filter(({ body }) => body.code === 'RATE_LIMITED')).toHaveLength(15);
  });
});
