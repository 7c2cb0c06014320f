import { Worker } from 'node:worker_threads';
import type { PictureOptions } from './art/paint.ts';
import { workOf } from './estimate.ts';
import type { Rate } from './estimate.ts';
import { Failure } from './failure.ts';
import type { PaintTask, PaintReport } from './paint-worker.ts';

export interface Picture {
  file: Uint8Array<ArrayBuffer>;
  /** Left out where none is wanted, or none could be made. */
  preview?: Uint8Array<ArrayBuffer>;
  sha256: string;
}

export interface Pool {
  /** How many pictures can be painted at once. */
  readonly threads: number;
  /** Threads that would begin a picture at once; zero or less while there is none. */
  readonly free: number;
  /** The work that is left of each picture that was asked for, in the order of their beginning. */
  workLeft(): number[];
  /** Sets what is called whenever a thread has come free. */
  onFree(call: () => void): void;
  /**
   * Paints one picture as soon as a worker is free; pictures are begun in the order asked for.
   *
   * Calls `onStep` with each finished step. When `signal` aborts, the promise rejects with its reason at once, and the
   * worker stops within some milliseconds.
   */
  paint(options: PictureOptions, signal: AbortSignal, onStep: (step: number) => void): Promise<Picture>;
  close(): Promise<void>;
}

interface Task {
  options: PictureOptions;
  step: number;
  onStep: (step: number) => void;
  cancelled: SharedArrayBuffer;
  resolve: (picture: Picture) => void;
  reject: (reason: unknown) => void;
}

interface Thread {
  worker: Worker;
  task: Task | undefined;
}

/** No fault, so that nothing is printed when whoever started the painter stops it. */
const closing = new Failure('model_error', 'The painter is closing.');

/**
 * Starts worker threads that paint. They load in the background and end with the process.
 * @param rate learns from how long the pictures take
 */
export function createPool(size: number, rate?: Rate): Pool {
  const queue: Task[] = [];
  const threads: Thread[] = [];
  let closed = false;
  let tellFree = (): void => undefined;

  const next = (): void => {
    for (const thread of threads) {
      if (thread.task !== undefined) continue;
      const task = queue.shift();
      if (task === undefined) return;
      thread.task = task;
      const work: PaintTask = { picture: task.options, cancelled: task.cancelled };
      thread.worker.postMessage(work, []);
    }
  };
  const freed = (): void => {
    next();
    tellFree();
  };
  const fill = (): void => {
    if (closed) return;
    while (threads.length < size) threads.push(startThread({ freed, ended: replace, rate }));
  };
  const replace = (thread: Thread): void => {
    const at = threads.indexOf(thread);
    if (at >= 0) threads.splice(at, 1);
    // A thread that ends without a task has failed to load. A new one would fail the same way, so none is started.
    if (thread.task === undefined && queue.length === 0) return;
    fill();
    freed();
  };
  const begun = (): Task[] => threads.flatMap(({ task }) => task ?? []);
  fill();

  return {
    threads: size,
    get free() {
      return size - begun().length - queue.length;
    },
    workLeft: () => [...begun(), ...queue].map(workLeftOf),
    onFree: (call) => void (tellFree = call),
    paint: (options, signal, onStep) => {
      fill();
      return enqueue(queue, { options, onStep, signal }, next, freed);
    },
    close: async () => {
      closed = true;
      for (const task of [...queue.splice(0), ...begun()]) task.reject(closing);
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}

/** Nothing is left of a picture that is being stopped. */
function workLeftOf({ options, step, cancelled }: Task): number {
  if (new Int32Array(cancelled)[0] !== 0) return 0;
  return workOf(options) * (1 - step / options.numInferenceSteps);
}

function enqueue(
  queue: Task[],
  { options, onStep, signal }: Pick<Task, 'options' | 'onStep'> & { signal: AbortSignal },
  next: () => void,
  freed: () => void,
): Promise<Picture> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const cancelled = new SharedArrayBuffer(4);
    const stop = (): void => {
      Atomics.store(new Int32Array(cancelled), 0, 1);
      const at = queue.indexOf(task);
      reject(signal.reason as Error);
      if (at < 0) return;
      queue.splice(at, 1);
      freed();
    };
    const settle =
      <T>(then: (value: T) => void) =>
      (value: T): void => {
        signal.removeEventListener('abort', stop);
        then(value);
      };
    const task: Task = {
      options,
      step: 0,
      onStep,
      cancelled,
      resolve: settle(resolve),
      reject: settle(reject),
    };
    signal.addEventListener('abort', stop);
    queue.push(task);
    next();
  });
}

interface ThreadUse {
  freed: () => void;
  ended: (thread: Thread) => void;
  rate: Rate | undefined;
}

function startThread({ freed, ended, rate }: ThreadUse): Thread {
  const worker = new Worker(new URL('./paint-worker.ts', import.meta.url));
  const thread: Thread = { worker, task: undefined };
  // Only the server may keep the process alive.
  worker.unref();
  worker.on('message', (report: PaintReport) => {
    const { task } = thread;
    if ('step' in report) {
      if (task) task.step = report.step;
      return task?.onStep(report.step);
    }
    thread.task = undefined;
    if (task) learn(rate, task, report);
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

function learn(rate: Rate | undefined, { options, step }: Task, report: PaintReport): void {
  const work = workOf(options);
  if ('file' in report) rate?.finished(work, report.seconds);
  if ('stopped' in report) {
    rate?.stopped(work, report.seconds, { done: step, all: options.numInferenceSteps });
  }
}
