import type { ObjectStore } from '../images/object-store.ts';
import { discardReferences, type DiscardDeps } from '../references/discard-references.ts';
import { covers, type RequestRights } from '../keys/rights.ts';
import { ServiceError } from '../base/errors.ts';
import { requestNotFound } from './find.ts';
import { isFinal, type Generation, type GenerationFailure } from './generation.ts';
import { RunLost } from './record-part.ts';
import { newRun } from './settle.ts';
import type { GenerationStore } from './store.ts';

export interface CancelDeps extends DiscardDeps {
  generations: Pick<GenerationStore, 'get' | 'release'>;
  objects: DiscardDeps['objects'] & Pick<ObjectStore, 'putCancelled'>;
}

const cancelled: GenerationFailure = {
  status: 'FAILED',
  errorCode: 'CANCELLED',
  errorMessage: 'The request was cancelled.',
};

/** Nobody waits longer for it. A model that is not told paints what nobody will get. */
const putWithinMs = 2000;

/**
 * Ends a request that is open, and then tells the model: so the model never stops what goes on.
 * @param found a stored request of the caller's
 * @returns the cancelled request, also where it was cancelled before.
 * @throws REQUEST_NOT_FOUND where the caller may not delete it, because that takes as much; REQUEST_FINAL where it ended otherwise.
 */
export async function cancelGeneration(
  found: Generation,
  { deletes }: RequestRights,
  deps: CancelDeps,
): Promise<Generation> {
  if (!covers(deletes, found)) {
    const sentence = 'This key has a budget of its own, so it cancels only requests that it made.';
    throw new ServiceError('REQUEST_NOT_FOUND', sentence);
  }
  const ended = isFinal(found.status) ? found : await endOpen(found, deps);
  if (ended.errorCode !== 'CANCELLED') {
    const sentence = `This request is ${ended.status} already, so it can not be cancelled.`;
    throw new ServiceError('REQUEST_FINAL', sentence);
  }
  await Promise.all([
    tellModel(ended, deps),
    // Its run may never come to it, or be dead.
    discardReferences(ended, ended.referenceImages, deps),
  ]);
  return ended;
}

/** Its call counts for its license only where the model has begun. @throws REQUEST_NOT_FOUND where it was deleted meanwhile */
async function endOpen(found: Generation, { generations, clock }: CancelDeps): Promise<Generation> {
  const end = (generation: Generation) =>
    generation.status === 'QUEUED'
      ? // As a run that leaves alone what another has begun.
        generations.release(generation, cancelled, clock.now(), newRun(generation).runId)
      : generations.release(generation, cancelled, clock.now(), null, 'cancelled');
  try {
    return await end(found);
  } catch (error) {
    if (!(error instanceof RunLost)) throw error;
    const present = await generations.get(found.licenseId, found.requestId);
    if (present === null) throw requestNotFound();
    return isFinal(present.status) ? present : end(present);
  }
}

/** It never fails, as the request is cancelled without it. Whoever cancels again tries it again. */
async function tellModel(ended: Generation, { objects, clock, logFault }: CancelDeps): Promise<void> {
  await objects
    .putCancelled(ended, clock.timeout(putWithinMs))
    .catch((error: unknown) => logFault(ended.requestId, 'the model was not told of a cancellation', error));
}
