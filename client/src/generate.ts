import { ApiError, ConnectionError, isApiError, TimeoutError, unexpectedAnswer } from './errors.ts';
import { readEvents } from './event-stream.ts';
import { readJson, type Requester } from './requester.ts';
import { Final, isPassing, pause } from './retry.ts';
import type { AnyInit, CallOptions } from './routes.ts';
import type { Generation, GenerationEvents, GenerationResult, StoredGeneration } from './types.ts';

export interface GenerateOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; a random one where none is given. Within 24 hours a repeat of the same body with
   * the same key answers with the first result and charges nothing.
   */
  idempotencyKey?: string | undefined;
  onAccepted?: ((accepted: GenerationEvents['accepted']) => void) | undefined;
  onStarted?: (() => void) | undefined;
  onProgress?: ((progress: GenerationEvents['progress']) => void) | undefined;
  /** The connection broke; from now on the stored request is asked for. */
  onDisconnected?: (() => void) | undefined;
}

export type GenerateRoute = 'POST /generate' | 'POST /playground/generate';

// The service tells of its progress every ten seconds. A stream that says nothing for so long is broken.
const silenceMs = 45_000;
const pollMs = 2000;
const pollAfterFaultMs = 4000;
// Longer than any generation may take, and than it takes the service to end one that it lost.
const pollForMs = 10 * 60_000;

/**
 * Generates and resolves once the images are stored. Every try has the same idempotency key, so it is charged once,
 * whatever breaks on the way.
 * @throws ApiError, ConnectionError, TimeoutError, and the signal's reason: that ends the waiting, not the generation.
 */
export async function generate(
  requester: Requester,
  route: GenerateRoute,
  body: object,
  options: GenerateOptions = {},
): Promise<GenerationResult> {
  const headers = {
    accept: 'text/event-stream',
    'idempotency-key': options.idempotencyKey ?? crypto.randomUUID(),
  };
  const { signal } = options;
  // The same bytes each time, also when the caller's object changes meanwhile: another body needs another key.
  const init = { body: structuredClone(body), headers, signal };
  return requester.retry(() => once(requester, route, init, options), { isRetried: isPassing, signal });
}

/** A try, and then the stored request where the try says that there is one. */
async function once(
  requester: Requester,
  route: GenerateRoute,
  init: AnyInit,
  options: GenerateOptions,
): Promise<GenerationResult> {
  const { signal, onDisconnected } = options;
  let requestId: string | undefined;
  let error: Error;
  try {
    const answer = await requester.attempt(route, init, (response) => readAnswer(response, options));
    if ('outputs' in answer) return answer;
    signal?.throwIfAborted();
    ({ requestId } = answer);
    error = new ConnectionError('The connection broke before the result arrived.', { answerBegan: true });
    if (requestId !== undefined) onDisconnected?.();
  } catch (thrown) {
    if (!mayBeStored(thrown)) throw thrown;
    ({ requestId } = thrown);
    error = thrown;
  }
  if (requestId === undefined) throw error;
  const stored = await untilEnded(requester, requestId, signal);
  // Not stored means not accepted.
  if (stored === null) throw error;
  return resultOf(stored);
}

/** The first try with this key still runs, or there is a record that tells better what became of it. */
function mayBeStored(error: unknown): error is ApiError {
  if (isApiError(error, 'IDEMPOTENCY_IN_PROGRESS')) return true;
  // 503 says that nothing was done, or that it failed and its key is free again.
  return isApiError(error) && error.status >= 500 && error.status !== 503;
}

/** @returns the result, or the request to ask for since the answer broke off. @throws ApiError as it failed. */
async function readAnswer(
  response: Response,
  options: GenerateOptions,
): Promise<GenerationResult | { requestId: string | undefined }> {
  let requestId = response.headers.get('x-request-id') ?? undefined;
  // A proxy that holds streams back, or a replay, may answer in one piece.
  if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
    const answer = await readJson<unknown>(response);
    if (!isGeneration(answer)) throw unexpectedAnswer(response);
    return fromAnswer(answer);
  }
  try {
    for await (const { event, data } of readEvents(audible(response.body))) {
      if (!eventNames.includes(event)) continue;
      const told = parse(data);
      if (event === 'accepted') requestId = told.requestId ?? requestId;
      if (event === 'completed' && isGeneration(told)) return fromAnswer(told);
      if (event === 'failed') throw failure(told, requestId);
      tell(options, event, told);
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
  }
  return { requestId };
}

