import type { DryRunAnswer } from '../contracts/generation.ts';
import { billingPeriod } from '../domain/billing-period.ts';
import { usageBlock } from '../domain/credits.ts';
import {
  checkCredits,
  decideGeneration,
  type DecisionDeps,
  type GenerationOrder,
} from './decide-generation.ts';

export interface DryRun {
  answer: DryRunAnswer;
  /** The request would be answered with the result of an earlier one that had its idempotency key. */
  wouldReplay: boolean;
}

/**
 * Does to a request what would be done before anything is held for it, and holds and stores nothing. A promise for
 * this moment alone: whoever comes next may take the credits, or the model.
 * @throws every refusal of POST /generate that comes before the model is called, in the same order.
 */
export async function dryRun(order: GenerationOrder, deps: DecisionDeps): Promise<DryRun> {
  const { license } = order;
  const decision = await decideGeneration(order, deps, { keepReferences: false });
  if (decision.outcome === 'repeats') {
    const { identity } = decision.first;
    const { startMs, endMs } = billingPeriod(license.periodAnchorMs, deps.clock.now());
    const { used } = await deps.periods.get(license.licenseId, startMs);
    return { answer: accepted(identity, 0, { used, limit: license.creditsLimit, endMs }), wouldReplay: true };
  }
  const { used } = await checkCredits(decision, license, deps);
  if (decision.obstacle !== null) throw decision.obstacle;
  const { generation, period } = decision;
  const usage = { used, limit: license.creditsLimit, endMs: period.endMs };
  return { answer: accepted(generation.identity, generation.credits, usage), wouldReplay: false };
}

function accepted(
  { id, name }: { id: string; name: string },
  credits: number,
  { used, limit, endMs }: { used: number; limit: number; endMs: number },
): DryRunAnswer {
  return {
    dryRun: true,
    accepted: true,
    identity: { id, name },
    credits,
    usage: usageBlock({ used, limit, charged: 0, periodEndMs: endMs }),
  };
}
