import type { Generation } from './generation.ts';
import type { Identity } from '../identities/identity.ts';
import type { IdentityVersion } from '../identities/version.ts';
import { newRunId } from '../base/ids.ts';
import { isFault, ServiceError } from '../base/errors.ts';
import type { Meter } from '../base/metrics.ts';
import type { GenerationStore } from './store.ts';
import { RunLost } from './record-part.ts';
import { runErrorCode, type ModelRunDeps, type runModel } from './run-model.ts';

export interface RunDeps extends ModelRunDeps {
  generations: GenerationStore;
  /** The run's own. */
  meter: Meter;
  /** Logs a cause that no caller may see. */
  logFault(requestId: string, what: string, error: unknown): void;
}

export interface Observer {
  queued?(position: number, etaSeconds: number): void;
  started?(): void;
  progress?(step: number, steps: number): void;
}

/** One run of an accepted request. A request may have several runs: only the first whose model begins goes on. */
export interface Run {
  runId: string;
  generation: Generation;
}

export const newRun = (generation: Generation): Run => ({ runId: newRunId(), generation });

export interface RunOptions {
  /** How the model is called. */
  generate: typeof runModel;
  /** The metric of the time from the reservation to the model's start. */
  waitMetric: 'queueWait' | 'asyncWait';
  observer: Observer;
}

/**
 * Has the model generate the images of a request, then charges for them.
 * @returns the request as it ended, also where another process ended it.
 * @throws RunLost, or what the run failed with. Its credits are still held then: see `releaseAfterFailure`.
 */
export async function generateAndSettle(
  run: Run,
  identity: Identity & { model: IdentityVersion },
  { generate, waitMetric, observer }: RunOptions,
  deps: RunDeps,
): Promise<Generation> {
  const { generations, clock, meter } = deps;
  let { generation } = run;
  const events = {
    queued: (position: number, etaSeconds: number) => observer.queued?.(position, etaSeconds),
    async started() {
      const startedAtMs = clock.now();
      const started = await generations.start(generation, startedAtMs, run.runId);
      if (!started) throw new RunLost('the generation was ended while its model began');
      generation = { ...generation, startedAtMs };
      meter.add(waitMetric, startedAtMs - generation.createdAtMs);
      observer.started?.();
    },
    progress: (step: number, steps: number) => observer.progress?.(step, steps),
  };
  const { outputs, previews, referenceImagesUsed, modelVersion } = await generate(
    generation,
    identity,
    events,
    deps,
  );
  const completedAtMs = clock.now();
  const completion = { completedAtMs, previews, referenceImagesUsed, modelVersion };
  const ended = await generations.settle(generation, completion);
  if (ended.status === 'COMPLETED') measureDelivery(ended, outputs, deps);
  else if (ended.errorCode === 'CANCELLED') countCancelled(ended, meter);
  return ended;
}

/**
 * Gives a failed request's credits back.
 * @param runId the run that failed; null where the request may be ended whichever run has begun it.
 * @returns the request as it ended. If the charge was stored after all, it is COMPLETED, and nothing is given back.
 * @throws RunLost when another run has begun it; GENERATION_FAILED when the outcome can't be stored.
 */
export async function releaseAfterFailure(
  generation: Generation,
  error: unknown,
  runId: string | null,
  deps: Pick<RunDeps, 'generations' | 'clock' | 'meter' | 'logFault'>,
): Promise<Generation> {
  const { generations, clock, meter } = deps;
  // Of a request that somebody cancelled, or that is another run's, it is no failure that this run breaks off; nor is a refused image.
  const logFailure = () => deps.logFault(generation.requestId, 'generation failed', error);
  const errorCode = runErrorCode(error);
  const errorMessage =
    error instanceof ServiceError
      ? error.message
      : 'The image could not be finished because of a fault of ours.';
  const status = errorCode === 'TIMEOUT' ? 'TIMEOUT' : 'FAILED';
  const unpaid = error instanceof ServiceError ? (error.unpaid ?? null) : null;
  try {
    const failure = { status, errorCode, errorMessage } as const;
    const ended = await generations.release(generation, failure, clock.now(), runId, unpaid);
    if (!['CANCELLED', 'CONTENT_REFUSED'].includes(ended.errorCode!)) logFailure();
    meter.add(ended.status === 'COMPLETED' ? 'creditsSettled' : 'creditsReleased', ended.credits);
    const isOwnEnd = ended.errorCode === errorCode;
    const inLine = error instanceof ServiceError && error.inLine && isOwnEnd;
    if (ended.errorCode !== null && !isFault(ended.errorCode, error) && !inLine) meter.add('refusedRuns', 1);
    // A refused prompt is never accepted, so it was a picture. Here and not with the answers: several may tell of one.
    if (isOwnEnd && errorCode === 'CONTENT_REFUSED') meter.add('refusedPictures', 1);
    return ended;
  } catch (cause) {
    if (cause instanceof RunLost) throw cause;
    logFailure();
    throw new ServiceError(
      'GENERATION_FAILED',
      ({ refetch }) =>
        `The outcome could not be stored. ${refetch} in a few minutes: unless it completed, nothing is charged.`,
      { cause, requestId: generation.requestId },
    );
  }
}

/** For a call that waited for a request which somebody cancelled. */
export function wasCancelled({ requestId, errorMessage }: Generation): ServiceError {
  return new ServiceError('CANCELLED', `${errorMessage} Nothing was charged.`, { requestId });
}

export function wasDeleted({ requestId }: Generation): ServiceError {
  const sentence = 'The request was deleted while this call waited for it.';
  return new ServiceError('REQUEST_NOT_FOUND', sentence, { requestId });
}

/** Who cancels a request counts none of its credits: the run that has counted them as reserved does. */
export function countCancelled({ credits }: Generation, meter: Meter): void {
  meter.add('creditsReleased', credits);
  meter.add('refusedRuns', 1);
}

function measureDelivery(ended: Generation, outputs: { bytes: number }[], { meter, clock }: RunDeps): void {
  meter.add('paintTime', ended.completedAtMs! - ended.startedAtMs!);
  meter.add('settleTime', clock.now() - ended.completedAtMs!);
  meter.add('creditsSettled', ended.credits);
  meter.add('imagesDelivered', outputs.length);
  meter.add(
    'imageBytes',
    outputs.reduce((sum, { bytes }) => sum + bytes, 0),
  );
}
