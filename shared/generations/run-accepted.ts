import { countRefusedRun, type RefusedRunDeps } from './count-refused-run.ts';
import type { Generation } from './generation.ts';
import type { IdentityCatalog } from '../identities/store.ts';
import { RunLost } from './record-part.ts';
import type { GenerationRef } from './queue-contract.ts';
import { ServiceError } from '../base/errors.ts';
import { countError } from '../base/meter.ts';
import { discardReferences, type DiscardDeps } from '../references/discard-references.ts';
import { newRun, generateAndSettle, releaseAfterFailure, type RunDeps } from './settle.ts';
import { lateTimeout, NotYet, tryModel } from './try-model.ts';

export interface AcceptedRunDeps extends RunDeps, DiscardDeps, Pick<RefusedRunDeps, 'table'> {
  objects: RunDeps['objects'] & DiscardDeps['objects'];
  identities: Pick<IdentityCatalog, 'get' | 'version'>;
}

/**
 * Tries to run a request that was accepted to be answered later: settled or released, and its references deleted, before
 * this returns. The queue may bring a request several times: only one run goes on.
 * @param attempt how often it was brought, from 1
 * @returns the request as it ended; null where there was nothing to run, or another run has it.
 * @throws NotYet while the model sleeps, is busy or away; another error when the outcome can't be stored.
 */
export async function runAccepted(
  ref: GenerationRef,
  attempt: number,
  deps: AcceptedRunDeps,
): Promise<Generation | null> {
  const generation = await deps.generations.get(ref.licenseId, ref.requestId);
  if (generation?.status !== 'QUEUED') return null;
  try {
    const ended = await runOwn(generation, attempt, deps);
    // Now, beside its end: an hour's credits are compared, and this request may have waited long.
    deps.meter.add('creditsReserved', generation.credits);
    await discardReferences(generation, generation.referenceImages, deps);
    return ended;
  } catch (error) {
    // What the request has, its references too, belongs to the run that goes on.
    if (error instanceof RunLost) return null;
    if (error instanceof NotYet && error.cause.unpaid === 'wake') await noteColdStart(generation, deps);
    throw error;
  }
}

async function runOwn(generation: Generation, attempt: number, deps: AcceptedRunDeps): Promise<Generation> {
  const run = newRun(generation);
  const options = { generate: tryModel(attempt), waitMetric: 'asyncWait', observer: {} } as const;
  try {
    // More was asked for than may run at once.
    if (deps.clock.now() >= generation.deadlineMs) throw lateTimeout(generation, attempt);
    return await generateAndSettle(run, await acceptedIdentity(generation, deps), options, deps);
  } catch (error) {
    if (error instanceof RunLost || error instanceof NotYet) throw error;
    const ended = await releaseAfterFailure(generation, error, run.runId, deps);
    if (ended.errorCode !== null) countError(deps.meter, ended.errorCode, error);
    await countRefusedRun(ended, error, deps);
    return ended;
  }
}

/** Whoever began a cold start and is not generated counts for its license. A fault of the note ends nothing. */
async function noteColdStart(generation: Generation, { generations, logFault }: AcceptedRunDeps) {
  await generations
    .noteColdStart(generation)
    .catch((error: unknown) => logFault(generation.requestId, 'a cold start was not noted', error));
}

/** The identity with the version that the request was accepted with, whichever is active by now. */
async function acceptedIdentity(
  { identity: { id, name }, identityVersion }: Generation,
  { identities }: AcceptedRunDeps,
) {
  const identity = await identities.get(id);
  const active = identity?.withdrawn ? null : (identity?.model ?? null);
  if (identity !== null && active !== null) {
    const isActive = identityVersion === null || identityVersion === active.number;
    const model = isActive ? active : await identities.version(id, identityVersion);
    if (model !== null) return { ...identity, model };
  }
  const sentence = `${name} has no active model any more. Try again later, or use another identity.`;
  throw new ServiceError('SERVICE_UNAVAILABLE', sentence, { noFault: true });
}
