import { setTimeout as wait } from 'node:timers/promises';
import type { ModelEvent, FailureReason, ModelOutput } from './contract.ts';
import type { References } from './art/references/reference.ts';
import type { Semaphore } from './semaphore.ts';
import { MODEL_VERSION } from './model-version.ts';
import type { Pool } from './pool.ts';
import { readReferences } from './references/read-references.ts';
import { UnreadableReference } from './references/unreadable-reference.ts';
import type { PaintRequest } from './request.ts';
import { UploadError, uploadImage } from './upload.ts';

/** What all requests share. */
export interface ServerContext {
  /** The painting threads. */
  pool: Pool;
  /** How many requests wait for one. */
  waiting: number;
  /** Limits the requests that hold reference images in memory at one time. */
  semaphore: Semaphore;
}

const LONGEST_QUEUE = 200;
const HEARTBEAT_MS = 3_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

class Failure extends Error {
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Does one request, from `started` to exactly one closing event, unless the caller hangs up first.
 *
 * @param hangUp aborts when nobody listens any more: all work stops and nothing is uploaded after that.
 */
export async function runJob(
  request: PaintRequest,
  context: ServerContext,
  emit: (event: ModelEvent) => void,
  hangUp: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const leave = (): void => stop.abort(hangUp.reason);
  hangUp.addEventListener('abort', leave);
  if (hangUp.aborted) leave();
  const progress = reportProgress(request.numInferenceSteps, emit);
  const alarm = setDeadline(request, stop);
  emit({ event: 'started' });
  try {
    const outputs = await answer(request, context, progress, stop.signal);
    emit({
      event: 'completed',
      outputs,
      referenceImagesUsed: request.references.length,
      modelVersion: MODEL_VERSION,
    });
  } catch (error) {
    // One output's failure ends the others' work.
    stop.abort(error);
    if (!hangUp.aborted) emit(failureEvent(error));
  } finally {
    clearTimeout(alarm);
    progress.end();
    hangUp.removeEventListener('abort', leave);
  }
}

function setDeadline(
  { deadline, identity }: PaintRequest,
  stop: AbortController,
): NodeJS.Timeout | undefined {
  if (identity.settings.neverFinishes === true) return undefined;
  const left = Math.min(Date.parse(deadline) - Date.now(), LONGEST_TIMER_MS);
  const ring = (): void =>
    stop.abort(new Failure('deadline', 'The deadline came before the images were ready.'));
  if (left > 0) return setTimeout(ring, left);
  ring();
  return undefined;
}

function failureEvent(error: unknown): ModelEvent {
  if (error instanceof Failure) return { event: 'failed', reason: error.reason, message: error.message };
  if (error instanceof UploadError)
    return { event: 'failed', reason: 'upload_failed', message: error.message };
  if (error instanceof UnreadableReference)
    return { event: 'failed', reason: 'reference_unreadable', message: error.message };
  console.error('The painter failed:', error);
  return { event: 'failed', reason: 'model_error', message: 'The painter could not paint this picture.' };
}

interface Progress {
  /** Reports a step if it is further than all before. */
  reach(step: number): void;
  end(): void;
}

/** Reports progress that only grows, and repeats the last report every few seconds, so that callers see no silence. */
function reportProgress(steps: number, emit: (event: ModelEvent) => void): Progress {
  let furthest = 0;
  const report = (): void => emit({ event: 'progress', step: furthest, steps });
  const heartbeat = setInterval(report, HEARTBEAT_MS);
  return {
    reach: (step) => {
      if (step <= furthest || step > steps) return;
      furthest = step;
      report();
    },
    end: () => clearInterval(heartbeat),
  };
}

async function answer(
  request: PaintRequest,
  context: ServerContext,
  progress: Progress,
  signal: AbortSignal,
): Promise<ModelOutput[]> {
  const { numInferenceSteps: steps } = request;
  const { failWith, delaySeconds = 0, neverFinishes } = request.identity.settings;
  signal.throwIfAborted();
  const half = Math.floor(steps / 2);
  if (neverFinishes === true) await pretendWork(Infinity, steps - 1, progress, signal);
  if (delaySeconds > 0) await pretendWork(delaySeconds * 1000, half, progress, signal);
  if (failWith !== undefined) {
    await pretendWork(60, 3, progress, signal);
    throw new Failure('model_error', failWith);
  }
  return paintAll(request, context, (share) => progress.reach(Math.floor(share * steps)), signal);
}

/** Reports steps evenly over a time, without doing anything. If the time is endless, it stays at the last step. */
async function pretendWork(
  durationMs: number,
  steps: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const endless = durationMs === Infinity;
  const pauseMs = endless ? 2_000 : durationMs / steps;
  const last = endless ? Infinity : steps;
  for (let step = 1; step <= last; step += 1) {
    await wait(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    progress.reach(Math.min(step, steps));
  }
}

async function paintAll(
  request: PaintRequest,
  context: ServerContext,
  onShare: (share: number) => void,
  signal: AbortSignal,
): Promise<ModelOutput[]> {
  if (context.waiting >= LONGEST_QUEUE) {
    throw new Failure('busy', 'Too many requests are waiting for the painter.');
  }
  let inLine = true;
  context.waiting += 1;
  const begin = (): void => {
    if (inLine) context.waiting -= 1;
    inLine = false;
  };
  const paint = async (references?: References): Promise<ModelOutput[]> =>
    paintOutputs(request, references, context.pool, { begin, onShare }, signal);
  try {
    if (request.references.length === 0) return await paint();
    return await context.semaphore.run(async () => paint(await readReferences(request, signal)), signal);
  } finally {
    begin();
  }
}

interface Listener {
  /** Called when a thread begins the first picture. */
  begin(): void;
  onShare(share: number): void;
}

async function paintOutputs(
  request: PaintRequest,
  references: References | undefined,
  pool: Pool,
  { begin, onShare }: Listener,
  signal: AbortSignal,
): Promise<ModelOutput[]> {
  const done = request.outputs.map(() => 0);
  const total = request.numInferenceSteps * done.length;
  return Promise.all(
    request.outputs.map(async ({ putUrl }, index) => {
      const options = { ...pictureOptions(request, index), ...(references && { references }) };
      const { file, sha256 } = await pool.paint(options, signal, (step) => {
        begin();
        done[index] = step;
        onShare(done.reduce((sum, steps) => sum + steps, 0) / total);
      });
      await uploadImage(putUrl, file, request.outputFormat, signal);
      return { bytes: file.length, sha256, width: request.width, height: request.height };
    }),
  );
}

/** Output i is the picture that a request of its own with seed + i would get, so only the seed depends on i. */
function pictureOptions(request: PaintRequest, index: number): Parameters<Pool['paint']>[0] {
  const { prompt, negativePrompt, numInferenceSteps, guidanceScale, width, height } = request;
  const { identity, outputFormat } = request;
  const seed = (request.seed + index) % 4294967296;
  const { style } = identity.settings;
  const picture = { prompt, negativePrompt, seed, numInferenceSteps, guidanceScale, width, height };
  return { ...picture, outputFormat, identityId: identity.id, ...(style === undefined ? {} : { style }) };
}
