import type { GenerationWorkerClient } from '../adapters/generation-worker-client.ts';
import type { Generation } from '../domain/generation.ts';
import { ServiceError } from '../errors.ts';
import { discardReferences, type DiscardDeps } from './discard-references.ts';
import { releaseFailed, type RunDeps } from './settle-generation.ts';

export interface HandOverDeps extends DiscardDeps, Pick<RunDeps, 'generations' | 'meter'> {
  worker: GenerationWorkerClient;
}

/**
 * Has the worker run an accepted request, without waiting for it.
 * @throws SERVICE_UNAVAILABLE when the worker could not be told. Nothing is held then, and its references are deleted.
 */
export async function handOver(generation: Generation, deps: HandOverDeps): Promise<void> {
  const { licenseId, requestId } = generation;
  try {
    await deps.worker.start({ licenseId, requestId });
  } catch (error) {
    deps.meter.add('creditsReserved', generation.credits);
    const ended = await releaseFailed(generation, error, null, deps).finally(() =>
      discardReferences(generation, generation.referenceImages, deps),
    );
    // The worker was told after all, and was quick.
    if (ended.status === 'COMPLETED') return;
    throw new ServiceError('SERVICE_UNAVAILABLE', `${ended.errorMessage} Nothing was charged.`);
  }
}
