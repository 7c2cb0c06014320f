import { billingPeriod } from '../../shared/domain/billing-period.ts';
import { generationStore } from '../../shared/store/generation-store.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import { periodStore } from '../../shared/store/period-store.ts';
import type { Table } from '../../shared/store/table.ts';

/**
 * What must hold once nothing runs: every credit that is committed was charged for a request that completed, and
 * nobody has used more than their limit.
 * @returns a sentence for each license whose books are wrong.
 */
export async function wrongBooks(table: Table, licenseIds: string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const licenseId of licenseIds) {
    const license = (await licenseStore(table).get(licenseId))!;
    const { startMs } = billingPeriod(license.periodAnchorMs, Date.now());
    const { used, committed } = await periodStore(table).get(licenseId, startMs);
    const generations = await generationStore(table).list(licenseId, 1000, null);
    const charged = generations
      .filter(({ status }) => status === 'COMPLETED')
      .reduce((sum, { credits }) => sum + credits, 0);
    if (used !== charged || used !== committed || used > license.creditsLimit) {
      problems.push(`${licenseId}: ${used} used, ${committed} committed, ${charged} charged.`);
    }
  }
  return problems;
}
