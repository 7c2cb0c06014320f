import type { Configuration } from '../../lib/configuration.ts';
import { Failure } from '../common/failure.ts';
import { monthlyBill, sumOf } from './model.ts';
import { usualWorkload } from './workload.ts';

/** Room for a service that grows; a bill beyond it is news. */
const timesTheBill = 3;

/** What `"monthlyBudgetUsd": "usual"` means, in whole hundreds of US dollars; null where nobody knows the instances' price, or which they are. */
export function usualBudgetUsd(configuration: Configuration): number | null {
  // The account pays for an endpoint of its own, too.
  if (configuration.inference.kind === 'existing') return null;
  try {
    const { lines } = monthlyBill(configuration, usualWorkload(configuration));
    return Math.ceil((timesTheBill * sumOf(lines)) / 100) * 100;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}
