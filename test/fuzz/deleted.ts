import type { Item } from '../../shared/table/table.ts';
import { inFlightSortKey } from '../../shared/table/keys.ts';
import { periodFromItem } from '../../shared/licenses/period-store.ts';

/**
 * Stand-ins for the charged requests that were deleted in the run. A deletion leaves the totals as they are, so where the
 * statistics of a period count more requests than are stored, those were deleted, and cost what is used beyond the others.
 */
export function deletedRequests(items: Item[]): Item[] {
  const charged = items.filter(({ PK, status }) => PK.startsWith('GEN#') && status === 'COMPLETED');
  const periods = items.filter(({ PK, SK }) => PK.startsWith('PERIOD#') && SK !== inFlightSortKey);
  return periods.flatMap((item) => {
    const PK = item.PK.replace('PERIOD#', 'GEN#');
    const periodStartMs = Date.parse(item.SK);
    const own = charged.filter((each) => each.PK === PK && each.periodStartMs === periodStartMs);
    const { used, imported, byType } = periodFromItem(item);
    const requests = Object.values(byType).reduce((sum, tally) => sum + tally.requests, 0) - own.length;
    const credits = own.reduce((left, each) => left - each.credits, used - imported);
    return Array.from({ length: Math.max(0, requests) }, (_, i) => ({
      PK,
      SK: `deleted ${i}`,
      periodStartMs,
      status: 'COMPLETED',
      credits: i === 0 ? credits - (requests - 1) : 1,
    }));
  });
}
