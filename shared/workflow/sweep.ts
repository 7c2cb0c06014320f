import type { Clock } from '../domain/clock.ts';
import type { Generation } from '../domain/generation.ts';
import type { GenerationRef, GenerationStore } from '../store/generation-store.ts';
import { leaseIndex } from '../store/table-keys.ts';

const pageSize = 50;

export interface SweepResult {
  /** Requests whose credits were given back. */
  released: number;
  creditsReleased: number;
  /** Requests that could not be ended this time; the next sweep tries again. */
  failed: number;
}

/**
 * Ends every request whose lease ran out, because its handler died. Two sweeps at once are harmless, and so is a
 * handler that is late but alive: only one of them ends a request.
 * @param leasesBeforeMs an operator who knows that nothing runs may end later leases too.
 */
export async function sweep(
  generations: GenerationStore,
  clock: Clock,
  leasesBeforeMs: number = clock.now(),
): Promise<SweepResult> {
  const result = { released: 0, creditsReleased: 0, failed: 0 };
  const shards = leaseIndex.shards.map((shard) =>
    sweepShard(shard, leasesBeforeMs, generations, clock, result),
  );
  await Promise.all(shards);
  return result;
}

async function sweepShard(
  shard: string,
  leasesBeforeMs: number,
  generations: GenerationStore,
  clock: Clock,
  result: SweepResult,
): Promise<void> {
  for (;;) {
    const expired = await generations.listExpiredLeases(shard, leasesBeforeMs, pageSize);
    const before = result.released;
    for (const ref of expired) {
      try {
        const ended = await endAbandoned(ref, generations, clock);
        if (ended === null) continue;
        result.released += 1;
        result.creditsReleased += ended.credits;
      } catch {
        result.failed += 1;
      }
    }
    // The index is eventually consistent: after a page that ended nothing, the same page would come again.
    if (expired.length < pageSize || result.released === before) return;
  }
}

/** @returns the request as it ended, null when there was nothing to give back. */
async function endAbandoned(
  ref: GenerationRef,
  generations: GenerationStore,
  clock: Clock,
): Promise<Generation | null> {
  const generation = await generations.get(ref.licenseId, ref.requestId);
  if (generation === null) return null;
  const ended = await generations.release(
    generation,
    {
      status: 'TIMEOUT',
      errorCode: 'TIMEOUT',
      errorMessage: 'The image was not finished in time because of a fault of ours.',
    },
    clock.now(),
  );
  return ended.status === 'TIMEOUT' ? ended : null;
}
