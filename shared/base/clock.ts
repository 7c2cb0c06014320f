/** The clock is an argument, so that tests can set it. */
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

/** RFC 3339, the form of times in answers. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
