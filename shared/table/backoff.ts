import { serviceBusy } from '../base/errors.ts';

/** How often a write is tried again that was refused for a conflict with another transaction. */
export const maxConflictRetries = 12;

/** Full jitter (AWS Architecture Blog, "Exponential Backoff and Jitter"): 10 ms doubling, at most half a second. */
export function pause(attempt: number): Promise<void> {
  const longestMs = Math.min(500, 10 * 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs));
}

/**
 * Makes attempts until one has a result, with a pause after each.
 * @param attempt undefined where another write came in between.
 * @throws SERVICE_UNAVAILABLE when that happened to all of them.
 */
export async function untilDecided<T>(
  maxAttempts: number,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let count = 1; count <= maxAttempts; count++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await pause(count);
  }
  throw serviceBusy(undefined, true);
}
