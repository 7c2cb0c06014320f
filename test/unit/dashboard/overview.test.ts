import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { UsageHistoryItem } from '../../../dashboard/src/lib/types.ts';
import { formatUtcDate } from '../../../dashboard/src/lib/format.ts';
import { creditsLeft } from '../../../dashboard/src/lib/credits.ts';
import {
  creditStatus,
  creditWarning,
  paceEnd,
  resetMoment,
  resetWait,
} from '../../../dashboard/src/screens/overview/credit-status.ts';
import { licenseMessage } from '../../../dashboard/src/license/license-message.ts';
import {
  dayAfterKey,
  dayAtFraction,
  dayTicks,
  knownDays,
  periodDays,
  sumOfDays,
} from '../../../dashboard/src/screens/overview/period-days.ts';
import {
  identityRows,
  isUntouched,
  keyRows,
  shareText,
  typeRows,
} from '../../../dashboard/src/screens/overview/share-rows.ts';

function stats(current: number, limit: number, daysRemaining = 12) {
  return {
    current,
    limit,
    percentage: limit === 0 ? 100 : Math.floor((100 * current) / limit),
    billingPeriodStart: '2026-11-21T12:27:00.000Z',
    billingPeriodEnd: '2026-12-21T12:27:00.000Z',
    daysRemaining,
    tier: 'Pro',
  };
}

const works = { usable: true };
const ended = { usable: false };

describe('credits', () => {
  test('of a license that is of no use none are left, whatever its limit, and nothing warns of them', () => {
    expect([creditsLeft(works, stats(1, 4000)), creditsLeft(ended, stats(1, 4000))]).toEqual([3999, 0]);
    expect(creditsLeft(works, stats(620, 500))).toBe(0);
    expect(creditWarning(ended, stats(4000, 4000))).toBeNull();
  });

  test.each<[number, number, object]>([
    [0, 4000, { level: 'ok', barPercent: 0, percentText: '0%' }],
    // A small use is not shown as none.
    [3, 4000, { level: 'ok', barPercent: 1, percentText: 'under 1%' }],
    [799, 1000, { level: 'ok', barPercent: 79, percentText: '79%' }],
    [800, 1000, { level: 'near', barPercent: 80, percentText: '80%' }],
    [1000, 1000, { level: 'spent', barPercent: 100, percentText: '100%' }],
    [620, 500, { level: 'spent', barPercent: 100, percentText: '124%' }],
  ])('%d used of %d are %j', (current, limit, status) =>
    expect(creditStatus(stats(current, limit))).toEqual(status),
  );

  test.each<[number, number, string | undefined, string]>([
    [799, 1000, undefined, ''],
    [999, 1000, '1 credit is left', 'All 1,000 come back'],
    [
      1000,
      1000,
      'No credits are left in this period',
      `come back on ${formatUtcDate('2026-12-21')}, in 12 days.`,
    ],
    [
      620,
      500,
      'No credits are left in this period',
      '620 credits were used of 500: the limit was lowered, or',
    ],
    // No new credits are promised.
    [0, 0, 'This license has no credits', 'Its limit is 0, so every request is refused'],
  ])('%d used of %d warn: %j', (current, limit, title, text) => {
    const warning = creditWarning(works, stats(current, limit));
    expect(warning?.title).toBe(title);
    expect(warning?.text ?? '').toContain(text);
  });

  test.each([
    // Two days at 100 a day: of 800 that are left the last goes eight days later.
    [48, 800, 200, '2026-12-01T12:27:00.000Z'],
    [48, 800, 50, null],
    [48, 800, 0, null],
    [48, 0, 200, null],
    // An hour of a period is no pace of a day.
    [1, 800, 200, '2026-11-25T13:27:00.000Z'],
  ])('%d hours into a period, %d left and %d used end at %j', (hours, left, used, end) => {
    const known = stats(1000 - left, 1000);
    const nowMs = Date.parse(known.billingPeriodStart) + hours * 3600_000;
    expect(paceEnd(known, [{ date: '2026-11-21', credits: used, requests: 1 }], nowMs)).toBe(end);
  });

  test('extra credits are among those that the pace ends, also once the period’s own are used', () => {
    const nowMs = Date.parse('2026-11-22T12:27:00.000Z');
    const endWith = (used: number, extraRemaining: number) =>
      paceEnd(
        { ...stats(used, 1000), extraRemaining },
        [{ date: '2026-11-21', credits: 100, requests: 1 }],
        nowMs,
      );
    expect([endWith(900, 100), endWith(1000, 200), endWith(1200, 200)]).toEqual(
      Array(3).fill('2026-11-24T12:27:00.000Z'),
    );
    expect([endWith(900, 5000), endWith(1000, 0)]).toEqual([null, null]);
  });

  test('the last day of a period has the time of day', () => {
    expect([resetWait(2), resetMoment(stats(1, 10, 2))]).toEqual(['2 days', formatUtcDate('2026-12-21')]);
    expect(resetWait(1)).toBe('under a day');
    expect(resetMoment(stats(1, 10, 1))).toMatch(/12:27.*UTC$/);
  });
});

