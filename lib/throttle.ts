import type { Throttle } from '../shared/routes/route.ts';

/** What API Gateway allows an account in most regions. */
export const accountThrottle: Throttle = { ratePerSecond: 10_000, burst: 5000 };

/** A request that waits for no model holds an execution for less than a tenth of a second. */
const perExecution = 10;
const least = 100;

/**
 * What the whole API takes: what was chosen, or as much as the functions can answer.
 * @param accountConcurrency how many functions the account runs at once; 0 if nobody asked
 */
export function throttleOf(chosen: Throttle | null, accountConcurrency: number): Throttle {
  if (chosen !== null) return chosen;
  const answerable = Math.max(least, perExecution * accountConcurrency);
  const ratePerSecond = Math.min(answerable, accountThrottle.ratePerSecond);
  return { ratePerSecond, burst: Math.min(2 * ratePerSecond, accountThrottle.burst) };
}
