import type { ModelServer } from '../model/client.ts';
import type { ObjectStore } from '../images/object-store.ts';
import {
  modelFailureReasons,
  type ModelCompleted,
  type ModelEvent,
  type ModelOutput,
  type ModelRequest,
} from '../model/contract.ts';
import { previewLimits } from '../images/previews.ts';
import { isoTime, type Clock } from '../base/clock.ts';
import { generationErrorCodes, type GenerationErrorCode } from './contract.ts';
import { linkMarginSeconds, type Generation } from './generation.ts';
import type { Identity } from '../identities/identity.ts';
import { adapterVersionOf, type IdentityVersion } from '../identities/version.ts';
import { unavailable } from '../model/breaker.ts';
import { tenantOf } from '../model/tenant.ts';
import { categoriesInWords, knownCategories } from '../moderation/categories.ts';
import { counted } from '../base/words.ts';
import { ServiceError, type ServiceErrorOptions } from '../base/errors.ts';

export interface ModelRunDeps {
  model: ModelServer;
  objects: ObjectStore;
  clock: Clock;
  /** Ends every run once it aborts. */
  stopping: AbortSignal;
  /** Whether the images' files say all that they were made from, the prompt too. */
  embedParameters: boolean;
  /** The trace that the run's request is part of; nothing where its caller named none. */
  traceparent?: string | null | undefined;
}

export interface ModelRunEvents {
  /** The request waits; it is the first of those that wait at position 1. Never called once it has started. */
  queued(position: number, etaSeconds: number): void;
  /** The model began; the run waits for this before it completes. */
  started(): Promise<void>;
  progress(step: number, steps: number): void;
}

/** What the model has generated. */
export interface GeneratedImages extends ModelCompleted {
  /** Which outputs have a preview. */
  previews: boolean[];
}

const maxLoggedChars = 300;
/** A preview that is not found by then counts as missing, because nobody should wait for it. */
const previewCheckMs = 2000;

/**
 * Has the model generate what a request asks for. Ends at its deadline, or when the service is stopped.
 * @returns what the model reported, after every image was found in the store at its full size.
 * @throws ServiceError with one of `generationErrorCodes`, and a sentence for the customer.
 */
export async function runModel(
  generation: Generation,
  identity: Identity & { model: IdentityVersion },
  events: ModelRunEvents,
  deps: ModelRunDeps,
): Promise<GeneratedImages> {
  const remainingMs = generation.deadlineMs - deps.clock.now();
  if (remainingMs <= 0) throw timedOut(generation);
  const deadline = deps.clock.timeout(remainingMs);
  const startFailed = new AbortController();
  const signal = AbortSignal.any([deadline, deps.stopping, startFailed.signal]);
  const work = watchWork(generation, deps.clock);
  let starting: Promise<void> | undefined;
  const start = () => {
    if (starting === undefined) work.started();
    starting ??= events.started();
    // The container is hung up on at once, also if it sends nothing for a while.
    starting.catch((error: unknown) => startFailed.abort(error));
    return starting;
  };
  try {
    const request = await requestFor(generation, identity, deps);
    for await (const event of deps.model.generate(request, signal)) {
      if (event.event === 'queued') {
        // What has started does not wait any more, whatever its container says.
        if (starting === undefined) {
          work.queued();
          events.queued(event.position, event.etaSeconds);
        }
      } else if (event.event === 'started') void start();
      else if (event.event === 'progress') {
        // Send no progress before `started`.
        await start();
        work.progress(event.step, event.steps);
        events.progress(event.step, event.steps);
      } else if (event.event === 'failed') throw failureOf(event, generation, work);
      else if (event.event === 'completed') {
        await start();
        return await checkOutputs(generation, event, deps);
      }
    }
  } catch (error) {
    if (startFailed.signal.aborted) throw startFailed.signal.reason;
    if (!signal.aborted || error instanceof ServiceError) throw error;
    throw deadline.aborted ? timedOut(generation, work.atDeadline()) : stopped();
  }
  throw new ServiceError('GENERATION_FAILED', 'The model stopped before it had finished.');
}

