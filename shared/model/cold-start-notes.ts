import type { ColdStartNotes } from './client.ts';
import type { Clock } from '../base/clock.ts';
import {
  afterAnswer,
  afterRefusal,
  firstColdStartSeconds,
  noColdStart,
  secondsUntilReady,
  type ColdStart,
} from './cold-start.ts';
import type { ColdStartStore } from './cold-start-store.ts';

/** So long may a request wait for the table to say how long a cold start takes. */
const withinMs = 1000;
/** Each failed attempt is another process that noted something first. */
const maxAttempts = 3;

export interface ColdStartNotesDeps {
  store: ColdStartStore;
  clock: Clock;
  /** Called when the table could not be read or written, which fails no request. */
  onFault(error: unknown): void;
}

/**
 * Remembers in the table how long a cold start takes, for all functions together. The table is read and written only by
 * processes that found the model scaled to zero: requests to a model that is ready cost nothing more.
 */
export function coldStartNotes({ store, clock, onFault }: ColdStartNotesDeps): ColdStartNotes {
  /** What this process last read or wrote: the best that it knows when the table is away. */
  let last = noColdStart;
  let foundScaledToZero = false;

  const note = async (learn: (known: ColdStart, nowMs: number) => ColdStart): Promise<void> => {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const stored = await store.get();
      last = learn(stored.coldStart, clock.now());
      if (last === stored.coldStart || (await store.put(last, stored.version))) return;
    }
  };
  const inTime = async (work: Promise<void>): Promise<void> => {
    const late = clock.timeout(withinMs);
    const gaveUp = new Promise<void>((resolve) => {
      late.addEventListener('abort', () => resolve());
    });
    await Promise.race([work.catch(onFault), gaveUp]);
  };
  const secondsLeft = () => secondsUntilReady(last, clock.now());

  return {
    async refused() {
      foundScaledToZero = true;
      last = afterRefusal(last, clock.now());
      await inTime(note(afterRefusal));
      return secondsLeft() ?? firstColdStartSeconds;
    },

    async secondsLeft() {
      await inTime(note((known) => known));
      return secondsLeft();
    },

    answered() {
      if (!foundScaledToZero) return;
      foundScaledToZero = false;
      // Nobody waits for this: the answer that was seen is only its first piece, and the request goes on for seconds.
      note(afterAnswer).catch(onFault);
    },
  };
}
