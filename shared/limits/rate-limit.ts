export interface RateLimit {
  name: string;
  quota: number;
  windowSeconds: number;
}

/** The times of the last uses, oldest first, in milliseconds since 1970; at most `quota` of them. */
export type RateLog = readonly number[];

export interface RateDecision {
  allowed: boolean;
  /** The log to store when allowed; unchanged otherwise. */
  log: RateLog;
  remaining: number;
  /** Whole seconds until one more use becomes free, 0 where all are; of a refusal, until as many as it asked for are. */
  resetSeconds: number;
}

/**
 * A rolling log: allows at most `quota` uses in any window of `windowSeconds`, exactly. A fixed window would let
 * twice as many through around its edge. The log never goes back in time, so a clock that does can't widen the window.
 * @param uses how many are taken at once, at most `quota`: all of them or none. 0 tells how the limit stands.
 */
export function consumeFromRateLog(
  log: RateLog,
  nowMs: number,
  limit: RateLimit,
  uses: number = 1,
): RateDecision {
  const windowMs = limit.windowSeconds * 1000;
  const atMs = Math.max(nowMs, log.at(-1) ?? 0);
  const live = log.filter((usedMs) => usedMs > atMs - windowMs);
  const secondsUntilFree = (oldestMs: number) => Math.max(1, Math.ceil((oldestMs + windowMs - nowMs) / 1000));
  const tooMany = live.length + uses - limit.quota;
  if (tooMany > 0) {
    return {
      allowed: false,
      log,
      remaining: Math.max(0, limit.quota - live.length),
      resetSeconds: secondsUntilFree(live[tooMany - 1]!),
    };
  }
  const next = [...live, ...Array.from({ length: uses }, () => atMs)];
  return {
    allowed: true,
    log: next,
    remaining: limit.quota - next.length,
    resetSeconds: next.length === 0 ? 0 : secondsUntilFree(next[0]!),
  };
}
