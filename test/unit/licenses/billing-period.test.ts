import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { billingPeriod, periodsBetween } from '../../../shared/licenses/billing-period.ts';
import { anyInstantMs } from '../../support/unit-samples.ts';

test.each([
  ['2025-01-31', '2025-02-10', '2025-01-31', '2025-02-28'],
  ['2024-02-29', '2028-02-29', '2028-02-29', '2028-03-29'],
  ['2099-12-31', '2100-03-01', '2100-02-28', '2100-03-31'],
  // An anchor in the future counts back.
  ['2030-05-31', '2025-02-15', '2025-01-31', '2025-02-28'],
])(
  'a period begins on the day of its anchor (%s), or on the last of a shorter month: on %s it is from %s to %s',
  (anchor, now, ...expected) => {
    const { startMs, endMs } = billingPeriod(Date.parse(anchor), Date.parse(now));
    expect([startMs, endMs].map((ms) => new Date(ms).toISOString().slice(0, 10))).toEqual(expected);
  },
);

test('parts of periods add up, each by its own length', () => {
  const [anchorMs, ...days] = ['01-01', '01-16T12:00Z', '02-01', '02-15', '03-01'].map((day) =>
    Date.parse(`2026-${day}`),
  );
  const [middleMs, februaryMs, laterMs, marchMs] = days as [number, number, number, number];
  const between = (fromMs: number, toMs: number) => periodsBetween(anchorMs!, fromMs, toMs);
  expect([between(middleMs, februaryMs), between(middleMs, laterMs), between(middleMs, marchMs)]).toEqual([
    0.5, 1, 1.5,
  ]);
  expect([between(middleMs, middleMs), between(marchMs, middleMs)]).toEqual([0, 0]);
});

describe('for any anchor and any instant', () => {
  test('periods tile time: the next begins where one ends, and the one before ends where it begins', () => {
    fc.assert(
      fc.property(anyInstantMs, anyInstantMs, (anchorMs, nowMs) => {
        const { startMs, endMs } = billingPeriod(anchorMs, nowMs);
        expect(billingPeriod(anchorMs, endMs).startMs).toBe(endMs);
        expect(billingPeriod(anchorMs, startMs - 1).endMs).toBe(startMs);
      }),
    );
  });

  test('it is what a walk from the anchor, month by month over a calendar, finds', () => {
    fc.assert(
      fc.property(nearbyInstants, ([anchorMs, nowMs]) => {
        expect(billingPeriod(anchorMs, nowMs)).toEqual(walk(anchorMs, nowMs));
      }),
    );
  });
});

/** At most some eight years apart, so that walking stays quick. */
const nearbyInstants = anyInstantMs.chain((anchorMs) =>
  fc.tuple(
    fc.constant(anchorMs),
    fc.integer({ min: anchorMs - 3000 * 24 * 3600 * 1000, max: anchorMs + 3000 * 24 * 3600 * 1000 }),
  ),
);

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The model: a calendar of its own, strings instead of date arithmetic, one month after the other. */
function walk(anchorMs: number, nowMs: number): { startMs: number; endMs: number } {
  const [date, time] = new Date(anchorMs).toISOString().split('T') as [string, string];
  const [anchorYear, anchorMonth, anchorDay] = date.split('-').map(Number) as [number, number, number];
  const startOf = (year: number, month: number): number => {
    const leapDay = month === 2 && (year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0)) ? 1 : 0;
    const day = Math.min(anchorDay, monthLengths[month - 1]! + leapDay);
    const two = (n: number) => String(n).padStart(2, '0');
    return Date.parse(`${year}-${two(month)}-${two(day)}T${time}`);
  };
  let [year, month] = [anchorYear, anchorMonth];
  while (startOf(year, month) > nowMs) [year, month] = month === 1 ? [year - 1, 12] : [year, month - 1];
  for (;;) {
    const [nextYear, nextMonth] = month === 12 ? [year + 1, 1] : [year, month + 1];
    const endMs = startOf(nextYear, nextMonth);
    if (endMs > nowMs) return { startMs: startOf(year, month), endMs };
    [year, month] = [nextYear, nextMonth];
  }
}
