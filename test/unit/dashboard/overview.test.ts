import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { UsageHistoryItem } from '../../../dashboard/src/lib/types.ts';
import { formatNumber, formatUtcDate } from '../../../dashboard/src/lib/format.ts';
import { creditsLeft } from '../../../dashboard/src/lib/credits.ts';
import {
  creditStatus,
  creditWarning,
  resetMoment,
  resetWait,
} from '../../../dashboard/src/screens/overview/credit-status.ts';
import { licenseMessage, planLimits } from '../../../dashboard/src/screens/overview/license-message.ts';
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

  test('the warning begins at 80 percent and no sooner', () => {
    const levels = [799, 800].map((current) => creditStatus(stats(current, 1000)).level);
    expect(levels).toEqual(['ok', 'near']);
    expect(creditWarning(works, stats(799, 1000))).toBeNull();
    expect(creditWarning(works, stats(800, 1000))?.title).toBe('200 credits are left');
    expect(creditWarning(works, stats(999, 1000))?.title).toBe('1 credit is left');
  });

  test('a spent period says when the credits come back', () => {
    const warning = creditWarning(works, stats(1000, 1000));
    expect(creditStatus(stats(1000, 1000))).toMatchObject({ level: 'spent', barPercent: 100 });
    expect(warning?.title).toBe('No credits are left in this period');
    expect(warning?.text).toContain(`${formatUtcDate('2026-12-21')}, in 12 days`);
    expect(warning?.text).not.toContain('lowered');
  });

  test('a limit that was lowered below what is used leaves 0, fills the bar and is explained', () => {
    const over = stats(620, 500);
    expect(creditStatus(over)).toEqual({ level: 'spent', barPercent: 100, percentText: '124%' });
    expect(creditWarning(works, over)?.text).toContain('lowered to 500 after 620 credits');
  });

  test('a limit of 0 promises no new credits', () => {
    const warning = creditWarning(works, stats(0, 0));
    expect(warning?.title).toBe('This license has no credits');
    expect(warning?.text).not.toContain('come back');
  });

  test('a small use is not shown as none', () => {
    expect(creditStatus(stats(3, 4000))).toMatchObject({ percentText: 'under 1%', barPercent: 1 });
    expect(creditStatus(stats(0, 4000))).toMatchObject({ percentText: '0%', barPercent: 0 });
  });

  test('the last day of a period has the time of day', () => {
    expect(resetWait(2)).toBe('2 days');
    expect(resetMoment(stats(1, 10, 2))).toBe(formatUtcDate('2026-12-21'));
    expect(resetWait(1)).toBe('under a day');
    expect(resetMoment(stats(1, 10, 1))).toMatch(/12:27.*UTC$/);
  });
});

describe('the license', () => {
  const active = { status: 'active', usable: true, apiAccess: true, activeUntil: null } as const;

  test('an active license has no message', () => {
    expect(licenseMessage(active, '30 days')).toBeNull();
  });

  test('each reason why nothing is generated has its own title', () => {
    const title = (change: object) =>
      licenseMessage({ ...active, usable: false, ...change }, '30 days')?.title;
    expect(title({ status: 'past_due' })).toBe('This license is past due');
    expect(title({ status: 'ended' })).toBe('This license has ended');
    expect(title({ status: 'ended', apiAccess: false })).toBe('This license has ended');
    expect(title({ apiAccess: false })).toBe('This license has no API access');
    expect(title({ activeUntil: '2026-11-20T00:00:00.000Z' })).toBe('This license has ended');
  });

  test('a license that is past due and still works says that it will not for long', () => {
    const text = (usable: boolean) =>
      licenseMessage({ ...active, status: 'past_due', usable }, '30 days')?.text;
    expect(text(true)).toContain('It works for a few more days');
    expect(text(false)).toContain('It is suspended until it is paid');
  });

  test('an ended license says for how long its requests are kept', () => {
    const { text } = licenseMessage({ ...active, status: 'ended', usable: false }, '30 days')!;
    expect(text).toContain('for the 30 days that requests are kept');
  });

  test('a future end is announced', () => {
    const message = licenseMessage({ ...active, activeUntil: '2026-12-05T00:00:00.000Z' }, '30 days');
    expect(message?.title).toBe(`This license is active until ${formatUtcDate('2026-12-05')}`);
  });

  test('the plan says what a request may ask for', () => {
    const limits = planLimits({ maxOutputs: 1, maxSidePx: 1024 }).replaceAll('\u00a0', ' ');
    const side = formatNumber(1024);
    expect(limits).toBe(`Up to 1 image of ${side} × ${side} px a request`);
  });
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
  const identity = (name: string, requests: number, credits: number) => ({
    name,
    slug: name,
    requests,
    credits,
  });
  const none = { requests: 0, credits: 0 };
  const byType = { text_to_image: none, reference: none, exact_product: none };

  test('rows are sorted by credits, then by requests, then by name', () => {
    const rows = identityRows({
      a: identity('Zinc', 1, 5),
      b: identity('Aurora', 1, 5),
      c: identity('Basalt', 2, 5),
      d: identity('Citrine', 9, 15),
    });
    expect(rows.map(({ name }) => name)).toEqual(['Citrine', 'Basalt', 'Aurora', 'Zinc']);
    expect(rows.map(({ share }) => share)).toEqual([0.5, 5 / 30, 5 / 30, 5 / 30]);
  });

  test('keys have their names, and those that share one are distinguished by their ids', () => {
    const key = (name: string, credits: number) => ({ name, requests: 1, credits });
    const rows = keyRows({
      playground: key('Playground', 4),
      key_00000000000000000000000000000001: key('removed key', 2),
      key_00000000000000000000000000000002: key('removed key', 1),
      key_00000000000000000000000000000003: key('CI', 1),
    });
    expect(rows.map(({ name, share }) => [name, share])).toEqual([
      ['Playground', 0.5],
      ['removed key (key_…0001)', 0.25],
      ['CI', 0.125],
      ['removed key (key_…0002)', 0.125],
    ]);
  });

  test('without credits every share is 0', () => {
    expect(typeRows(byType).map(({ share }) => share)).toEqual([0, 0, 0]);
  });

  test('a small share is not shown as 0%', () => {
    expect(shareText(0.001)).toBe('under 1%');
    expect(shareText(0)).toBe('0%');
    expect(shareText(0.478)).toBe('48%');
  });

  test('a period in which all requests failed is not untouched, and one without any is, whatever was before it', () => {
    const aggregates = { byType, byIdentity: {}, byKey: {}, byDay: [] };
    const failedAt = (createdAt: string) => ({ status: 'FAILED', createdAt }) as UsageHistoryItem;
    const usage = { licenseId: 'l', stats: stats(0, 10), aggregates };
    expect(isUntouched({ ...usage, history: [failedAt('2026-11-21T12:27:00.000Z')] })).toBe(false);
    expect(isUntouched({ ...usage, history: [failedAt('2026-11-21T12:26:59.999Z')] })).toBe(true);
    expect(isUntouched({ ...usage, history: [] })).toBe(true);
  });
});