async function requestFor(
  generation: Generation,
  identity: Identity & { model: IdentityVersion },
  { objects, clock, embedParameters, traceparent }: ModelRunDeps,
): Promise<ModelRequest> {
  const lifetimeSeconds = Math.ceil((generation.deadlineMs - clock.now()) / 1000) + linkMarginSeconds;
  const { adapterKey, adapterSha256, number, settings } = identity.model;
  const outputs = Array.from({ length: generation.numOutputs }, async (_, i) => ({
    putUrl: await objects.outputPutLink(generation, i, lifetimeSeconds),
    previewPutUrl: await objects.previewPutLink(generation, i, lifetimeSeconds),
  }));
  const references = Array.from({ length: generation.referenceImages }, async (_, i) => ({
    url: await objects.referenceLink(generation, i, lifetimeSeconds),
  }));
  return {
    requestId: generation.requestId,
    deadline: isoTime(generation.deadlineMs),
    tenant: tenantOf(generation.licenseId),
    ...(traceparent && { traceparent }),
    prompt: generation.effectivePrompt ?? generation.prompt,
    negativePrompt: generation.negativePrompt,
    seed: generation.seed,
    numInferenceSteps: generation.steps,
    guidanceScale: generation.cfgScale,
    width: generation.width,
    height: generation.height,
    numOutputs: generation.numOutputs,
    outputFormat: generation.outputFormat,
    embedParameters,
    referenceMode: generation.referenceMode,
    preserveBranding: generation.preserveBranding,
    references: await Promise.all(references),
    identity: {
      id: identity.identityId,
      adapterUrl: adapterKey === null ? null : await objects.adapterLink(adapterKey, lifetimeSeconds),
      adapterVersion: adapterVersionOf(number),
      version: number,
      adapterSha256,
      settings,
    },
    outputs: await Promise.all(outputs),
    cancelUrl: await objects.cancelledLink(generation, lifetimeSeconds),
    ...(generation.moderation && { pictureCheck: generation.moderation }),
  };
}

/** Asks the store whether the images are there that the model says it stored, and which have a preview. */
async function checkOutputs(
  generation: Generation,
  event: ModelCompleted,
  deps: Pick<ModelRunDeps, 'objects' | 'clock'>,
): Promise<GeneratedImages> {
  const { outputs } = event;
  const asked = ({ width, height }: ModelOutput) =>
    width === generation.width && height === generation.height;
  if (outputs.length !== generation.numOutputs || !outputs.every(asked)) throw undelivered();
  const [sizes, previews] = await Promise.all([
    Promise.all(outputs.map((_, i) => deps.objects.outputSize(generation, i))),
    storedPreviews(generation, outputs, deps),
  ]);
  if (!outputs.every(({ bytes }, i) => bytes === sizes[i])) throw undelivered();
  return { ...event, previews };
}

/** Never throws: an image that has no preview is as good as one that has. */
async function storedPreviews(
  generation: Generation,
  outputs: ModelOutput[],
  { objects, clock }: Pick<ModelRunDeps, 'objects' | 'clock'>,
): Promise<boolean[]> {
  const isStored = async ({ previewBytes }: ModelOutput, i: number): Promise<boolean> => {
    if (!previewBytes || previewBytes > previewLimits.maxBytes) return false;
    const signal = clock.timeout(previewCheckMs);
    const size = await objects.previewSize(generation, i, signal).catch(() => null);
    return size === previewBytes;
  };
  return Promise.all(outputs.map(isStored));
}

function undelivered(): ServiceError {
  return new ServiceError('GENERATION_FAILED', 'The model did not deliver the images that were asked for.');
}

/** Watches whether a deadline is due to what was asked for, and not to a line, a model that hangs or a store that is slow. */
function watchWork({ createdAtMs, deadlineMs }: Generation, clock: Clock) {
  const halfAtMs = (createdAtMs + deadlineMs) / 2;
  let beganEarly = false;
  let furthest = 0;
  let goesOn = false;
  let inLine = false;
  return {
    queued: () => void (inLine = true),
    started(): void {
      beganEarly = clock.now() <= halfAtMs;
      inLine = false;
    },
    progress(step: number, steps: number): void {
      if (step === steps) goesOn = false;
      // Containers repeat the last step, so that nobody takes them for dead.
      else if (step > furthest) goesOn = clock.now() > halfAtMs;
      furthest = Math.max(furthest, step);
    },
    /** It counts for its license where the model had more than half of the time, and is still at work. */
    atDeadline: (): Excuse => ({ unpaid: beganEarly && goesOn ? 'deadline' : undefined, inLine }),
  };
}

