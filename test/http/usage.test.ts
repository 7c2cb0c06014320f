import { describe, expect, test } from '@jest/globals';
import { newAccount, type Account } from '../support/accounts.ts';
import { expectOk } from '../support/answers.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { generate } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
const { identities } = service.ready;

interface Owner extends Account {
  usage(): Promise<ApiAnswer>;
}

async function owner(options: Parameters<typeof newAccount>[1] = {}): Promise<Owner> {
  const account = await newAccount(service, options);
  return { ...account, usage: () => account.bySession(`/usage?licenseId=${account.license.licenseId}`) };
}

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

/** The days, the types, the identities and the keys count the same requests. */
function expectSums({ byDay, byType, byIdentity, byKey }: any, sum: Tally): void {
  const views = [byDay, Object.values(byType), Object.values(byIdentity), Object.values(byKey)] as Tally[][];
  expect(views.map(sumOf)).toEqual([sum, sum, sum, sum]);
}

describe('the usage of a license', () => {
  test('counts what completed, and charges nothing for what failed', async () => {
    const { key, usage } = await owner({ creditsLimit: 500, used: 33 });
    const { aurora, basalt, flint } = identities;
    const wide = { width: 1088, height: 1024 };
    const answers = await Promise.all([
      generate(service, key, { identityId: aurora }),
      generate(service, key, { identityId: aurora, ...wide, numOutputs: 2 }),
      generate(service, key, { identityId: basalt }),
      generate(service, key, { identityId: flint, numOutputs: 3 }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 500]);
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
    expect(history).toHaveLength(4);
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
  });

  test('is told for a license that is past due, too', async () => {
    const { usage } = await owner({ used: 5, status: 'past_due' });
    const answer = await usage();
    expectOk(answer);
    expect(answer.body.stats.current).toBe(5);
  });
});

describe('the history', () => {
  test('is the newest 20, newest first, whatever became of them', async () => {
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

  test('does not end at the period’s beginning', async () => {
    const { license, usage } = await owner({ periodAnchorMs: Date.now() - 2 * hourMs });
    const identityId = identities.aurora!;
    const at = (acceptedAtMs: number) => reserveAbandoned(table, license, { identityId, acceptedAtMs });
    const before = await at(license.periodAnchorMs - 1);
    const first = await at(license.periodAnchorMs);
    const second = await at(Date.now());
    const { history } = (await usage()).body;
    expect(history.map(({ requestId }: any) => requestId)).toEqual(
      [second, first, before].map(({ requestId }) => requestId),
    );
  });
});

function idOf(answer: ApiAnswer): string {
  return answer.headers.get('x-request-id')!;
}
