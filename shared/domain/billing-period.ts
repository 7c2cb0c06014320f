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

function addMonths(anchor: Date, months: number): number {
  const year = anchor.getUTCFullYear();
  const month = anchor.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const timeOfDayMs = anchor.getTime() - Date.UTC(year, anchor.getUTCMonth(), anchor.getUTCDate());
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay)) + timeOfDayMs;
}
