/** Time as an argument, so that tests can own it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** A signal that aborts after a while with a `TimeoutError`. */
  timeout(ms: number): AbortSignal;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  timeout: (ms) => AbortSignal.timeout(ms),
};