const eventNames = ['accepted', 'started', 'progress', 'completed', 'failed'];

/** An event's data. @throws ConnectionError for what only a broken connection can have made of it. */
function parse(data: string): Record<string, any> {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw new ConnectionError('An event of the answer is malformed.', { answerBegan: true });
}

function tell(options: GenerateOptions, event: string, told: Record<string, any>): void {
  if (event === 'accepted') options.onAccepted?.(told as GenerationEvents['accepted']);
  if (event === 'started') options.onStarted?.();
  if (event === 'progress') options.onProgress?.(told as GenerationEvents['progress']);
}

function failure({ error, code, status }: Record<string, any>, requestId: string | undefined): Error {
  if (typeof error !== 'string') return new ConnectionError('An event of the answer is malformed.');
  return new ApiError(error, { code, status, requestId });
}

/** A body's chunks. @throws ConnectionError when it breaks, and after a silence. */
async function* audible(body: Response['body']): AsyncGenerator<Uint8Array, void, void> {
  if (body === null) return;
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(reject, silenceMs);
      });
      const { done, value } = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } catch (cause) {
    throw new ConnectionError('The answer broke off.', { answerBegan: true, cause });
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** @returns the stored request once it has ended, null when there is none. */
async function untilEnded(
  requester: Requester,
  requestId: string,
  signal: AbortSignal | undefined,
): Promise<StoredGeneration | null> {
  const untilMs = Date.now() + pollForMs;
  for (let waitMs = 0; Date.now() + waitMs < untilMs;) {
    await pause(waitMs, signal);
    const found = await lookUp(requester, requestId, signal);
    if (typeof found !== 'number') return found;
    waitMs = found;
  }
  const sentence = 'The generation takes longer than expected. It goes on, and can be fetched later.';
  throw new Final(new TimeoutError(sentence, requestId));
}

/** @returns the stored request if it has ended, null when there is none, or how long to wait before asking again. */
async function lookUp(
  requester: Requester,
  requestId: string,
  signal: AbortSignal | undefined,
): Promise<StoredGeneration | null | number> {
  const init = { path: { requestId }, signal };
  try {
    const stored = await requester.attempt('GET /generate/{requestId}', init, readJson<StoredGeneration>);
    return stored.status === 'QUEUED' || stored.status === 'PROCESSING' ? pollMs : stored;
  } catch (error) {
    if (isApiError(error, 'REQUEST_NOT_FOUND')) return null;
    if (!isPassing(error)) throw error;
    const askedMs = error instanceof ApiError && error.retryAfterSeconds && error.retryAfterSeconds * 1000;
    return Math.max(pollMs, askedMs || pollAfterFaultMs);
  }
}

function isGeneration(answer: any): answer is Generation {
  return Array.isArray(answer?.outputs) && typeof answer.usage === 'object';
}

function fromAnswer(answer: Generation): GenerationResult {
  return { ...answer, creditsCharged: answer.usage.creditsCharged };
}

/** @throws ApiError when it failed: not to be retried, for that would be another generation. */
function resultOf(stored: StoredGeneration): GenerationResult {
  const { id: requestId, status, outputs, identity, seed, creditsCharged, referenceImagesUsed } = stored;
  if (status === 'COMPLETED') {
    const { id, name } = identity;
    // Null only before the end.
    const processingTimeMs = stored.processingTimeMs!;
    const facts = { requestId, outputs, identity: { id, name }, seed, creditsCharged };
    return { ...facts, referenceImagesUsed, processingTimeMs, usage: null };
  }
  const [httpStatus, code] = status === 'TIMEOUT' ? [504, 'TIMEOUT'] : [500, 'GENERATION_FAILED'];
  const sentence = stored.errorMessage ?? 'The image could not be finished.';
  throw new Final(new ApiError(`${sentence} Nothing was charged.`, { status: httpStatus, code, requestId }));
}
