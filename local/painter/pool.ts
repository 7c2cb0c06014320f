import { Worker } from 'node:worker_threads';
import type { PictureOrder } from './art/paint.ts';
import type { WorkOrder, WorkReport } from './paint-worker.ts';

export interface Picture {
  file: Uint8Array<ArrayBuffer>;
  sha256: string;
}

export interface Pool {
  /**
   * Paints one picture as soon as a worker is free; pictures are begun in the order asked for.
   *
   * `onStep` hears 0 when the work begins and then each finished step. When `signal` aborts, the promise rejects with
   * its reason at once and the worker stops within some milliseconds.
   */
  paint(order: PictureOrder, signal: AbortSignal, onStep: (step: number) => void): Promise<Picture>;
  close(): Promise<void>;
}

interface Task {
  order: PictureOrder;
  onStep: (step: number) => void;
  cancelled: SharedArrayBuffer;
  resolve: (picture: Picture) => void;
  reject: (reason: unknown) => void;
}

interface Seat {
  worker: Worker;
  task: Task | undefined;
}

/** Worker threads that paint. They start with the pool, beside whatever the caller does, and die with the process. */
export function createPool(size: number): Pool {
  const queue: Task[] = [];
  const seats: Seat[] = [];
  let closed = false;

  const next = (): void => {
    for (const seat of seats) {
      if (seat.task !== undefined) continue;
      const task = queue.shift();
      if (task === undefined) return;
      seat.task = task;
      task.onStep(0);
      const work: WorkOrder = { picture: task.order, cancelled: task.cancelled };
      seat.worker.postMessage(work, []);
    }
  };
  const fill = (): void => {
    if (closed) return;
    while (seats.length < size) seats.push(openSeat(next, replace));
  };
  const replace = (seat: Seat): void => {
    const at = seats.indexOf(seat);
    if (at >= 0) seats.splice(at, 1);
    // A thread that ends without work has failed to load; another would fail the same way, again and again.
    if (seat.task === undefined && queue.length === 0) return;
    fill();
    next();
  };
  fill();

  return {
    paint: (order, signal, onStep) => {
      fill();
      return enqueue(queue, { order, onStep }, signal, next);
    },
    close: async () => {
      closed = true;
      for (const task of queue.splice(0)) task.reject(new Error('The painter is closing.'));
      await Promise.all(seats.map(({ worker }) => worker.terminate()));
    },
  };
}

function enqueue(
  queue: Task[],
  { order, onStep }: Pick<Task, 'order' | 'onStep'>,
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
    const task: Task = { order, onStep, cancelled, resolve: settle(resolve), reject: settle(reject) };
    signal.addEventListener('abort', stop);
    queue.push(task);
    next();
  });
}

function openSeat(freed: () => void, ended: (seat: Seat) => void): Seat {
  const worker = new Worker(new URL('./paint-worker.ts', import.meta.url));
  const seat: Seat = { worker, task: undefined };
  // The server keeps the process alive, not its threads.
  worker.unref();
  worker.on('message', (report: WorkReport) => {
    if ('step' in report) return seat.task?.onStep(report.step);
    const { task } = seat;
    seat.task = undefined;
    if ('file' in report) task?.resolve(report);
    else task?.reject(new Error('error' in report ? report.error : 'The work was stopped.'));
    return freed();
  });
  worker.on('error', (error) => seat.task?.reject(error));
  worker.on('exit', () => {
    seat.task?.reject(new Error('A painting thread ended.'));
    ended(seat);
  });
  return seat;
}