/** No caller reads the container's own words: nobody knows what they hold. They go to the log. */
function failureOf(
  event: Extract<ModelEvent, { event: 'failed' }>,
  generation: Generation,
  work: ReturnType<typeof watchWork>,
): ServiceError {
  const reason = modelFailureReasons.find((known) => known === event.reason) ?? 'model_error';
  if (reason === 'deadline') return timedOut(generation, work.atDeadline());
  if (reason === 'content_refused') return contentRefused(event, generation);
  const cause = new Error(`model server: failed: ${reason}: ${loggable(event.message, generation)}`);
  if (reason === 'busy') {
    const sentence =
      'The models are too busy for this request. Try again shortly, or ask for fewer or smaller images.';
    return new ServiceError('SERVICE_UNAVAILABLE', sentence, { cause, noFault: true });
  }
  if (reason === 'unavailable') return unavailable(cause);
  const { reference } = event;
  if (reason === 'reference_invalid' && reference !== undefined && reference < generation.referenceImages) {
    const sentence = 'must be an undamaged image that shows something: the model could not read it.';
    return new ServiceError('INVALID_PARAMETERS', `referenceImages[${reference}]: ${sentence}`, {
      cause,
      unpaid: 'reference',
    });
  }
  if (reason === 'reference_unreadable' || reason === 'reference_invalid') {
    return new ServiceError('GENERATION_FAILED', 'The model could not read a reference image.', { cause });
  }
  return new ServiceError('GENERATION_FAILED', 'The model could not finish the image.', { cause });
}

/** Nothing was put: a container checks all images first. Its words are not logged either: it is nobody's fault. */
function contentRefused(
  { categories: found = [], reference }: Extract<ModelEvent, { event: 'failed' }>,
  { referenceImages }: Generation,
): ServiceError {
  const categories = knownCategories(found);
  const what = `was refused for ${categoriesInWords(categories)}.`;
  const sentence =
    reference !== undefined && reference < referenceImages
      ? `referenceImages[${reference}] ${what} Use another image.`
      : `The image ${what} Change the prompt, or try another seed.`;
  return new ServiceError('CONTENT_REFUSED', sentence, { categories, unpaid: 'refused' });
}

/**
 * A container's text as one line for the log, without what it may quote: links and other long strings, and all that stands in the
 * prompts, also where it is cut or escaped. Other alphabets are left out: nobody knows where their words end.
 */
function loggable(text: string, { prompt, effectivePrompt, negativePrompt }: Generation): string {
  const asked = `${effectivePrompt ?? prompt} ${negativePrompt}`.toLowerCase();
  const askedWords = asked.match(/[a-z0-9]{3,}/g) ?? [];
  const isQuoted = (word: string) => asked.includes(word) || askedWords.some((one) => word.includes(one));
  return text
    .slice(0, 4 * maxLoggedChars)
    .replace(/https?:\S*|\S{40,}|[^\x20-\x7e]+/g, ' ')
    .replace(/[a-z0-9]+/gi, (word) => (isQuoted(word.toLowerCase()) ? '~' : word))
    .slice(0, maxLoggedChars);
}

/** What says that a deadline is no fault. */
type Excuse = Pick<ServiceErrorOptions, 'unpaid' | 'noFault' | 'inLine'>;

export function timedOut(generation: Generation, excuse: Excuse = {}): ServiceError {
  const seconds = Math.round((generation.deadlineMs - generation.createdAtMs) / 1000);
  const sentence = `The image was not finished within ${counted(seconds, 'second')}.`;
  return new ServiceError('TIMEOUT', sentence, excuse);
}

export function stopped(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service was stopped before the image was finished.');
}

/** The code that a failure is stored with. Whatever has no code of its own is a failed generation. */
export function runErrorCode(error: unknown): GenerationErrorCode {
  const code = error instanceof ServiceError ? error.code : null;
  return generationErrorCodes.find((known) => known === code) ?? 'GENERATION_FAILED';
}
