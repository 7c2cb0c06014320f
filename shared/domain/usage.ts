import { generationTypes, type GenerationType } from '../contracts/generation.ts';
import { isoTime } from './clock.ts';
import type { UsageAggregates, UsageHistoryItem, UsageStats, UsageTally } from '../contracts/usage.ts';
import type { BillingPeriod } from './billing-period.ts';
import { creditsCharged, type Generation } from './generation.ts';
import type { CreditPeriod } from './credit-period.ts';
import { tiers, type TierName } from './tiers.ts';

const dayMs = 24 * 3600 * 1000;

/** How a period stands. A limit of 0 is 100 percent used. */
export function usageStats(tier: TierName, used: number, period: CreditPeriod, nowMs: number): UsageStats {
  const { creditsLimit: limit } = period;
  return {
    current: used,
    limit,
    percentage: limit === 0 ? 100 : Math.floor((100 * used) / limit),
    billingPeriodStart: isoTime(period.startMs),
    billingPeriodEnd: isoTime(period.endMs),
    daysRemaining: Math.ceil((period.endMs - nowMs) / dayMs),
    tier: tiers[tier].label,
  };
}

/** What a period counts of COMPLETED requests. Days are named `MMDD`: a period holds each at most once. */
export interface PeriodTallies {
  byType: Partial<Record<GenerationType, UsageTally>>;
  byIdentity: Record<string, UsageTally>;
  byDay: Record<string, UsageTally>;
}

/** A period's statistics. Identities have their present names; one that is gone is named by its id. */
export function usageAggregates(
  tallies: PeriodTallies,
  identities: { identityId: string; name: string; slug: string }[],
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
    byDay: usageByDay(tallies.byDay, period, nowMs),
  };
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

/** A request as the period's history lists it. */
export function usageHistoryItem(generation: Generation): UsageHistoryItem {
  const { requestId, type, status, identity, numOutputs, createdAtMs, completedAtMs } = generation;
  return {
    requestId,
    type,
    status,
    identity,
    numOutputs,
    creditsCharged: creditsCharged(generation),
    createdAt: isoTime(createdAtMs),
    completedAt: isoTime(completedAtMs),
  };
}
