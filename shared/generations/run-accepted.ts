import type { Generation } from './generation.ts';
import type { IdentityCatalog } from '../identities/store.ts';
import { RunLost } from './record-part.ts';
import type { GenerationRef } from './worker-contract.ts';
import { ServiceError } from '../base/errors.ts';
import { countError } from '../base/meter.ts';
import { discardReferences, type DiscardDeps } from '../references/discard-references.ts';
import { newRun, generateAndSettle, releaseAfterFailure, type Run, type RunDeps } from './settle.ts';
import { waitForModel } from './wait-for-model.ts';

export interface AcceptedRunDeps extends RunDeps, DiscardDeps {
  objects: RunDeps['objects'] & DiscardDeps['objects'];
  identities: Pick<IdentityCatalog, 'get'>;
}

/**
 * Runs a request that was accepted to be answered later: settled or released, and its references deleted, before this
 * returns. It waits for a model that is scaled to zero or busy. Lambda may bring a request several times: only one run goes on.
 * @param invocation how the ids of its runs begin.
 * @returns the request as it ended; null where there was nothing to run, or another run has it.
 * @throws when the outcome can't be stored.
 */
export async function runAccepted(
  ref: GenerationRef,
  deps: AcceptedRunDeps,
  invocation?: string,
): Promise<Generation | null> {
  const generation = await deps.generations.get(ref.licenseId, ref.requestId);
  if (generation?.status !== 'QUEUED') return null;
  const run = newRun(generation, invocation);
  try {
    const ended = await runOwn(run, deps);
    // Now, beside its end: an hour's credits are compared, and this request may have waited long.
    deps.meter.add('creditsReserved', generation.credits);
    await discardReferences(generation, generation.referenceImages, deps);
    return ended;
  } catch (error) {
    // What the request has, its references too, belongs to the run that goes on.
    if (error instanceof RunLost) return null;
    throw error;
  }
}

async function runOwn(run: Run, deps: AcceptedRunDeps): Promise<Generation> {
  const { generation, runId } = run;
  const options = { generate: waitForModel, waitMetric: 'asyncWait', observer: {} } as const;
  try {
    return await generateAndSettle(run, await activeIdentity(generation, deps), options, deps);
  } catch (error) {
    if (error instanceof RunLost) throw error;
    const ended = await releaseAfterFailure(generation, error, runId, deps);
    if (ended.errorCode !== null) countError(deps.meter, ended.errorCode, error);
    return ended;
  }
}

async function activeIdentity({ identity: { id, name } }: Generation, { identities }: AcceptedRunDeps) {
  const identity = await identities.get(id);
  const model = identity?.model ?? null;
  if (identity !== null && model !== null) return { ...identity, model };
  const sentence = `${name} has no active model any more. Try again later, or use another identity.`;
  throw new ServiceError('SERVICE_UNAVAILABLE', sentence, { noFault: true });
}
