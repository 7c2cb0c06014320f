import { ApiError } from './api-error.ts';
import type { Api } from './client.ts';
import { readEvents } from './event-stream.ts';
import type {
  GenerationAnswer,
  GenerationEvents,
  OutputFormat,
  ReferenceMode,
  StoredGeneration,
} from './types.ts';

/** The body of POST /playground/generate; what is left out has the service's default. */
export interface PlaygroundBody {
  licenseId: string;
  identityId: string;
  prompt: string;
  negativePrompt?: string;
  seed?: number;
  numInferenceSteps?: number;
  guidanceScale?: number;
  numOutputs?: number;
  width?: number;
  height?: number;
  outputFormat?: OutputFormat;
  referenceImages?: ({ url: string } | { uploadId: string })[];
  referenceMode?: ReferenceMode;
  preserveBranding?: boolean;
}

/** What is known of a generation that succeeded, whether its stream told it or it was looked up. */
export interface Generated {
  requestId: string;
  outputs: string[];
  identity: { id: string; name: string };
  seed: number;
  creditsCharged: number;
  processingTimeMs: number | null;
  /** Null when it was looked up; GET /usage knows. */
  usage: GenerationAnswer['usage'] | null;
}

export interface GenerateOptions {
  body: PlaygroundBody;
  /** Keep it for a repeat of the same body: a repeat answers with the first result and charges nothing. */
  idempotencyKey: string;
  onAccepted?: (accepted: GenerationEvents['accepted']) => void;
  onStarted?: () => void;
  onProgress?: (progress: GenerationEvents['progress']) => void;
  /** The stream broke; from now on the stored request is asked for. */
  onDisconnected?: () => void;
  /** Ends the waiting, not the generation, which is stored all the same. */
  signal?: AbortSignal;
}

// A stream that says nothing for so long is taken for broken: looking the request up tells for sure.
const silenceMs = 45_000;
const pollMs = 2000;
const pollForMs = 10 * 60_000;

/**
 * Generates and resolves once there are images.
 * @throws ApiError as the API refused or failed it; the signal's reason when it was aborted.
 */
export async function generate(api: Api, options: GenerateOptions): Promise<Generated> {
  const { body, idempotencyKey, signal } = options;
  const headers = { accept: 'text/event-stream', 'idempotency-key': idempotencyKey };
  let response: Response;
  try {
    response = await api.send('/playground/generate', { method: 'POST', body, headers, signal });
  } catch (error) {
    // The first attempt with this key still runs, and is the one that was asked for.
    const running =
      error instanceof ApiError && error.code === 'IDEMPOTENCY_IN_PROGRESS' ? error.requestId : undefined;
    if (running === undefined) throw error;
    return poll(api, running, signal);
  }
  if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
    return replayed(response, signal);
  }
  return follow(api, response, options);
}

/** A repeat is answered with the first result, in one piece. */
async function replayed(response: Response, signal: AbortSignal | undefined): Promise<Generated> {
  try {
    return fromAnswer((await response.json()) as GenerationAnswer);
  } catch {
    signal?.throwIfAborted();
    throw brokenOff();
  }
}

async function follow(api: Api, response: Response, options: GenerateOptions): Promise<Generated> {
  let requestId = response.headers.get('x-request-id') ?? undefined;
  try {
    for await (const { event, data } of readEvents(audible(response.body, silenceMs))) {
      const told = tell(options, event, data, requestId);
      if (event === 'accepted') {
        requestId = (JSON.parse(data) as Partial<GenerationEvents['accepted']>).requestId ?? requestId;
      }
      if (told !== null) return told;
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof ApiError) throw error;
  }
  options.signal?.throwIfAborted();
  if (requestId === undefined) throw brokenOff();
  options.onDisconnected?.();
  return poll(api, requestId, options.signal);
}

function brokenOff(): ApiError {
  const sentence =
    'The connection broke before the result arrived. Look in your history before you try again.';
  return new ApiError(sentence, { status: 0, code: 'NETWORK' });
}

