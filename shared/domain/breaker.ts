/**
 * A circuit breaker (Nygard, "Release It!"): after failures in a row nobody calls a backend for a while, then one probe
 * asks whether it is back. Pure: it is given the time, and returns the next state.
 */
export type Breaker =
  | { state: 'closed'; failuresInARow: number }
  /** Nobody calls until then; whoever comes first after it probes. */
  | { state: 'open'; reason: BreakerReason; untilMs: number }
  /** A probe was answered: calls are let through, and the first of them to end decides. */
  | { state: 'half_open' };

/** It fails, or has no capacity yet and is known to be getting some. */
export type BreakerReason = 'failing' | 'warming';

/** What a call or a probe told of the backend. */
export type Finding = 'healthy' | BreakerReason;

/** Whether to call, to probe first, or to call later. */
export type Admission =
  { kind: 'call' } | { kind: 'probe' } | { kind: 'wait'; reason: BreakerReason; seconds: number };

export const maxFailuresInARow = 5;
/** How long it stays open before it is probed. */
export const openMs = { failing: 10_000, warming: 30_000 } as const satisfies Record<BreakerReason, number>;
/** A probe takes less; should whoever sends it vanish, the next one comes after this. */
export const probeMs = 5000;

export const closedBreaker: Breaker = { state: 'closed', failuresInARow: 0 };

/** Asked before each call. */
export function admit(breaker: Breaker, nowMs: number): { breaker: Breaker; admission: Admission } {
  if (breaker.state !== 'open') return { breaker, admission: { kind: 'call' } };
  const { reason, untilMs } = breaker;
  if (nowMs >= untilMs) {
    return { breaker: { ...breaker, untilMs: nowMs + probeMs }, admission: { kind: 'probe' } };
  }
  const seconds = Math.ceil((untilMs - nowMs) / 1000);
  return { breaker, admission: { kind: 'wait', reason, seconds } };
}

/** Told of each call that said something; calls that began before it opened end whenever they do. */
export function afterCall(breaker: Breaker, finding: Finding, nowMs: number): Breaker {
  if (finding === 'healthy') return closedBreaker;
  if (finding === 'warming') return opened('warming', nowMs);
  if (breaker.state === 'open') return breaker;
  const failuresInARow = breaker.state === 'closed' ? breaker.failuresInARow + 1 : maxFailuresInARow;
  return failuresInARow < maxFailuresInARow ? { state: 'closed', failuresInARow } : opened('failing', nowMs);
}

/** Told of each probe. A call that ended meanwhile, and closed it, has said more. */
export function afterProbe(breaker: Breaker, finding: Finding, nowMs: number): Breaker {
  if (breaker.state !== 'open') return breaker;
  return finding === 'healthy' ? { state: 'half_open' } : opened(finding, nowMs);
}

function opened(reason: BreakerReason, nowMs: number): Breaker {
  return { state: 'open', reason, untilMs: nowMs + openMs[reason] };
}
