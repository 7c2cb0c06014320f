import type { WakingNotes } from './client.ts';
import type { Clock } from '../base/clock.ts';
import {
  afterAnswer,
  afterRefusal,
  firstWakeSeconds,
  neverWoken,
  secondsUntilAwake,
  type Waking,
} from './cold-start.ts';
import type { WakingStore } from './cold-start-store.ts';

/** So long may a request wait for the table to say how long waking takes. */
const withinMs = 1000;
/** Each failed attempt is another process that noted something first. */
const maxAttempts = 3;

export interface WakingNotesDeps {
  waking: WakingStore;
  clock: Clock;
  /** Told when the table could not be read or written, which fails no request. */
  onFault(error: unknown): void;
}

/**
 * Remembers in the table how long the model takes to wake, for all functions together. The table is read and written only
 * by processes that found the model asleep: requests to a model that is awake cost nothing more.
 */
export function wakingNotes({ waking, clock, onFault }: WakingNotesDeps): WakingNotes {
  /** What this process last read or wrote: the best that it can tell when the table is away. */
  let last = neverWoken;
  let foundAsleep = false;

  const note = async (learn: (known: Waking, nowMs: number) => Waking): Promise<void> => {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const stored = await waking.get();
      last = learn(stored.waking, clock.now());
      if (last === stored.waking || (await waking.put(last, stored.version))) return;
    }
  };
  const inTime = async (work: Promise<void>): Promise<void> => {
    const late = clock.timeout(withinMs);
    const gaveUp = new Promise<void>((resolve) => {
      late.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([work.catch(onFault), gaveUp]);
  };
  const secondsLeft = () => secondsUntilAwake(last, clock.now());

  return {
    async refused() {
      foundAsleep = true;
      last = afterRefusal(last, clock.now());
      await inTime(note(afterRefusal));
      return secondsLeft() ?? firstWakeSeconds;
    },

    async secondsLeft() {
      await inTime(note((known) => known));
      return secondsLeft();
    },

    answered() {
      if (!foundAsleep) return;
      foundAsleep = false;
      // Nobody waits for this: the answer that was seen is only its first piece, and the request goes on for seconds.
      note(afterAnswer).catch(onFault);
    },
  };
}
