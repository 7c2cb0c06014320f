import { chunksOf } from './chunks.ts';
import {
  ApiError,
  ConnectionError,
  isApiError,
  requestIdOf,
  TimeoutError,
  unexpectedAnswer,
  withRequestId,
} from './errors.ts';
import { readEvents } from './event-stream.ts';
import { readJson, type Requester } from './requester.ts';
import { isTransient, NotRetried } from './retry.ts';
import { jsonOf, type AnyInit, type CallOptions } from './routes.ts';
import { pollUntilEnded, resultOfStored, waitForMs } from './stored.ts';
import type { Generation, GenerationEvents, GenerationResult, StoredGeneration } from './types.ts';

export interface GenerateOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; a random one by default. Within 24 hours a repeat of the same body with the same
   * key answers with the first result and charges nothing.
   */
  idempotencyKey?: string | undefined;
  /**
   * 1 to 60 seconds: an asynchronous request, which waits for a model that starts. It is answered when it has ended, or after so
   * many seconds; after that the client polls. Of the callbacks only `onAccepted` is called, when the polling begins.
   */
  wait?: number | undefined;
  onAccepted?: ((accepted: GenerationEvents['accepted']) => void) | undefined;
  /** Called while the request waits for the model: at once, when it moves up, and every few seconds. */
  onQueued?: ((queued: GenerationEvents['queued']) => void) | undefined;
  onStarted?: (() => void) | undefined;
  onProgress?: ((progress: GenerationEvents['progress']) => void) | undefined;
  /** Called when the connection broke. From now on the client polls the stored request. */
  onDisconnected?: ((disconnected: { requestId: string }) => void) | undefined;
}

export type GenerateRoute = 'POST /generate' | 'POST /playground/generate';

// Longer than any generation may take, and longer than the service needs to end a generation whose worker died.
const pollForMs = 10 * 60_000;

/**
 * Generates and resolves once the images are stored. Every try has the same idempotency key, so it is charged once,
 * however often the connection breaks.
 * @throws ApiError, ConnectionError, TimeoutError, and the signal's reason, each with the `requestId` once it was accepted. The
 * signal ends the waiting, not the generation.
 */
export async function generate(
  requester: Requester,
  route: GenerateRoute,
  body: object,
  options: GenerateOptions = {},
): Promise<GenerationResult> {
  const { signal, wait } = options;
  // The service ignores any other, and the request would not be asynchronous.
  if (wait !== undefined && !(Number.isInteger(wait) && wait >= 1 && wait <= 60))
    throw new TypeError('wait must be a whole number of seconds from 1 to 60.');
  const headers = {
    ...(wait === undefined ? { accept: 'text/event-stream' } : { prefer: `wait=${wait}` }),
    'idempotency-key': options.idempotencyKey ?? crypto.randomUUID(),
  };
  // A copy, because every try must send the same body even if the caller changes the object meanwhile.
  const copy = JSON.parse(jsonOf(body)) as typeof body;
  const init = { body: copy, headers, signal, heldBackMs: 1000 * (wait ?? 0) };
  const tryOnce = (): Promise<GenerationResult> => generateOnce(requester, route, init, options);
  return requester.retry(tryOnce, { isRetried: isTransient, signal });
}

/** One try. If it broke off and the request is stored, waits for the stored request. */
async function generateOnce(
  requester: Requester,
  route: GenerateRoute,
  init: AnyInit,
  options: GenerateOptions,
): Promise<GenerationResult> {
  const { signal, wait, onDisconnected } = options;
  const timeoutMs = wait === undefined ? pollForMs : waitForMs;
  let requestId: string | undefined;
  let error: Error;
  try {
    const answer = await requester.attempt(route, init, (response) => readAnswer(response, options));
    if ('outputs' in answer) return answer;
    ({ requestId } = answer);
    if (signal?.aborted) throw withRequestId(signal.reason, requestId);
    error = new ConnectionError('The connection broke before the result arrived.', { answerBegan: true });
    if (requestId !== undefined && wait === undefined) onDisconnected?.({ requestId });
  } catch (thrown) {
    if (!mayBeStored(thrown)) throw thrown;
    ({ requestId } = thrown);
    error = thrown;
  }
  if (requestId === undefined) throw error;
  const stored = await pollUntilEnded(requester, requestId, { signal, timeoutMs }).catch(notFound);
  // A request that is not stored was not accepted.
  if (stored === null) throw error;
  return endOf(stored);
}

