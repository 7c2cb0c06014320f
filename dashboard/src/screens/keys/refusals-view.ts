import type { RefusalDay } from '../../lib/types.ts';

/** What can be looked at: so many days of UTC, today included. */
export const refusalRanges = [
  { days: 1, label: 'Today', words: 'today' },
  { days: 7, label: '7 days', words: 'in the last 7 days' },
  { days: 30, label: '30 days', words: 'in the last 30 days' },
] as const;
export type RefusalRange = (typeof refusalRanges)[number];

export interface CodeCount {
  code: string;
  count: number;
  /** Newest first, only those with refusals. */
  days: { date: string; count: number }[];
}

export interface CallerRefusals {
  /** Null for the playground. */
  keyId: string | null;
  count: number;
  codes: CodeCount[];
}

const dayMs = 24 * 3600 * 1000;

/** What was refused of each key and of the playground, the largest count first, and so are its codes. */
export function refusalsIn(
  days: readonly RefusalDay[],
  range: RefusalRange,
  nowMs: number,
): CallerRefusals[] {
  const first = new Date(nowMs - (range.days - 1) * dayMs).toISOString().slice(0, 10);
  const callers = new Map<string | null, Map<string, CodeCount>>();
  for (const { date, refusals } of days) {
    // Dates of this form are in the order of time.
    if (date < first) continue;
    for (const { keyId, code, count } of refusals) {
      const codes = callers.get(keyId) ?? new Map<string, CodeCount>();
      const known = codes.get(code) ?? { code, count: 0, days: [] };
      callers.set(keyId, codes);
      codes.set(code, { code, count: known.count + count, days: [...known.days, { date, count }] });
    }
  }
  return [...callers]
    .map(([keyId, byCode]) => {
      const codes = [...byCode.values()].sort(byCount);
      return { keyId, count: sumOf(codes), codes };
    })
    .sort(byCount);
}

export function sumOf(counts: readonly { count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}

function byCount(one: { count: number }, other: { count: number }): number {
  return other.count - one.count;
}
