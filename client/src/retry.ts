import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

const longestWaitSeconds = 60;

/**
 * How long to wait before a retry: 1, 2, 4 … seconds, or what the service asked for where that is longer, and up to a
 * quarter more, so that clients that were refused together don't come back together; 60 seconds at most.
 *
 * @param failures how often it has failed, from 1
 * @param random from 0 to 1
 * @returns milliseconds; null where the service asks for more than 60 seconds: nobody should wait that long unasked.
 */
export function retryDelayMs(
  failures: number,
  retryAfterSeconds: number | undefined,
  random: number,
): number | null {
  if (retryAfterSeconds !== undefined && retryAfterSeconds > longestWaitSeconds) return null;
  // A last step of 48 leaves room for the quarter.
  const baseSeconds = Math.max(Math.min(2 ** (failures - 1), 48), retryAfterSeconds ?? 0);
  return 1000 * Math.min(baseSeconds * (1 + random / 4), longestWaitSeconds);
}

/** An error that no retry mends, whatever kind it is. */
export class Final {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

export interface RetryOptions {
  maxRetries: number;
  isRetried: (error: unknown) => boolean;
  signal?: AbortSignal | undefined;
}

/** Does the work until it succeeds or fails for good. @throws its last error, and the signal's reason. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { maxRetries, isRetried, signal } = options;
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Final) throw error.error;
      const asked = error instanceof ApiError ? error.retryAfterSeconds : undefined;
      const delayMs = retryDelayMs(failures, asked, Math.random());
      if (failures > maxRetries || delayMs === null || !isRetried(error)) throw error;
      await pause(delayMs, signal);
    }
  }
}

/** Whether nothing was done: the service had no room, or the first of two equal requests still runs. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 429 || error.status === 503 || error.code === 'IDEMPOTENCY_IN_PROGRESS';
}

/** Whether another try may succeed: the fault was on the way or in the service, not in the request. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  return isBusy(error) || (error instanceof ApiError && error.status >= 500);
}

/** @throws the signal's reason, at once. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}
