import type { BillingPeriod } from './billing-period.ts';
import { generationTypes, type GenerationType } from './generation.ts';
import type { License } from './license.ts';
import { tiers } from './tiers.ts';

/** How a billing period stands. */
export interface UsageStats {
  /** Credits used. */
  current: number;
  limit: number;
  /** Whole percent of the limit, rounded down; over 100 when the limit was lowered below what is used. */
  percentage: number;
  /** ISO 8601 UTC. */
  billingPeriodStart: string;
  billingPeriodEnd: string;
  /** Started days until the period's end. */
  daysRemaining: number;
  /** The tier's label. */
  tier: string;
}

const dayMs = 24 * 3600 * 1000;

/** Nothing is left of a limit of nothing, so that is 100 percent used. */
export function usageStats(
  license: Pick<License, 'tier' | 'creditsLimit'>,
  used: number,
  period: BillingPeriod,
  nowMs: number,
): UsageStats {
  const limit = license.creditsLimit;
  return {
    current: used,
    limit,
    percentage: limit === 0 ? 100 : Math.floor((100 * used) / limit),
    billingPeriodStart: new Date(period.startMs).toISOString(),
    billingPeriodEnd: new Date(period.endMs).toISOString(),
    daysRemaining: Math.ceil((period.endMs - nowMs) / dayMs),
    tier: tiers[license.tier].label,
  };
}

/** COMPLETED requests and what they were charged. */
export interface UsageTally {
  requests: number;
  credits: number;
}

export interface UsageAggregates {
  /** Every type, those without a request too. */
  byType: Record<GenerationType, UsageTally>;
  /** By the identity's id. */
  byIdentity: Record<string, UsageTally & { name: string; slug: string }>;
}

/** A period's statistics with the names of the identities as they are now; one that is gone goes by its id. */
export function usageAggregates(
  tallies: { byType: Partial<Record<GenerationType, UsageTally>>; byIdentity: Record<string, UsageTally> },
  identities: { identityId: string; name: string; slug: string }[],
): UsageAggregates {
  const known = new Map(identities.map((identity) => [identity.identityId, identity]));
  const named = ([identityId, tally]: [string, UsageTally]) => {
    const { name, slug } = known.get(identityId) ?? { name: identityId, slug: identityId };
    return [identityId, { name, slug, ...tally }] as const;
  };
  const ofType = (type: GenerationType) =>
    [type, tallies.byType[type] ?? { requests: 0, credits: 0 }] as const;
  return {
    byType: Object.fromEntries(generationTypes.map(ofType)) as UsageAggregates['byType'],
    byIdentity: Object.fromEntries(Object.entries(tallies.byIdentity).map(named)),
  };
}
