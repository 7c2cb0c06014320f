import { Worker } from 'node:worker_threads';
import type { PictureOptions } from './art/paint.ts';
import type { PaintTask, PaintReport } from './paint-worker.ts';

export interface Picture {
  file: Uint8Array<ArrayBuffer>;
  sha256: string;
}

export interface Pool {
  /**
   * Paints one picture as soon as a worker is free; pictures are begun in the order asked for.
   *
   * Calls `onStep` with 0 when the work begins, and then with each finished step. When `signal` aborts, the promise
   * rejects with its reason at once, and the worker stops within some milliseconds.
   */
  paint(options: PictureOptions, signal: AbortSignal, onStep: (step: number) => void): Promise<Picture>;
  close(): Promise<void>;
}

interface Task {
  options: PictureOptions;
  onStep: (step: number) => void;
  cancelled: SharedArrayBuffer;
  resolve: (picture: Picture) => void;
  reject: (reason: unknown) => void;
}

interface Thread {
  worker: Worker;
  task: Task | undefined;
}

/** Starts worker threads that paint. They load in the background and end with the process. */
export function createPool(size: number): Pool {
  const queue: Task[] = [];
  const threads: Thread[] = [];
  let closed = false;

  const next = (): void => {
    for (const thread of threads) {
      if (thread.task !== undefined) continue;
      const task = queue.shift();
      if (task === undefined) return;
      thread.task = task;
      task.onStep(0);
      const work: PaintTask = { picture: task.options, cancelled: task.cancelled };
      thread.worker.postMessage(work, []);
    }
  };
  const fill = (): void => {
    if (closed) return;
    while (threads.length < size) threads.push(startThread(next, replace));
  };
  const replace = (thread: Thread): void => {
    const at = threads.indexOf(thread);
    if (at >= 0) threads.splice(at, 1);
    // A thread that ends without a task has failed to load. A new one would fail the same way, so none is started.
    if (thread.task === undefined && queue.length === 0) return;
    fill();
    next();
  };
  fill();

  return {
    paint: (options, signal, onStep) => {
      fill();
      return enqueue(queue, { options, onStep }, signal, next);
    },
    close: async () => {
      closed = true;
      for (const task of queue.splice(0)) task.reject(new Error('The painter is closing.'));
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}

function enqueue(
  queue: Task[],
  { options, onStep }: Pick<Task, 'options' | 'onStep'>,
  signal: AbortSignal,
  next: () => void,
): Promise<Picture> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const cancelled = new SharedArrayBuffer(4);
    const stop = (): void => {
      Atomics.store(new Int32Array(cancelled), 0, 1);
      const at = queue.indexOf(task);
      if (at >= 0) queue.splice(at, 1);
      reject(signal.reason as Error);
    };
    const settle =
      <T>(then: (value: T) => void) =>
      (value: T): void => {
        signal.removeEventListener('abort', stop);
        then(value);
      };
    const task: Task = { options, onStep, cancelled, resolve: settle(resolve), reject: settle(reject) };
    signal.addEventListener('abort', stop);
    queue.push(task);
    next();
  });
}

function startThread(freed: () => void, ended: (thread: Thread) => void): Thread {
  const worker = new Worker(new URL('./paint-worker.ts', import.meta.url));
  const thread: Thread = { worker, task: undefined };
  // Only the server may keep the process alive.
  worker.unref();
  worker.on('message', (report: PaintReport) => {
    if ('step' in report) return thread.task?.onStep(report.step);
    const { task } = thread;
    thread.task = undefined;
    if ('file' in report) task?.resolve(report);
    else task?.reject(new Error('error' in report ? report.error : 'The work was stopped.'));
    return freed();
  });
  worker.on('error', (error) => thread.task?.reject(error));
  worker.on('exit', () => {
    thread.task?.reject(new Error('A painting thread ended.'));
    ended(thread);
  });
  return thread;
}
