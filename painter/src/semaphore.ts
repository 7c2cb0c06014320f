/** Lets a fixed number of works run at a time; the others wait in line. */
export interface Semaphore {
  /**
   * Waits for its turn, then does the work. The next one begins once this work has really ended, even if its caller
   * gave up before.
   *
   * @throws what the work throws, or the signal's reason as soon as it aborts.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createSemaphore(size: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;
  const acquire = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const leave = (): void => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(signal.reason as Error);
      };
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        running += 1;
        resolve();
      };
      if (running < size) return begin();
      signal.addEventListener('abort', leave);
      waiting.push(begin);
    });
  return {
    run: async (work, signal) => {
      await acquire(signal);
      const start = async (): ReturnType<typeof work> => {
        signal.throwIfAborted();
        return work();
      };
      const working = start().finally(() => {
        running -= 1;
        waiting.shift()?.();
      });
      const givenUp = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
      return Promise.race([working, givenUp]);
    },
  };
}
