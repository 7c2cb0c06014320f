/** Ranges that are chosen by name. The address has the name, so a link means the same tomorrow as today: the last days. */
export const namedRanges = {
  today: 'Today',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  period: 'This billing period',
} as const;

export type NamedRange = keyof typeof namedRanges;

/** Days of the reader's own calendar, `YYYY-MM-DD`. */
export interface TimeRange {
  range?: NamedRange | undefined;
  /** The first day. */
  from?: string | undefined;
  /** The last day, which is part of the range. */
  to?: string | undefined;
}

interface Bounds {
  createdAfter?: string;
  createdBefore?: string;
}

/** Whether a text is a day that the calendar has. */
export function isDay(text: string): boolean {
  return /^20\d\d-\d\d-\d\d$/.test(text) && startOfDay(text, 0).getDate() === Number(text.slice(8));
}

/** The instants that a range begins and ends with, for the API. */
export function boundsOf({ range, from, to }: TimeRange, nowMs: number, periodStart: string): Bounds {
  if (range === 'period') return { createdAfter: periodStart };
  if (range !== undefined) return { createdAfter: daysAgo(nowMs, { today: 0, '7d': 6, '30d': 29 }[range]) };
  return {
    ...(from !== undefined && { createdAfter: startOfDay(from, 0).toISOString() }),
    ...(to !== undefined && { createdBefore: startOfDay(to, 1).toISOString() }),
  };
}

/** The beginning of a day, or of the day that comes so many days after it. */
function startOfDay(day: string, later: number): Date {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return new Date(year, month - 1, date + later);
}

function daysAgo(nowMs: number, days: number): string {
  const now = new Date(nowMs);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).toISOString();
}

/** A day for an `<input type="date">`. */
export function dayOf(ms: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
