import { billingPeriod, monthAfter, type BillingPeriod } from './billing-period.ts';

/** The time in which a license's credits are counted together, and how many there are. */
export interface CreditPeriod extends BillingPeriod {
  creditsLimit: number;
}

/** The members of a license that decide its credits. */
export interface CreditTerms {
  periodAnchorMs: number;
  creditsLimit: number;
  carried: CreditPeriod | null;
}

/**
 * The credit period that holds an instant. Every reader of a license's credits asks here. It is the anchor's monthly
 * period, unless the license carries an earlier count on: that one holds until its end.
 */
export function creditPeriod(
  { periodAnchorMs, creditsLimit, carried }: CreditTerms,
  nowMs: number,
): CreditPeriod {
  if (carried !== null && nowMs < carried.endMs) return carried;
  return { ...billingPeriod(periodAnchorMs, nowMs), creditsLimit };
}

/**
 * When a period ends that anything was counted in. One of an earlier anchor is a month long, as all are.
 * @param keptMs what was kept with it once it was no longer the license's; null for nothing
 */
export function periodEndMs(
  { periodAnchorMs, carried }: CreditTerms,
  startMs: number,
  keptMs: number | null,
): number {
  // A late event may have made it the license's again.
  if (carried?.startMs === startMs) return carried.endMs;
  if (keptMs !== null) return keptMs;
  const { startMs: sameMs, endMs } = billingPeriod(periodAnchorMs, startMs);
  return sameMs === startMs ? endMs : monthAfter(startMs);
}