const title = 'This license';
test.each<[Partial<Parameters<typeof licenseMessage>[0]>, string | undefined, string]>([
  [{ usable: true }, undefined, ''],
  [
    { usable: true, activeUntil: '2026-12-05' },
    `${title} is active until ${formatUtcDate('2026-12-05')}`,
    '',
  ],
  // A subscription that goes on ends some days after its period does.
  [{ usable: true, activeUntil: '2026-12-24' }, undefined, ''],
  [{ usable: true, status: 'past_due' }, `${title} is past due`, 'It works for a few more days'],
  [{ status: 'past_due' }, `${title} is past due`, 'It is suspended until it is paid'],
  [{ status: 'ended', apiAccess: false }, `${title} has ended`, 'for the 30 days that requests are kept'],
  [{ activeUntil: '2026-11-20' }, `${title} has ended`, `until ${formatUtcDate('2026-11-20')}`],
  [{ apiAccess: false }, `${title} has no API access`, ''],
  [{ suspended: { at: '2026-11-20', reason: 'Chargeback' } }, `${title} is suspended`, 'Chargeback'],
])('of a license that is active but for %j the message is %j', (change, expected, text) => {
  const license = {
    status: 'active',
    usable: false,
    apiAccess: true,
    activeUntil: null,
    billingPeriodEnd: '2026-12-21',
  } as const;
  const message = licenseMessage({ ...license, ...change }, '30 days');
  expect(message?.title).toBe(expected);
  expect(message?.text ?? '').toContain(text);
});

describe('the days of a period', () => {
  const day = (date: string, credits: number, requests = 1) => ({ date, credits, requests });

  test('the axis spans every UTC day that the period touches, known ones first', () => {
    const days = periodDays(stats(0, 10), [day('2026-11-21', 3), day('2026-11-22', 0, 0)]);
    expect(days).toHaveLength(31);
    expect(days[0]).toEqual({ date: '2026-11-21', tally: { credits: 3, requests: 1 } });
    expect(days[2]).toEqual({ date: '2026-11-23', tally: null });
    expect(days.at(-1)?.date).toBe('2026-12-21');
    expect(knownDays(days)).toBe(2);
  });

  test('a period that ends at midnight does not touch the day that begins then', () => {
    const [billingPeriodStart, billingPeriodEnd] = ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'];
    expect(periodDays({ billingPeriodStart, billingPeriodEnd }, [])).toHaveLength(28);
  });

  test('a day after the period that was charged is kept, so that the sums are equal', () => {
    const days = periodDays(stats(0, 10), [day('2026-12-21', 2), day('2026-12-22', 5, 2)]);
    expect(days.at(-1)).toEqual({ date: '2026-12-22', tally: { credits: 5, requests: 2 } });
    expect(sumOfDays(days)).toEqual({ credits: 7, requests: 3 });
  });

  test('an axis names no more days than it has room for, the first always', () => {
    const counts = fc.integer({ min: 1, max: 32 });
    fc.assert(
      fc.property(counts, counts, (count, most) => {
        const ticks = dayTicks(count, most);
        expect(ticks[0]).toBe(0);
        expect(ticks.length).toBeLessThanOrEqual(most);
        expect(ticks.at(-1)).toBeLessThan(count);
      }),
    );
  });

  test.each([
    ['ArrowLeft', 0, 0],
    ['ArrowRight', 8, 8],
    ['ArrowRight', 3, 4],
    ['PageDown', 8, 1],
    ['Home', 8, 0],
    ['End', 0, 8],
    ['Tab', 3, null],
  ])('of nine days with figures, %s leads from day %d to %p', (key, from, to) => {
    expect(dayAfterKey(key, from, 9)).toBe(to);
  });

  test('a pointer finds the day below it, and none beside the plot or in the days to come', () => {
    const days = [0, 0.32, 0.33, -0.01, 1].map((fraction) => dayAtFraction(fraction, 31, 10));
    expect(days).toEqual([0, 9, null, null, null]);
    expect(dayAtFraction(1, 31, 31)).toBeNull();
  });
});

describe('shares', () => {
  const identity = (name: string, credits: number, requests = 1) => ({ name, slug: name, requests, credits });
  const none = { requests: 0, credits: 0 };
  const byType = { text_to_image: none, reference: none, exact_product: none };

  test('rows are sorted by credits, then by requests, then by name', () => {
    const [a, b] = [identity('Zinc', 5), identity('Aurora', 5)];
    const rows = identityRows({ a, b, c: identity('Basalt', 5, 2), d: identity('Citrine', 15) });
    expect(rows.map(({ name }) => name)).toEqual(['Citrine', 'Basalt', 'Aurora', 'Zinc']);
    expect(rows.map(({ share }) => share)).toEqual([0.5, 5 / 30, 5 / 30, 5 / 30]);
  });

  test('keys have their names, and those that share one are distinguished by their ids', () => {
    const key = (name: string, credits: number) => ({ name, requests: 1, credits });
    const rows = keyRows({
      playground: key('Playground', 4),
      key_00000000000000000000000000000001: key('removed key', 2),
      key_00000000000000000000000000000002: key('removed key', 1),
    });
    const names = ['Playground', 'removed key (key_…0001)', 'removed key (key_…0002)'];
    expect(rows.map(({ name }) => name)).toEqual(names);
  });

  test('a small share is not shown as 0%', () => {
    expect([0, 0.001, 0.478].map(shareText)).toEqual(['0%', 'under 1%', '48%']);
    // Without credits.
    expect(typeRows(byType).map(({ share }) => share)).toEqual([0, 0, 0]);
  });

  test('a period in which all requests failed is not untouched, and one without any is, whatever was before it', () => {
    const aggregates = { byType, byIdentity: {}, byKey: {}, byDay: [] };
    const failedAt = (createdAt: string) => ({ status: 'FAILED', createdAt }) as UsageHistoryItem;
    const usage = { licenseId: 'l', stats: stats(0, 10), aggregates };
    expect(isUntouched({ ...usage, history: [failedAt('2026-11-21T12:27:00.000Z')] })).toBe(false);
    expect(isUntouched({ ...usage, history: [failedAt('2026-11-21T12:26:59.999Z')] })).toBe(true);
  });
});
