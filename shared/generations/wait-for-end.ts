import type { Clock } from '../base/clock.ts';
import { isFinal, type Generation } from './generation.ts';
import type { GenerationRef } from './queue-contract.ts';
import type { GenerationStore } from './store.ts';

export interface WaitDeps {
  generations: Pick<GenerationStore, 'get'>;
  clock: Clock;
  /** Ends every wait, within a second, once it aborts. */
  stopping: AbortSignal;
}

const firstPauseMs = 250;
const longestPauseMs = 1000;

/**
 * Waits for a request that somebody else runs, by strong reads of its record: 63 at most in a minute.
 * @param givesUp asked of each record that is open
 * @returns the record as it was last read, which may still be open; null where it is not there.
 */
export async function waitForEnd(
  { licenseId, requestId }: GenerationRef,
  untilMs: number,
  { generations, clock, stopping }: WaitDeps,
  givesUp: (open: Generation) => Promise<boolean> = async () => false,
): Promise<Generation | null> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, 1.5 * pauseMs)) {
    const generation = await generations.get(licenseId, requestId);
    const leftMs = untilMs - clock.now();
    if (generation === null || isFinal(generation.status) || leftMs <= 0 || stopping.aborted)
      return generation;
    if (await givesUp(generation)) return generation;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, leftMs)));
  }
}
