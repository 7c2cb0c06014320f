import type { PictureOptions } from '../../src/art/paint.ts';
import { workOf } from '../../src/estimate.ts';
import type { Picture, Pool } from '../../src/pool.ts';

interface Task {
  options: PictureOptions;
  resolve(picture: Picture): void;
  signal: AbortSignal;
}

export interface HandPool extends Pool {
  /** What was begun, in its order. */
  readonly begun: PictureOptions[];
  /** Finishes the picture that was begun first and waits until all have heard of it. */
  finish(): Promise<void>;
}

const picture: Picture = { file: new Uint8Array([1]), sha256: '0'.repeat(64) };
/** Lets everything happen that waits for nothing outside of the process. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Painting threads that paint nothing and take as long as a test wants. */
export function createHandPool(threads: number): HandPool {
  const working: Task[] = [];
  const queue: Task[] = [];
  const begun: PictureOptions[] = [];
  let freed = (): void => undefined;
  const begin = (): void => {
    while (working.length < threads && queue.length > 0) {
      const task = queue.shift()!;
      working.push(task);
      begun.push(task.options);
    }
  };
  const drop = (task: Task): void => {
    for (const list of [working, queue]) {
      const at = list.indexOf(task);
      if (at >= 0) list.splice(at, 1);
    }
    begin();
    freed();
  };
  return {
    threads,
    begun,
    get free() {
      return threads - working.length - queue.length;
    },
    workLeft: () => [...working, ...queue].map(({ options }) => workOf(options)),
    onFree: (call) => void (freed = call),
    paint: (options, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        const task = { options, resolve, signal };
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
          drop(task);
        });
        queue.push(task);
        begin();
      }),
    finish: async () => {
      const [task] = working;
      if (task === undefined) throw new Error('nothing is being painted');
      task.resolve(picture);
      drop(task);
      await turn();
    },
    close: async () => undefined,
  };
}
