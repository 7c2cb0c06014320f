/** Lets a few in at a time; the others wait in line. */
export interface Gate {
  /**
   * Waits for its turn, does the work and lets the next one in once the work has really ended.
   *
   * @throws what the work throws, or the signal's reason as soon as it aborts.
   */
  through<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createGate(size: number): Gate {
  const line: (() => void)[] = [];
  let inside = 0;
  const enter = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const leaveLine = (): void => {
        line.splice(line.indexOf(goIn), 1);
        reject(signal.reason as Error);
      };
      const goIn = (): void => {
        signal.removeEventListener('abort', leaveLine);
        inside += 1;
        resolve();
      };
      if (inside < size) return goIn();
      signal.addEventListener('abort', leaveLine);
      line.push(goIn);
    });
  return {
    through: async (work, signal) => {
      await enter(signal);
      const begin = async (): ReturnType<typeof work> => {
        signal.throwIfAborted();
        return work();
      };
      const working = begin().finally(() => {
        inside -= 1;
        line.shift()?.();
      });
      const givenUp = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
      return Promise.race([working, givenUp]);
    },
  };
}
