import { ApiError, ConnectionError, StorageError, TimeoutError } from './errors.ts';

const longestWaitSeconds = 60;

/**
 * How long to wait before a retry: 1, 2, 4, 8, 16, 32, 60, 60 … seconds, or `retryAfterSeconds` if that is longer, plus a
 * random part of up to a quarter, at most 60 seconds. The random part spreads clients that were refused at the same time.
 *
 * @param failures how often the work has failed, from 1
 * @param random from 0 to 1
 * @returns milliseconds; null if the service asks for more than 60 seconds, which is too long to wait unasked
 */
export function retryDelayMs(
  failures: number,
  retryAfterSeconds: number | undefined,
  random: number,
): number | null {
  if (retryAfterSeconds !== undefined && retryAfterSeconds > longestWaitSeconds) return null;
  const baseSeconds = Math.max(2 ** (failures - 1), retryAfterSeconds ?? 0);
  return 1000 * Math.min(baseSeconds * (1 + random / 4), longestWaitSeconds);
}

/** Wraps an error that is thrown without a retry, whatever kind it is. */
export class NotRetried {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

export interface RetryOptions {
  maxRetries: number;
  isRetried: (error: unknown) => boolean;
  /** How long after the first failure a retry may begin. */
  forMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Repeats the work until it succeeds or a retry is no use. @throws its last error, and the signal's reason. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { maxRetries, isRetried, signal, forMs = Infinity } = options;
  let untilMs = Infinity;
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NotRetried) throw error.error;
      const retryAfterSeconds = error instanceof ApiError ? error.retryAfterSeconds : undefined;
      const delayMs = retryDelayMs(failures, retryAfterSeconds, Math.random());
      if (failures > maxRetries || delayMs === null || !isRetried(error)) throw error;
      if (failures === 1) untilMs = Date.now() + forMs;
      if (Date.now() + delayMs > untilMs) throw error;
      await pause(delayMs, signal);
    }
  }
}

/** Whether the service did nothing: it was busy, or the first of two equal requests still runs. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 429 || error.status === 503 || error.code === 'IDEMPOTENCY_IN_PROGRESS';
}

/** Whether another try may succeed: the fault is in the connection or the service, not in the request. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  if (error instanceof StorageError) return error.status >= 500;
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
