import type { UsageAggregates, UsageStats, UsageTally } from '../../lib/types.ts';

const dayMs = 24 * 3600 * 1000;

export interface PeriodDay {
  /** UTC, `YYYY-MM-DD`. */
  date: string;
  /** Null for a day that is still to come. */
  tally: UsageTally | null;
}

type Period = Pick<UsageStats, 'billingPeriodStart' | 'billingPeriodEnd'>;

/** Every UTC day that the period touches, oldest first, and days beyond it that were charged. */
export function periodDays(period: Period, byDay: UsageAggregates['byDay']): PeriodDay[] {
  const tallies = new Map(byDay.map(({ date, requests, credits }) => [date, { requests, credits }]));
  const startMs = Date.parse(period.billingPeriodStart);
  const endMs = Date.parse(period.billingPeriodEnd);
  const dates = new Set(tallies.keys());
  for (let atMs = Math.floor(startMs / dayMs) * dayMs; atMs < endMs; atMs += dayMs)
    dates.add(new Date(atMs).toISOString().slice(0, 10));
  return [...dates].sort().map((date) => ({ date, tally: tallies.get(date) ?? null }));
}

/** The number of days that have figures: they come first, today last. */
export function knownDays(days: PeriodDay[]): number {
  return days.findLastIndex(({ tally }) => tally !== null) + 1;
}

export function sumOfDays(days: PeriodDay[]): UsageTally {
  const sum = { requests: 0, credits: 0 };
  for (const { tally } of days) {
    sum.requests += tally?.requests ?? 0;
    sum.credits += tally?.credits ?? 0;
  }
  return sum;
}

/** Indexes of the days that an axis names: evenly spread from the first, at most `most` of them. */
export function dayTicks(count: number, most: number): number[] {
  const step = [1, 2, 5, 7, 10, 14].find((days) => Math.ceil(count / days) <= most) ?? count;
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
}

/** The day that a key moves to, among `known` days; null for keys that move nowhere. */
export function dayAfterKey(key: string, from: number, known: number): number | null {
  const last = known - 1;
  const moves: Record<string, number> = {
    ArrowLeft: from - 1,
    ArrowDown: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from + 1,
    PageDown: from - 7,
    PageUp: from + 7,
    Home: 0,
    End: last,
  };
  const to = moves[key];
  return to === undefined ? null : Math.min(last, Math.max(0, to));
}

/** The day below a pointer, by how far right it is in the plot (0 to 1); null beside it and for days to come. */
export function dayAtFraction(fraction: number, count: number, known: number): number | null {
  const index = Math.floor(fraction * count);
  return index >= 0 && index < known ? index : null;
}
