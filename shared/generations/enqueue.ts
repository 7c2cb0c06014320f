import type { GenerationQueue } from './generation-queue.ts';
import type { Generation } from './generation.ts';
import { isNoFault, ServiceError } from '../base/errors.ts';
import { RunDeleted, RunLost } from './record-part.ts';
import { discardReferences, type DiscardDeps } from '../references/discard-references.ts';
import { newRun, releaseAfterFailure, wasCancelled, wasDeleted, type RunDeps } from './settle.ts';

export interface EnqueueDeps extends DiscardDeps, Pick<RunDeps, 'generations' | 'meter' | 'traceparent'> {
  queue: Pick<GenerationQueue, 'add'>;
}

/**
 * Has the worker run an accepted request, without waiting for it.
 * @throws SERVICE_UNAVAILABLE when it could not be enqueued. Nothing is held then, and its references are deleted.
 *   REQUEST_NOT_FOUND when it was cancelled and deleted meanwhile. GENERATION_FAILED when that can't be stored: the worker, or the sweep, ends the request.
 */
export async function enqueue(generation: Generation, deps: EnqueueDeps): Promise<void> {
  const { licenseId, requestId } = generation;
  try {
    await deps.queue.add({ licenseId, requestId, traceparent: deps.traceparent ?? undefined });
  } catch (error) {
    const ended = await releaseUnbegun(generation, error, deps);
    // The worker got it after all. What the request has belongs to it.
    if (ended === null) return;
    deps.meter.add('creditsReserved', generation.credits);
    if (ended.status === 'COMPLETED') return;
    await discardReferences(generation, generation.referenceImages, deps);
    if (ended.errorCode === 'CANCELLED') throw wasCancelled(ended);
    throw new ServiceError('SERVICE_UNAVAILABLE', `${ended.errorMessage} Nothing was charged.`, {
      noFault: isNoFault(error),
    });
  }
}

/** @returns the request as it ended; null when the worker has begun it and goes on. */
async function releaseUnbegun(
  generation: Generation,
  error: unknown,
  deps: EnqueueDeps,
): Promise<Generation | null> {
  try {
    return await releaseAfterFailure(generation, error, newRun(generation).runId, deps);
  } catch (cause) {
    if (cause instanceof RunDeleted) {
      await discardReferences(generation, generation.referenceImages, deps);
      throw wasDeleted(generation);
    }
    if (cause instanceof RunLost) return null;
    throw cause;
  }
}
