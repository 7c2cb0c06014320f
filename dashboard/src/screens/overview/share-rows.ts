import type { GenerationType, UsageAggregates, UsageAnswer, UsageTally } from '../../lib/types.ts';
import { shortId } from '../../lib/format.ts';
import { typeLabels } from '../../lib/outputs.ts';

export interface ShareRow extends UsageTally {
  id: string;
  name: string;
  /** Of all credits, 0 to 1. */
  share: number;
}

/** Most credits first. */
export function identityRows(byIdentity: UsageAggregates['byIdentity']): ShareRow[] {
  return withShares(Object.entries(byIdentity).map(([id, tally]) => ({ id, ...tally })));
}

/** Most credits first. Keys of one name, and removed keys, which have none left, are distinguished by their ids. */
export function keyRows(byKey: UsageAggregates['byKey']): ShareRow[] {
  const keys = Object.entries(byKey).map(([id, tally]) => ({ id, ...tally }));
  const isShared = (name: string) => keys.filter((key) => key.name === name).length > 1;
  return withShares(
    keys.map((key) => (isShared(key.name) ? { ...key, name: `${key.name} (${shortId(key.id)})` } : key)),
  );
}

/** Most credits first; types without a request are listed too. */
export function typeRows(byType: UsageAggregates['byType']): ShareRow[] {
  const types = Object.entries(byType) as [GenerationType, UsageTally][];
  return withShares(types.map(([id, tally]) => ({ id, name: typeLabels[id] ?? id, ...tally })));
}

function withShares(tallies: (UsageTally & { id: string; name: string })[]): ShareRow[] {
  const total = tallies.reduce((sum, { credits }) => sum + credits, 0);
  return tallies
    .map(({ id, name, requests, credits }) => ({
      id,
      name,
      requests,
      credits,
      share: total === 0 ? 0 : credits / total,
    }))
    .sort((a, b) => b.credits - a.credits || b.requests - a.requests || a.name.localeCompare(b.name));
}

/** `48%`, and `under 1%` for what is little but not nothing. */
export function shareText(share: number): string {
  const percent = Math.round(share * 100);
  return percent === 0 && share > 0 ? 'under 1%' : `${percent}%`;
}

/** COMPLETED requests of the period. */
export function completedRequests({ aggregates }: UsageAnswer): number {
  return Object.values(aggregates.byType).reduce((sum, { requests }) => sum + requests, 0);
}

/** Whether the period has no request, not even a failed one. */
export function isUntouched(usage: UsageAnswer): boolean {
  const { billingPeriodStart } = usage.stats;
  const hasRequest = usage.history.some(({ createdAt }) => createdAt >= billingPeriodStart);
  return !hasRequest && completedRequests(usage) === 0;
}