/** @returns null if there is no such request. @throws anything else, so that a generation that goes on is not begun again. */
function notFound(error: unknown): null {
  if (isApiError(error, 'REQUEST_NOT_FOUND')) return null;
  throw error instanceof TimeoutError ? new NotRetried(error) : error;
}

/** Whether there may be a stored request: of a first try that still runs, or of this try, with its outcome. */
function mayBeStored(error: unknown): error is ApiError {
  if (isApiError(error, 'IDEMPOTENCY_IN_PROGRESS')) return true;
  // After 503 nothing is stored, or the request failed and its key is free again.
  return isApiError(error) && error.status >= 500 && error.status !== 503;
}

/** @returns the result, or the ID of the request to poll if the answer broke off. @throws ApiError if it failed. */
async function readAnswer(
  response: Response,
  options: GenerateOptions,
): Promise<GenerationResult | { requestId: string | undefined }> {
  let requestId = requestIdOf(response);
  // A replay, a request that is waited for, or a proxy that buffers streams, is answered with plain JSON.
  if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
    const answer = await readJson<any>(response, requestId);
    if (isGeneration(answer)) return resultOfAnswer(answer);
    // It was waited for as long as `wait` says, and runs.
    if (response.status !== 202 || typeof answer?.requestId !== 'string') throw unexpectedAnswer(response);
    const { requestId: accepted, creditsReserved } = answer;
    options.onAccepted?.({ requestId: accepted, creditsReserved });
    return { requestId: accepted };
  }
  try {
    for await (const { event, data } of readEvents(chunksOf(response.body))) {
      if (!eventNames.includes(event)) continue;
      const value = parseData(data);
      if (event === 'accepted') requestId = value.requestId ?? requestId;
      if (event === 'completed' && isGeneration(value)) return resultOfAnswer(value);
      if (event === 'failed') throw failure(value, requestId);
      notify(options, event, value);
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw withRequestId(error, requestId);
  }
  return { requestId };
}

const eventNames = ['accepted', 'queued', 'started', 'progress', 'completed', 'failed'];

/** @throws ConnectionError for malformed data, since only a broken connection can have damaged it. */
function parseData(data: string): Record<string, any> {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Thrown below.
  }
  throw new ConnectionError('An event of the answer is malformed.', { answerBegan: true });
}

function notify(options: GenerateOptions, event: string, value: Record<string, any>): void {
  if (event === 'accepted') options.onAccepted?.(value as GenerationEvents['accepted']);
  if (event === 'queued') options.onQueued?.(value as GenerationEvents['queued']);
  if (event === 'started') options.onStarted?.();
  if (event === 'progress') options.onProgress?.(value as GenerationEvents['progress']);
}

function failure({ error, code, status }: Record<string, any>, requestId: string | undefined): Error {
  if (typeof error !== 'string') return new ConnectionError('An event of the answer is malformed.');
  return new ApiError(error, { code, status, requestId });
}

function isGeneration(answer: any): answer is Generation {
  return Array.isArray(answer?.outputs) && typeof answer.usage === 'object';
}

function resultOfAnswer(answer: Generation): GenerationResult {
  return { ...answer, creditsCharged: answer.usage.creditsCharged };
}

/** @throws the failure. It is not retried, because a retry would be another generation; only that of a service without room is. */
function endOf(stored: StoredGeneration): GenerationResult {
  try {
    return resultOfStored(stored);
  } catch (failed) {
    throw isApiError(failed, 'SERVICE_UNAVAILABLE') ? failed : new NotRetried(failed);
  }
}
