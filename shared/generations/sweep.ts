import { isFinal, type Generation } from './generation.ts';
import type { GenerationStore } from './store.ts';
import { RunLost } from './record-part.ts';
import { newRun } from './settle.ts';
import type { GenerationRef } from './queue-contract.ts';
import { leaseIndex } from '../table/keys.ts';
import { sweepDeletions, type DeletionDeps } from './delete.ts';
import { discardReferences, type DiscardDeps } from '../references/discard-references.ts';

const pageSize = 50;

export interface EndDeps extends DiscardDeps {
  generations: GenerationStore;
}

export interface SweepDeps extends EndDeps {
  objects: EndDeps['objects'] & DeletionDeps['objects'];
  /** Null to leave what was deleted to another sweep. */
  deletions: DeletionDeps['deletions'] | null;
}

export interface SweepResult {
  /** Requests whose credits were given back. */
  released: number;
  creditsReleased: number;
  /** Deleted requests of which nothing is left now. */
  erased: number;
  /** Requests that could not be ended or erased this time; the next sweep tries again. */
  failed: number;
}

/**
 * Ends every request whose lease ran out, because its handler died, and deletes its references. Then it finishes deletions.
 * Two sweeps at once are harmless, and so is a handler that is late but alive: only one of them ends a request.
 * @param leasesBeforeMs an operator who knows that nothing runs may end later leases too.
 */
export async function sweep(
  deps: SweepDeps,
  leasesBeforeMs: number = deps.clock.now(),
): Promise<SweepResult> {
  const result = { released: 0, creditsReleased: 0, erased: 0, failed: 0 };
  const shards = leaseIndex.shards.map((shard) => sweepShard(shard, leasesBeforeMs, deps, result));
  await Promise.all(shards);
  const { deletions } = deps;
  if (deletions !== null) await sweepDeletions(leasesBeforeMs, { ...deps, deletions }, result);
  return result;
}

async function sweepShard(
  shard: string,
  leasesBeforeMs: number,
  deps: SweepDeps,
  result: SweepResult,
): Promise<void> {
  for (;;) {
    const expired = await deps.generations.listExpiredLeases(shard, leasesBeforeMs, pageSize);
    const before = result.released;
    for (const ref of expired) {
      try {
        const ended = await endAbandoned(ref, deps);
        if (ended === null) continue;
        result.released += 1;
        result.creditsReleased += ended.credits;
      } catch (error) {
        result.failed += 1;
        deps.logFault(ref.requestId, 'a request was not ended', error);
      }
    }
    // The index is eventually consistent: after a page that ended nothing, the same page would come again.
    if (expired.length < pageSize || result.released === before) return;
  }
}

const tooLate = 'The image was not finished in time because of a fault of ours.';

export interface AbandonedOptions {
  /** For the customer to read. */
  errorMessage?: string;
  /** Whether a run may still be at work: what one has begun is left alone then. */
  leavesBegun?: boolean;
}

/**
 * Ends a request whose run is gone, and deletes its references.
 * @returns the request as it ended, null when there was nothing to give back.
 */
export async function endAbandoned(
  ref: GenerationRef,
  deps: EndDeps,
  { errorMessage = tooLate, leavesBegun = false }: AbandonedOptions = {},
): Promise<Generation | null> {
  const { generations, clock } = deps;
  const generation = await generations.get(ref.licenseId, ref.requestId);
  if (generation === null) return null;
  const discard = () => discardReferences(generation, generation.referenceImages, deps);
  if (isFinal(generation.status)) {
    // The process that ended it may have failed before it deleted them.
    if (leavesBegun) await discard();
    return null;
  }
  const failure = { status: 'TIMEOUT', errorCode: 'TIMEOUT', errorMessage } as const;
  try {
    const by = leavesBegun ? newRun(generation).runId : null;
    const ended = await generations.release(generation, failure, clock.now(), by);
    await discard();
    return ended.status === 'TIMEOUT' ? ended : null;
  } catch (error) {
    if (error instanceof RunLost) return null;
    // Another run may need them still.
    if (!leavesBegun) await discard();
    throw error;
  }
}
