import { generationTypes, type GenerationType } from '../base/generation-kinds.ts';
import { isoTime } from '../base/clock.ts';
import type { UsageAggregates, UsageStats, UsageTally } from './usage-contract.ts';
import type { BillingPeriod } from './billing-period.ts';
import { playgroundKey } from '../base/ids.ts';
import type { CreditPeriod } from './credit-period.ts';
import type { ExtraLeft } from './extra-credits.ts';
import type { Period } from './period-store.ts';
import { tiers, type TierName } from './tiers.ts';

const dayMs = 24 * 3600 * 1000;

/** How a period stands. A limit of 0 is 100 percent used. */
export function usageStats(
  tier: TierName,
  used: number,
  period: CreditPeriod,
  extra: ExtraLeft | null,
  nowMs: number,
): UsageStats {
  const { creditsLimit: limit } = period;
  return {
    current: used,
    limit,
    percentage: limit === 0 ? 100 : Math.floor((100 * used) / limit),
    ...(extra && { extraRemaining: extra.remaining, extraExpiresAt: isoTime(extra.expiresAtMs) }),
    billingPeriodStart: isoTime(period.startMs),
    billingPeriodEnd: isoTime(period.endMs),
    daysRemaining: Math.ceil((period.endMs - nowMs) / dayMs),
    tier: tiers[tier].label,
  };
}

/** What a period counts of COMPLETED requests. */
export type PeriodTallies = Pick<Period, 'byType' | 'byIdentity' | 'byDay'> & {
  byKey: Record<string, UsageTally>;
};

/** The names of what a period's statistics are about, where they are known. */
export interface NamesInUse {
  identities: { identityId: string; name: string; slug: string }[];
  keys: { keyId: string; name: string }[];
}

/** The ids of the keys that completed something in a period. */
export function keysInUse({ byKey }: Pick<PeriodTallies, 'byKey'>): string[] {
  return Object.keys(byKey).filter((keyId) => keyId !== playgroundKey && byKey[keyId]!.requests > 0);
}

/** A period's statistics. Identities and keys have their present names; an identity that is gone is named by its id. */
export function usageAggregates(
  tallies: PeriodTallies,
  { identities, keys }: NamesInUse,
  period: BillingPeriod,
  nowMs: number,
): UsageAggregates {
  const known = new Map(identities.map((identity) => [identity.identityId, identity]));
  const named = ([identityId, tally]: [string, UsageTally]) => {
    const { name, slug } = known.get(identityId) ?? { name: identityId, slug: identityId };
    return [identityId, { name, slug, ...tally }] as const;
  };
  const ofType = (type: GenerationType) => [type, tallies.byType[type] ?? nothing] as const;
  return {
    byType: Object.fromEntries(generationTypes.map(ofType)) as UsageAggregates['byType'],
    byIdentity: Object.fromEntries(Object.entries(tallies.byIdentity).map(named)),
    byKey: usageByKey(tallies.byKey, keys),
    byDay: usageByDay(tallies.byDay, period, nowMs),
  };
}

/** The ids of those that used most, at most three. */
export function keysThatUsedMost(period: Pick<PeriodTallies, 'byKey'>): string[] {
  const { byKey } = period;
  const used = Object.keys(byKey).filter((keyId) => byKey[keyId]!.credits > 0);
  return used.sort((a, b) => byKey[b]!.credits - byKey[a]!.credits).slice(0, 3);
}

/** A key's present name is read beside its tally, and one that was removed has none left. */
const removedKeyName = 'removed key';

/** What keys used, with their present names. */
export function usageByKey(
  byKey: Record<string, UsageTally>,
  keys: NamesInUse['keys'],
): UsageAggregates['byKey'] {
  const names = new Map(keys.map(({ keyId, name }) => [keyId, name]));
  names.set(playgroundKey, 'Playground');
  const named = Object.entries(byKey)
    // One that only holds credits so far has used none.
    .filter(([, { requests }]) => requests > 0)
    .map(([keyId, { requests, credits }]) => {
      return [keyId, { name: names.get(keyId) ?? removedKeyName, requests, credits }] as const;
    });
  return Object.fromEntries(named);
}

const nothing: UsageTally = { requests: 0, credits: 0 };

/**
 * Every UTC day of a period until today. A request that was accepted in the period's last minutes may complete on the
 * day after it. That day is listed then too, so that the sum of the days is the sum of the types.
 */
function usageByDay(
  byDay: Record<string, UsageTally>,
  period: BillingPeriod,
  nowMs: number,
): UsageAggregates['byDay'] {
  const firstMs = Math.floor(period.startMs / dayMs) * dayMs;
  const days: UsageAggregates['byDay'] = [];
  for (let atMs = firstMs; atMs < period.endMs + dayMs; atMs += dayMs) {
    const date = new Date(atMs).toISOString().slice(0, 10);
    const tally = byDay[date.slice(5, 7) + date.slice(8, 10)];
    if (tally !== undefined || (atMs <= nowMs && atMs < period.endMs))
      days.push({ date, ...(tally ?? nothing) });
  }
  return days;
}
