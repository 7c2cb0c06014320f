/** How often a write is tried again that was refused for a conflict with another transaction. */
export const maxConflictRetries = 12;

/** Full jitter (AWS Architecture Blog, "Exponential Backoff and Jitter"): 10 ms doubling, at most half a second. */
export function pause(attempt: number): Promise<void> {
  const longestMs = Math.min(500, 10 * 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs));
}