/** @returns the result once it is told, null before. Unknown events are passed over. */
function tell(
  options: GenerateOptions,
  event: string,
  data: string,
  requestId: string | undefined,
): Generated | null {
  if (event === 'accepted') options.onAccepted?.(JSON.parse(data) as GenerationEvents['accepted']);
  if (event === 'started') options.onStarted?.();
  if (event === 'progress') options.onProgress?.(JSON.parse(data) as GenerationEvents['progress']);
  if (event === 'completed') return fromAnswer(JSON.parse(data) as GenerationEvents['completed']);
  if (event === 'failed') {
    const { error, code, status } = JSON.parse(data) as GenerationEvents['failed'];
    throw new ApiError(error, { status, code, requestId });
  }
  return null;
}

/** A body's chunks. @throws Error after a silence. */
async function* audible(body: Response['body'], limitMs: number): AsyncGenerator<Uint8Array, void, void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const silence = Promise.withResolvers<never>();
      const timer = setTimeout(() => silence.reject(new Error('The stream fell silent.')), limitMs);
      const { done, value } = await Promise.race([reader.read(), silence.promise]).finally(() =>
        clearTimeout(timer),
      );
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

async function poll(api: Api, requestId: string, signal: AbortSignal | undefined): Promise<Generated> {
  const untilMs = Date.now() + pollForMs;
  for (let waitMs = 0; Date.now() + waitMs < untilMs;) {
    await pause(waitMs, signal);
    const found = await lookUp(api, requestId, signal);
    const result = 'waitMs' in found ? null : fromStored(found);
    if (result !== null) return result;
    waitMs = 'waitMs' in found ? found.waitMs : pollMs;
  }
  const sentence = 'The result is taking longer than expected. It will appear in your history.';
  throw new ApiError(sentence, { status: 504, code: 'STILL_RUNNING', requestId });
}

/** @returns the stored request, or how long to wait before asking again. */
async function lookUp(
  api: Api,
  requestId: string,
  signal: AbortSignal | undefined,
): Promise<StoredGeneration | { waitMs: number }> {
  try {
    return await api.json<StoredGeneration>(`/generate/${encodeURIComponent(requestId)}`, { signal });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The stream began but its request was never stored, so nothing was accepted.
    if (error.code === 'REQUEST_NOT_FOUND') throw brokenOff();
    if (!isPassing(error)) throw error;
    return { waitMs: Math.max(pollMs, (error.retryAfterSeconds ?? 4) * 1000) };
  }
}

function isPassing({ status }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500;
}

function fromAnswer(answer: GenerationAnswer): Generated {
  const { requestId, outputs, identity, seed, processingTimeMs, usage } = answer;
  return {
    requestId,
    outputs,
    identity,
    seed,
    processingTimeMs,
    usage,
    creditsCharged: usage.creditsCharged,
  };
}

/** @returns null while it runs. @throws ApiError when it failed; it names the request that it is about. */
function fromStored(stored: StoredGeneration): Generated | null {
  const { id: requestId, status, outputs, identity, seed, processingTimeMs, creditsCharged } = stored;
  if (status === 'COMPLETED') {
    return { requestId, outputs, identity, seed, processingTimeMs, creditsCharged, usage: null };
  }
  if (status === 'QUEUED' || status === 'PROCESSING') return null;
  const timedOut = status === 'TIMEOUT';
  const sentence = timedOut
    ? 'The image was not finished in time. No credits were charged.'
    : 'The generation failed. No credits were charged.';
  throw new ApiError(stored.errorMessage ?? sentence, {
    status: timedOut ? 504 : 500,
    code: timedOut ? 'TIMEOUT' : 'GENERATION_FAILED',
    requestId,
  });
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = (): void => {
    clearTimeout(timer);
    reject(signal?.reason);
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return promise.finally(() => signal?.removeEventListener('abort', abort));
}
