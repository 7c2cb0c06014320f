import { isApiError, requestIdOf, unexpectedAnswer } from './errors.ts';
import type { GenerateRoute } from './generate.ts';
import type { WithImages } from './images.ts';
import { readJson, type Requester } from './requester.ts';
import { isTransient } from './retry.ts';
import { jsonOf, type CallOptions } from './routes.ts';
import { pollUntilEnded, resultOfStored, waitForMs, type WaitOptions } from './stored.ts';
import type { GenerationResult, StoredGeneration } from './types.ts';

export interface RespondAsyncOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; a random one by default. Within 24 hours a repeat of the same body with the same
   * key stands for the same request and charges nothing.
   */
  idempotencyKey?: string | undefined;
}

/** A request that was accepted and runs without its caller. */
export interface AcceptedGeneration {
  requestId: string;
  /** What it is charged if it completes. Null when an earlier call with the same idempotency key got the number. */
  creditsReserved: number | null;
}

/** The same as a client's `respondAsync` answers it. */
export interface PendingGeneration extends AcceptedGeneration {
  /** The stored request as it is now, with newly signed links once it completed. */
  status(options?: CallOptions): Promise<WithImages<StoredGeneration>>;
  /** `waitForGeneration` of this request. */
  wait(options?: WaitOptions): Promise<WithImages<GenerationResult>>;
  /** Ends this request, uncharged. @throws ApiError REQUEST_FINAL if it has ended already */
  cancel(options?: CallOptions): Promise<WithImages<StoredGeneration>>;
}

/**
 * Asks for images and resolves once the request is accepted: its credits are held, and it runs. Every try has the same
 * idempotency key, so that it is accepted once.
 * @throws ApiError, ConnectionError, TimeoutError, and the signal's reason
 */
export async function respondAsync(
  requester: Requester,
  route: GenerateRoute,
  body: object,
  { signal, idempotencyKey = crypto.randomUUID() }: RespondAsyncOptions = {},
): Promise<AcceptedGeneration> {
  const headers = { prefer: 'respond-async', 'idempotency-key': idempotencyKey };
  // A copy, because every try must send the same body even if the caller changes the object meanwhile.
  const init = { body: JSON.parse(jsonOf(body)) as typeof body, headers, signal };
  const tryOnce = (): Promise<AcceptedGeneration> =>
    requester.attempt(route, init, readAccepted).catch(acceptedBefore);
  return requester.retry(tryOnce, { isRetried: isTransient, signal });
}

/**
 * Reads 202, and 200 with the images: of a key whose request has completed, and of a service that knows no asynchronous
 * requests. Both name the request.
 */
async function readAccepted(response: Response): Promise<AcceptedGeneration> {
  const answer: any = await readJson<unknown>(response, requestIdOf(response));
  const credits: unknown = answer?.creditsReserved ?? answer?.usage?.creditsCharged;
  if (typeof answer?.requestId !== 'string' || typeof credits !== 'number') throw unexpectedAnswer(response);
  return { requestId: answer.requestId, creditsReserved: credits };
}

/** A try with the same key was accepted, and its answer was lost. */
function acceptedBefore(error: unknown): AcceptedGeneration {
  const isRunning = isApiError(error, 'IDEMPOTENCY_IN_PROGRESS') && error.requestId !== undefined;
  if (!isRunning) throw error;
  return { requestId: error.requestId!, creditsReserved: null };
}

/**
 * Waits until a request has ended, whoever sent it and however it is answered.
 * @throws ApiError if it failed or there is none, TimeoutError after half an hour, and the signal's reason
 */
export async function waitForGeneration(
  requester: Requester,
  requestId: string,
  options: WaitOptions = {},
): Promise<GenerationResult> {
  const timeoutMs = options.timeoutMs ?? waitForMs;
  return resultOfStored(await pollUntilEnded(requester, requestId, { ...options, timeoutMs }));
}
