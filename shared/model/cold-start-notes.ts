import type { ColdStartNotes } from './client.ts';
import type { Clock } from '../base/clock.ts';
import {
  afterAnswer,
  afterRefusal,
  beginsColdStart,
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

  /** @returns whether this process noted that a cold start begins. */
  const note = async (learn: (known: ColdStart, nowMs: number) => ColdStart): Promise<boolean> => {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const stored = await store.get();
      last = learn(stored.coldStart, clock.now());
      if (last === stored.coldStart) return false;
      const { begunAtMs } = last;
      if (await store.put(last, stored.version)) return begunAtMs !== stored.coldStart.begunAtMs;
    }
    return false;
  };
  const inTime = async (work: Promise<boolean>): Promise<boolean> => {
    const late = clock.timeout(withinMs);
    const gaveUp = new Promise<boolean>((resolve) => {
      late.addEventListener('abort', () => resolve(false));
    });
    const failed = (error: unknown) => {
      onFault(error);
      return false;
    };
    return Promise.race([work.catch(failed), gaveUp]);
  };
  const secondsLeft = () => secondsUntilReady(last, clock.now());

  return {
    async refused() {
      foundScaledToZero = true;
      last = afterRefusal(last, clock.now());
      const hasBegunIt = await inTime(note(afterRefusal));
      return { secondsUntilReady: secondsLeft() ?? firstColdStartSeconds, hasBegunIt };
    },

    async mayBegin() {
      await inTime(note((known) => known));
      return beginsColdStart(last, clock.now());
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
