import type { Generation } from './generation.ts';
import { itemKeys } from '../table/keys.ts';
import type { Part } from '../table/transact.ts';

/*
 * The credits of a license's period. `committed` is what is used and what is held together; `used` is what completed.
 */

/**
 * Before a period counts requests in flight it has no `committed`, and this condition fails: `enterFlight` says so then.
 * Conditions have no arithmetic, so `committed + credits <= limit` is written as `committed <= limit - credits`.
 */
export function holdCredits(
  { licenseId, periodStartMs, credits }: Generation,
  creditsLimit: number,
): Part<{ outcome: 'over_limit' }> {
  const maxCommitted = creditsLimit - credits;
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: 'committed :credits' },
    condition: 'committed <= :maxCommitted',
    values: { ':credits': credits, ':maxCommitted': maxCommitted },
    refusal: (found) => ((found?.committed ?? 0) > maxCommitted ? { outcome: 'over_limit' } : null),
  };
}

export function chargeCredits({ licenseId, periodStartMs, credits }: Generation): Part {
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: 'used :credits' },
    values: { ':credits': credits },
  };
}

export function returnCredits({ licenseId, periodStartMs, credits }: Generation): Part {
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: 'committed :minusCredits' },
    values: { ':minusCredits': -credits },
  };
}
