import type { ModelState } from './health-contract.ts';

/**
 * How long the cold start of a model that was scaled to zero takes, by what calls saw of it. These functions are pure: they
 * take the time and return what is known next, which is the same object where nothing new was learnt.
 */
export interface ColdStart {
  /** When a call first found it scaled to zero; null once a call was answered. */
  sinceMs: number | null;
  /** When a call was last refused, at most some seconds late. */
  refusedAtMs: number;
  /** When a call was last taken to have begun one. */
  begunAtMs: number;
  /** What a cold start took lately; null before the first. */
  wakeSeconds: number | null;
}

export const noColdStart: ColdStart = { sinceMs: null, refusedAtMs: 0, begunAtMs: 0, wakeSeconds: null };

/** Expected before the first cold start was measured. */
export const firstColdStartSeconds = 300;
/** A model that is not ready by then is not taken to be starting any more. */
export const longestColdStartSeconds = 1800;
export const shortestWaitSeconds = 5;
/** A model that nobody calls runs for so long at least before it scales to zero: the least of the option `idleMinutes`. */
export const shortestIdleSeconds = 300;
/** Refusals are noted no more often than this. */
const noteEveryMs = 10_000;
/** Between refusals that lie further apart than this, and than twice a cold start, the model may have been ready. */
const longestGapMs = 120_000;
/** From a refused call to the alarm that starts an instance: one period of a minute, and what metrics are late. */
const alarmMs = 180_000;

const expectedSeconds = ({ wakeSeconds }: ColdStart): number => wakeSeconds ?? firstColdStartSeconds;

/** Whether a refusal now belongs to the cold start that is known, and not to a later one. */
function goesOn(coldStart: ColdStart, nowMs: number): coldStart is ColdStart & { sinceMs: number } {
  const gapMs = Math.max(longestGapMs, 2000 * expectedSeconds(coldStart));
  return coldStart.sinceMs !== null && nowMs - coldStart.refusedAtMs <= gapMs;
}

/**
 * Whether a call that finds no capacity now is taken to begin a cold start. Where nobody calls a model that got ready, nobody
 * sees it. So another one begins where it may have got ready, in half of the time that it took lately or more, and nobody
 * called it for so long that it may have scaled to zero again.
 */
export function beginsColdStart(coldStart: ColdStart, nowMs: number): boolean {
  const mayBeOverSeconds = expectedSeconds(coldStart) / 2 + shortestIdleSeconds;
  const mayBeAnother =
    nowMs - coldStart.refusedAtMs >= shortestIdleSeconds * 1000 &&
    nowMs - coldStart.begunAtMs >= mayBeOverSeconds * 1000;
  return mayBeAnother || !goesOn(coldStart, nowMs);
}

/** A call found no capacity, which also begins a cold start. */
export function afterRefusal(coldStart: ColdStart, nowMs: number): ColdStart {
  const begunAtMs = beginsColdStart(coldStart, nowMs) ? nowMs : coldStart.begunAtMs;
  if (!goesOn(coldStart, nowMs)) return { ...coldStart, sinceMs: nowMs, refusedAtMs: nowMs, begunAtMs };
  if (begunAtMs !== coldStart.begunAtMs) return { ...coldStart, refusedAtMs: nowMs, begunAtMs };
  return nowMs - coldStart.refusedAtMs < noteEveryMs ? coldStart : { ...coldStart, refusedAtMs: nowMs };
}

/**
 * A call was answered. The model got ready between the last refusal and now, and what it took is between the two. Where
 * nobody called for a while, this says little, and what is known stays as near as it can: callers come back after
 * their Retry-After, and what they then see must not make the next ones wait for longer.
 */
export function afterAnswer(coldStart: ColdStart, nowMs: number): ColdStart {
  const { sinceMs, refusedAtMs, begunAtMs } = coldStart;
  if (sinceMs === null) return coldStart;
  const leastSeconds = (refusedAtMs - Math.max(sinceMs, begunAtMs)) / 1000;
  const mostSeconds = (nowMs - sinceMs) / 1000;
  const tookSeconds = Math.min(Math.max(expectedSeconds(coldStart), leastSeconds), mostSeconds);
  // Clocks of two machines differ: less than nothing may have passed.
  const wakeSeconds = Math.min(longestColdStartSeconds, Math.max(1, Math.round(tookSeconds)));
  return { ...coldStart, sinceMs: null, wakeSeconds };
}

/**
 * How long a caller should wait: what a cold start took lately, less what has passed since it began, at least five seconds.
 * @returns null where no cold start is known.
 */
export function secondsUntilReady(coldStart: ColdStart, nowMs: number): number | null {
  if (!goesOn(coldStart, nowMs)) return null;
  const passedMs = Math.max(0, nowMs - coldStart.sinceMs);
  return Math.max(shortestWaitSeconds, Math.ceil(expectedSeconds(coldStart) - passedMs / 1000));
}

/** How SageMaker describes a model that scales to zero. It does not know that a call has come until its alarm has. */
export interface Described {
  state: ModelState;
  /** When it was last scaled to zero, got ready, or changed otherwise. */
  changedAtMs: number;
}

/** What health says of a model that scales to zero. */
export function stateOfScaling(
  { state, changedAtMs }: Described,
  coldStart: ColdStart,
  nowMs: number,
): ModelState {
  const { sinceMs, refusedAtMs } = coldStart;
  if (state === 'asleep') {
    const isCalled = sinceMs !== null && refusedAtMs >= changedAtMs && nowMs - refusedAtMs < alarmMs;
    return isCalled ? 'waking' : 'asleep';
  }
  const isLate = goesOn(coldStart, nowMs) && nowMs - coldStart.sinceMs > longestColdStartSeconds * 1000;
  return state === 'waking' && isLate ? 'unavailable' : state;
}
