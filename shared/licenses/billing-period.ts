export interface BillingPeriod {
  /** Milliseconds since 1970, inclusive. */
  startMs: number;
  /** Exclusive: the next period's start. */
  endMs: number;
}

/**
 * The monthly period that holds an instant. Periods begin on the anchor's day and time of day, UTC; in a month
 * without that day they begin on its last. Each is counted from the anchor itself, so a period begins on the 31st again
 * after February. Instants before the anchor belong to periods too.
 */
export function billingPeriod(anchorMs: number, nowMs: number): BillingPeriod {
  const anchor = new Date(anchorMs);
  const now = new Date(nowMs);
  let months =
    (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth();
  if (addMonths(anchor, months) > nowMs) months -= 1;
  return { startMs: addMonths(anchor, months), endMs: addMonths(anchor, months + 1) };
}

/** The first start of a period, by this anchor, at a moment or after it. */
export function periodStartFrom(anchorMs: number, fromMs: number): number {
  const { startMs, endMs } = billingPeriod(anchorMs, fromMs);
  return startMs === fromMs ? fromMs : endMs;
}

/** The same time of a day in the next month or a later one, or of its last day where it has no such day. */
export function monthAfter(atMs: number, months = 1): number {
  return addMonths(new Date(atMs), months);
}

export function isPeriodStart(anchorMs: number, atMs: number): boolean {
  return billingPeriod(anchorMs, atMs).startMs === atMs;
}

/** How many of an anchor's periods lie between two instants, parts of periods included: half a period is 0.5. */
export function periodsBetween(anchorMs: number, fromMs: number, toMs: number): number {
  if (toMs <= fromMs) return 0;
  const { startMs, endMs } = billingPeriod(anchorMs, fromMs);
  const untilMs = Math.min(toMs, endMs);
  return (untilMs - fromMs) / (endMs - startMs) + periodsBetween(anchorMs, untilMs, toMs);
}

function addMonths(anchor: Date, months: number): number {
  const year = anchor.getUTCFullYear();
  const month = anchor.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const timeOfDayMs = anchor.getTime() - Date.UTC(year, anchor.getUTCMonth(), anchor.getUTCDate());
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay)) + timeOfDayMs;
}
