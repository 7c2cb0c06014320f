import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { paintPicture } from './art/paint.ts';
import type { PictureOptions } from './art/paint.ts';

/** The protocol between the pool and a worker thread. */
export interface PaintTask {
  picture: PictureOptions;
  /** One 32-bit flag. It is set to 1 when nobody waits for the picture any more. */
  cancelled: SharedArrayBuffer;
}

/** The seconds are the painting's own, without the thread's start. */
export type PaintReport =
  | { step: number }
  | { file: Uint8Array<ArrayBuffer>; preview?: Uint8Array<ArrayBuffer>; sha256: string; seconds: number }
  | { stopped: true; seconds: number }
  | { error: string };

class Cancelled extends Error {}

parentPort?.on('message', async ({ picture, cancelled }: PaintTask) => {
  const flag = new Int32Array(cancelled);
  const startMs = performance.now();
  const seconds = (): number => (performance.now() - startMs) / 1000;
  let reported = 0;
  // A worker paints without a pause and would read a message only afterwards, so the flag is in shared memory.
  const tick = (share: number): void => {
    if (Atomics.load(flag, 0) !== 0) throw new Cancelled();
    const step = Math.floor(share * picture.numInferenceSteps);
    if (step <= reported) return;
    reported = step;
    report({ step });
  };
  try {
    const files = await paintPicture(picture, tick);
    const sha256 = createHash('sha256').update(files.file).digest('hex');
    const buffers = [files.file, files.preview].flatMap((file) => file?.buffer ?? []);
    report({ ...files, sha256, seconds: seconds() }, buffers);
  } catch (error) {
    const stopped = error instanceof Cancelled;
    report(stopped ? { stopped, seconds: seconds() } : { error: String((error as Error).stack) });
  }
});

function report(message: PaintReport, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
