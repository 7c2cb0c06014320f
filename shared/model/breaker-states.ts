/**
 * A circuit breaker (Nygard, "Release It!"). After several failures in a row it lets no call through for a while. Then
 * one probe asks whether the backend is back. These functions are pure: they take the time and return the next state.
 */
export type Breaker =
  | { state: 'closed'; failuresInARow: number }
  /** No call is let through until then. The first request after it sends a probe. */
  | { state: 'open'; reason: BreakerReason; untilMs: number }
  /** A probe was answered. Calls are let through, and the first one to end closes or opens it. */
  | { state: 'half_open' };

/** `failing`: calls fail. `warming`: it has no capacity yet and is getting some. */
export type BreakerReason = 'failing' | 'warming';

/** What a call or a probe found out about the backend. */
export type Finding = 'healthy' | BreakerReason;

/** Whether to call, to probe first, or to call later. */
export type Admission =
  { kind: 'call' } | { kind: 'probe' } | { kind: 'wait'; reason: BreakerReason; seconds: number };

export const maxFailuresInARow = 5;
/**
 * How long it stays open before it is probed. A model that starts answers a probe at once, with or without capacity, and
 * nobody may be refused for long once it is there.
 */
export const openMs = { failing: 10_000, warming: 5000 } as const satisfies Record<BreakerReason, number>;
/** How long callers should wait for a model that never scales to zero, and is starting all the same. */
export const warmingRetrySeconds = 30;
/** The next probe is due after this time if the one before was never answered. A probe takes less. */
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

/** Takes the result of a call. Calls that began before it opened may end at any later time. */
export function afterCall(breaker: Breaker, finding: Finding, nowMs: number): Breaker {
  if (finding === 'healthy') return closedBreaker;
  if (finding === 'warming') return opened('warming', nowMs);
  if (breaker.state === 'open') return breaker;
  const failuresInARow = breaker.state === 'closed' ? breaker.failuresInARow + 1 : maxFailuresInARow;
  return failuresInARow < maxFailuresInARow ? { state: 'closed', failuresInARow } : opened('failing', nowMs);
}

/** Takes the result of a probe. It changes nothing when a call closed the breaker in the meantime. */
export function afterProbe(breaker: Breaker, finding: Finding, nowMs: number): Breaker {
  if (breaker.state !== 'open') return breaker;
  return finding === 'healthy' ? { state: 'half_open' } : opened(finding, nowMs);
}

function opened(reason: BreakerReason, nowMs: number): Breaker {
  return { state: 'open', reason, untilMs: nowMs + openMs[reason] };
}
