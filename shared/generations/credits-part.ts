import type { Generation } from './generation.ts';
import type { Item } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';
import type { Part } from '../table/transact.ts';

/*
 * The credits of a license's period. `committed` is what is used and what is held together; `used` is what completed;
 * `fromExtra` is the part of `committed` that extra credits pay for, which are not the period's own.
 */

/** The license's own credits do not suffice, or not as the period was known. @param period as it was found */
export type OverLimit = { outcome: 'over_limit'; period: Item | undefined };

/**
 * Holds what extra credits do not pay for. Before a period counts requests in flight it has no `committed`, and this condition
 * fails: `enterFlight` says so then. Conditions have no arithmetic, so `committed - fromExtra + own <= limit` is written as
 * `committed <= limit - own + known`, where `fromExtra` is `known` or has risen since.
 * @param known what extra credits pay for in the period; null where it is not known, which is refused if they pay for any. So
 *   a copy of such an attempt that the network brings late does nothing once another has taken extra credits.
 */
export function holdCredits(
  generation: Generation,
  creditsLimit: number,
  known: number | null = null,
): Part<OverLimit> {
  const { licenseId, periodStartMs, credits } = generation;
  const extra = extraOf(generation);
  const own = credits - extra;
  const maxCommitted = creditsLimit - own + (known ?? 0);
  const conditions = [
    // A limit that was lowered may be below what is committed: whoever needs nothing of it does not ask.
    own > 0 ? 'committed <= :maxCommitted' : null,
    known === null ? 'attribute_not_exists(fromExtra)' : null,
    own > 0 && known ? 'fromExtra >= :knownExtra' : null,
  ].filter((condition) => condition !== null);
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: `committed :credits${extra > 0 ? ', fromExtra :extra' : ''}` },
    ...(conditions.length > 0 && { condition: conditions.join(' AND ') }),
    values: {
      ':credits': credits,
      ...(own > 0 && { ':maxCommitted': maxCommitted }),
      ...(own > 0 && known && { ':knownExtra': known }),
      ...(extra > 0 && { ':extra': extra }),
    },
    refusal: (period) => {
      const fits = own === 0 || (period?.committed ?? 0) <= maxCommitted;
      const { fromExtra } = period ?? {};
      const isAsKnown = known === null ? fromExtra === undefined : own === 0 || (fromExtra ?? 0) >= known;
      return fits && isAsKnown ? null : { outcome: 'over_limit', period };
    },
  };
}

/** Takes extra credits from the balances that the request names. Refused where one of them has fewer by now. */
export function takeExtra({ licenseId, fromExtra }: Generation): Part<{ outcome: 'extra_taken' }> | null {
  if (fromExtra === null) return null;
  const balances = Object.values(fromExtra);
  return {
    ...addToBalances(licenseId, fromExtra, -1),
    condition: balances.map((_, i) => `#b${i} >= :most${i}`).join(' AND '),
    values: Object.fromEntries(
      balances.flatMap((credits, i) => [
        [`:b${i}`, -credits],
        [`:most${i}`, credits],
      ]),
    ),
    refusal: () => ({ outcome: 'extra_taken' }),
  };
}

/** Each goes back where it came from: what has expired meanwhile stays expired. */
export function returnExtra({ licenseId, fromExtra }: Generation): Part | null {
  return fromExtra === null ? null : addToBalances(licenseId, fromExtra, 1);
}

function addToBalances(licenseId: string, fromExtra: Record<string, number>, sign: 1 | -1): Part {
  const balances = Object.entries(fromExtra);
  return {
    key: itemKeys.extraCredits(licenseId),
    update: { ADD: balances.map((_, i) => `#b${i} :b${i}`).join(', ') },
    names: Object.fromEntries(balances.map(([name], i) => [`#b${i}`, name])),
    values: Object.fromEntries(balances.map(([, credits], i) => [`:b${i}`, sign * credits])),
  };
}

function extraOf({ fromExtra }: Pick<Generation, 'fromExtra'>): number {
  return Object.values(fromExtra ?? {}).reduce((sum, credits) => sum + credits, 0);
}

export function chargeCredits({ licenseId, periodStartMs, credits }: Generation): Part {
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: 'used :credits' },
    values: { ':credits': credits },
  };
}

export function returnCredits({ licenseId, periodStartMs, credits, fromExtra }: Generation): Part {
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: `committed :minusCredits${fromExtra === null ? '' : ', fromExtra :minusExtra'}` },
    values: {
      ':minusCredits': -credits,
      ...(fromExtra !== null && { ':minusExtra': -extraOf({ fromExtra }) }),
    },
  };
}
