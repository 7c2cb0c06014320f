import { describe, expect, test } from '@jest/globals';
import {
  refusalRanges,
  refusalsIn,
  type RefusalRange,
} from '../../../dashboard/src/screens/keys/refusals-view.ts';

const [today, week, month] = refusalRanges as readonly RefusalRange[] as [
  RefusalRange,
  RefusalRange,
  RefusalRange,
];
const nowMs = Date.parse('2026-11-24T00:10:00Z');

const day = (date: string, ...refusals: [keyId: string | null, code: string, count: number][]) => ({
  date,
  refusals: refusals.map(([keyId, code, count]) => ({ keyId, code, count })),
});
const days = [
  day('2026-11-24', ['key_1', 'TIER_LIMIT', 2], [null, 'TIER_LIMIT', 1]),
  day('2026-11-18', ['key_1', 'TIER_LIMIT', 5]),
  day('2026-11-17', ['key_1', 'RATE_LIMITED', 40], ['key_2', 'NOT_FOUND', 90]),
  day('2026-10-26', [null, 'TIER_LIMIT', 100]),
];

describe('refused calls', () => {
  test('are those of the days of UTC that were asked for, today included', () => {
    const totals = (range: RefusalRange) =>
      refusalsIn(days, range, nowMs).map(({ keyId, count }) => [keyId, count]);
    expect(totals(today)).toEqual([
      ['key_1', 2],
      [null, 1],
    ]);
    expect(totals(week)).toEqual([
      ['key_1', 7],
      [null, 1],
    ]);
    expect(totals(month)).toEqual([
      [null, 101],
      ['key_2', 90],
      ['key_1', 47],
    ]);
    expect(refusalsIn([], month, nowMs)).toEqual([]);
  });

  test('of a key are counted by code, the most frequent first, with the days of each', () => {
    const [, , one] = refusalsIn(days, month, nowMs);
    expect(one!.codes).toEqual([
      { code: 'RATE_LIMITED', count: 40, days: [{ date: '2026-11-17', count: 40 }] },
      {
        code: 'TIER_LIMIT',
        count: 7,
        days: [
          { date: '2026-11-24', count: 2 },
          { date: '2026-11-18', count: 5 },
        ],
      },
    ]);
  });
});
