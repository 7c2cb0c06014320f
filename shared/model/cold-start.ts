import type { ModelState } from './health-contract.ts';

/**
 * How long a model that slept takes to wake, by what calls saw of it. These functions are pure: they take the time and
 * return what is known next, which is the same object where nothing new was learnt.
 */
export interface Waking {
  /** When a call first found it asleep; null once a call was answered. */
  sinceMs: number | null;
  /** When a call was last refused, at most some seconds late. */
  refusedAtMs: number;
  /** What waking took lately; null before the first. */
  wakeSeconds: number | null;
}

export const neverWoken: Waking = { sinceMs: null, refusedAtMs: 0, wakeSeconds: null };

/** Expected before the first waking was measured. */
export const firstWakeSeconds = 300;
/** A model that is not awake by then is not taken to be waking any more. */
export const longestWakeSeconds = 1800;
export const shortestWaitSeconds = 5;
/** Refusals are noted no more often than this. */
const noteEveryMs = 10_000;
/** Refusals that lie further apart than this, and than twice what waking takes, may have had a time awake in between. */
const longestGapMs = 120_000;
/** From a refused call to the alarm that starts an instance: one period of a minute, and what metrics are late. */
const alarmMs = 180_000;

const expectedSeconds = ({ wakeSeconds }: Waking): number => wakeSeconds ?? firstWakeSeconds;

/** Whether a refusal now belongs to the waking that is known, and not to a later sleep. */
function goesOn(waking: Waking, nowMs: number): waking is Waking & { sinceMs: number } {
  const gapMs = Math.max(longestGapMs, 2000 * expectedSeconds(waking));
  return waking.sinceMs !== null && nowMs - waking.refusedAtMs <= gapMs;
}

/** A call found no capacity, which also wakes the model. */
export function afterRefusal(waking: Waking, nowMs: number): Waking {
  if (!goesOn(waking, nowMs)) return { ...waking, sinceMs: nowMs, refusedAtMs: nowMs };
  return nowMs - waking.refusedAtMs < noteEveryMs ? waking : { ...waking, refusedAtMs: nowMs };
}

/**
 * A call was answered. The model woke between the last refusal and now, and what it took is between the two. Where
 * nobody called for a while, this says little, and what is known stays as near as it can: callers come back when they
 * were told to, and what they then see must not make the next ones wait for longer.
 */
export function afterAnswer(waking: Waking, nowMs: number): Waking {
  const { sinceMs, refusedAtMs } = waking;
  if (sinceMs === null) return waking;
  const leastSeconds = (refusedAtMs - sinceMs) / 1000;
  const mostSeconds = (nowMs - sinceMs) / 1000;
  const tookSeconds = Math.min(Math.max(expectedSeconds(waking), leastSeconds), mostSeconds);
  // Clocks of two machines differ: less than nothing may have passed.
  const wakeSeconds = Math.min(longestWakeSeconds, Math.max(1, Math.round(tookSeconds)));
  return { ...waking, sinceMs: null, wakeSeconds };
}

/**
 * What a caller is told to wait: what waking took lately, less what has passed since it began, at least five seconds.
 * @returns null where it is not known to wake.
 */
export function secondsUntilAwake(waking: Waking, nowMs: number): number | null {
  if (!goesOn(waking, nowMs)) return null;
  const passedMs = Math.max(0, nowMs - waking.sinceMs);
  return Math.max(shortestWaitSeconds, Math.ceil(expectedSeconds(waking) - passedMs / 1000));
}

/** How SageMaker describes a model that may sleep. It does not know that a call has come until its alarm has. */
export interface Described {
  state: ModelState;
  /** When it last fell asleep, woke, or changed otherwise. */
  changedAtMs: number;
}

/** What health says of a model that may sleep. */
export function stateOfSleeper({ state, changedAtMs }: Described, waking: Waking, nowMs: number): ModelState {
  const { sinceMs, refusedAtMs } = waking;
  if (state === 'asleep') {
    const isCalled = sinceMs !== null && refusedAtMs >= changedAtMs && nowMs - refusedAtMs < alarmMs;
    return isCalled ? 'waking' : 'asleep';
  }
  const isLate = goesOn(waking, nowMs) && nowMs - waking.sinceMs > longestWakeSeconds * 1000;
  return state === 'waking' && isLate ? 'unavailable' : state;
}
