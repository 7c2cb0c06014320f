import type { DryRunAnswer } from './answer-contract.ts';
import { creditPeriod } from '../licenses/credit-period.ts';
import { usageBlock } from '../licenses/credits.ts';
import type { ExtraLeft } from '../licenses/extra-credits.ts';
import { decideGeneration, type DecisionDeps, type GenerationCommand } from './decide.ts';

export interface DryRun {
  answer: DryRunAnswer;
  /** The request would get the result of an earlier one with the same idempotency key. */
  wouldReplay: boolean;
}

/**
 * Checks a request as POST /generate does before it holds credits, and stores nothing of it. Its answer is true at this moment
 * only: another request may take the credits, or the model. A model that fails or starts is not asked whether it is back.
 * @throws every refusal of POST /generate that comes before the model is called, in the same order.
 */
export async function dryRun(command: GenerationCommand, deps: DecisionDeps): Promise<DryRun> {
  const { license } = command;
  const decided = await decideGeneration(command, deps, { dryRun: true });
  const extra = await deps.periods.extraLeft(license, deps.clock.now());
  if ('first' in decided) {
    const { identity } = decided.first;
    const { startMs, endMs, creditsLimit } = creditPeriod(license, deps.clock.now());
    const { used } = await deps.periods.get(license.licenseId, startMs);
    return { answer: accepted(identity, 0, { used, limit: creditsLimit, endMs, extra }), wouldReplay: true };
  }
  const { generation, period, totals } = decided;
  const usage = { used: totals!.used, limit: period.creditsLimit, endMs: period.endMs, extra };
  return { answer: accepted(generation.identity, generation.credits, usage), wouldReplay: false };
}

function accepted(
  { id, name }: { id: string; name: string },
  credits: number,
  { used, limit, endMs, extra }: { used: number; limit: number; endMs: number; extra: ExtraLeft | null },
): DryRunAnswer {
  return {
    dryRun: true,
    accepted: true,
    identity: { id, name },
    credits,
    usage: usageBlock({ used, limit, charged: 0, periodEndMs: endMs, extra }),
  };
}
