import { setTimeout as wait } from 'node:timers/promises';
import type { References } from './art/references/reference.ts';
import { watchCancellation } from './cancellation.ts';
import type { ModelEvent, ModelOutput } from './contract.ts';
import { workOf } from './estimate.ts';
import { Failure } from './failure.ts';
import type { Entrant, Line, Ticket } from './line.ts';
import { MODEL_VERSION } from './model-version.ts';
import type { Pool } from './pool.ts';
import { readReferences } from './references/read-references.ts';
import { putPreview } from './put-preview.ts';
import { createReports } from './reports.ts';
import type { Reports } from './reports.ts';
import type { PaintRequest } from './request.ts';
import type { Semaphore } from './semaphore.ts';
import { UploadError, uploadImage } from './upload.ts';

/** What all requests share. */
export interface ServerContext {
  /** The painting threads. */
  pool: Pool;
  /** Whose turn it is to be painted. */
  line: Line;
  /** Limits the requests that hold reference images in memory at one time. */
  semaphore: Semaphore;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Does one request, to exactly one closing event, unless the caller hangs up first.
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
  let ticket: Ticket | undefined;
  const reports = createReports(request.numInferenceSteps, emit, () => ticket?.place());
  const alarm = setDeadline(request, stop);
  void watchCancellation(request.cancelUrl, stop);
  // An older service takes what comes before `started` for silence.
  if (request.tenant === undefined) reports.begin();
  try {
    stop.signal.throwIfAborted();
    ticket = context.line.enter(entrantOf(request, reports, stop), stop.signal);
    const outputs = await answer(request, context, ticket, reports, stop.signal);
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
    // Nothing is left to cancel.
    stop.abort();
    clearTimeout(alarm);
    reports.end();
    hangUp.removeEventListener('abort', leave);
  }
}

/** What an identity only pretends takes no thread, so it counts neither for its own time nor for that of others. */
function entrantOf(request: PaintRequest, reports: Reports, stop: AbortController): Entrant {
  const { tenant = '', deadline, identity, outputs } = request;
  const { failWith, neverFinishes } = identity.settings;
  const paintsNothing = failWith !== undefined || neverFinishes === true;
  return {
    tenant,
    pictures: outputs.length,
    work: paintsNothing ? 0 : workOf(request),
    deadlineMs: neverFinishes === true ? Infinity : Date.parse(deadline),
    onPlace: reports.wait,
    onRefused: (reason) => stop.abort(reason),
  };
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
  if (error instanceof Failure) {
    const { reason, message, reference } = error;
    return { event: 'failed', reason, message, ...(reference !== undefined && { reference }) };
  }
  if (error instanceof UploadError)
    return { event: 'failed', reason: 'upload_failed', message: error.message };
  console.error('The painter failed:', error);
  return { event: 'failed', reason: 'model_error', message: 'The painter could not paint this picture.' };
}

async function answer(
  request: PaintRequest,
  { pool, semaphore }: ServerContext,
  ticket: Ticket,
  reports: Reports,
  signal: AbortSignal,
): Promise<ModelOutput[]> {
  const paint = (references?: References): Promise<ModelOutput[]> =>
    ticket.turn(async () => {
      reports.begin();
      if (pretends(request)) await pretend(request, reports, signal);
      return paintOutputs(request, references, pool, reports, signal);
    });
  if (request.references.length === 0) return paint();
  await ticket.near();
  return semaphore.run(async () => paint(await readReferences(request, signal)), signal);
}

function pretends({ identity }: PaintRequest): boolean {
  const { failWith, delaySeconds = 0, neverFinishes } = identity.settings;
  return failWith !== undefined || delaySeconds > 0 || neverFinishes === true;
}

async function pretend(request: PaintRequest, reports: Reports, signal: AbortSignal): Promise<void> {
  const { numInferenceSteps: steps } = request;
  const { failWith, delaySeconds = 0, neverFinishes } = request.identity.settings;
  const half = Math.floor(steps / 2);
  if (neverFinishes === true) await pretendWork(Infinity, steps - 1, reports, signal);
  if (delaySeconds > 0) await pretendWork(delaySeconds * 1000, half, reports, signal);
  if (failWith === undefined) return;
  await pretendWork(60, 3, reports, signal);
  throw new Failure('model_error', failWith);
}

/** Reports steps evenly over a time, without doing anything. If the time is endless, it stays at the last step. */
async function pretendWork(
  durationMs: number,
  steps: number,
  reports: Reports,
  signal: AbortSignal,
): Promise<void> {
  const endless = durationMs === Infinity;
  const pauseMs = endless ? 2_000 : durationMs / steps;
  const last = endless ? Infinity : steps;
  for (let step = 1; step <= last; step += 1) {
    await wait(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    reports.reach(Math.min(step, steps));
  }
}

async function paintOutputs(
  request: PaintRequest,
  references: References | undefined,
  pool: Pool,
  reports: Reports,
  signal: AbortSignal,
): Promise<ModelOutput[]> {
  const done = request.outputs.map(() => 0);
  return Promise.all(
    request.outputs.map(async ({ putUrl, previewPutUrl }, index) => {
      const options = { ...pictureOptions(request, index), ...(references && { references }) };
      const { file, preview, sha256 } = await pool.paint(options, signal, (step) => {
        done[index] = step;
        reports.reach(Math.floor(done.reduce((sum, steps) => sum + steps, 0) / done.length));
      });
      const [previewBytes] = await Promise.all([
        putPreview(previewPutUrl, preview, Date.parse(request.deadline), signal),
        uploadImage(putUrl, file, { 'content-type': `image/${request.outputFormat}` }, signal),
      ]);
      const output = { bytes: file.length, sha256, width: request.width, height: request.height };
      return { ...output, ...(previewBytes !== undefined && { previewBytes }) };
    }),
  );
}

/** Output i is the picture that a request of its own with seed + i would get, so only the seed depends on i. */
function pictureOptions(request: PaintRequest, index: number): Parameters<Pool['paint']>[0] {
  const { prompt, negativePrompt, numInferenceSteps, guidanceScale, width, height } = request;
  const { identity, outputFormat, embedParameters } = request;
  const seed = (request.seed + index) % 4294967296;
  const { style } = identity.settings;
  const picture = { prompt, negativePrompt, seed, numInferenceSteps, guidanceScale, width, height };
  const withPreview = typeof request.outputs[index]?.previewPutUrl === 'string';
  const file = { outputFormat, embedParameters, withPreview, identityVersion: identity.version };
  return { ...picture, ...file, identityId: identity.id, ...(style === undefined ? {} : { style }) };
}
