import { ApiError, isApiError, retryAfterOf, TimeoutError, withRequestId } from './errors.ts';
import { readJson, type Requester } from './requester.ts';
import { isTransient, pause } from './retry.ts';
import type { CallOptions } from './routes.ts';
import type { DeletedGeneration, GenerationResult, StoredGeneration } from './types.ts';

export interface WaitOptions extends CallOptions {
  /** Called with the stored request each time that it was looked up, the last time included. */
  onStatus?: ((stored: StoredGeneration) => void) | undefined;
  /** After how long TimeoutError is thrown although the request goes on; 1,800,000 (half an hour) by default. */
  timeoutMs?: number | undefined;
}

export interface PollOptions extends WaitOptions {
  timeoutMs: number;
}

// The latest deadline of an asynchronous request is 14 minutes, and a request whose worker died is ended a little later.
export const waitForMs = 30 * 60_000;

// Shorter than this is impolite, whatever the service says.
const shortestWaitSeconds = 1;
// For a service that does not say when to look again.
const usualWaitSeconds = 2;
const waitAfterFaultSeconds = 4;

/**
 * Looks at a stored request until it has ended, as often as the service asks for. Goes on after faults of the network and
 * while the service is busy.
 * @throws ApiError when there is none or it may not be looked at, TimeoutError, and the signal's reason, each with the `requestId`
 */
export async function pollUntilEnded(
  requester: Requester,
  requestId: string,
  { signal, onStatus, timeoutMs }: PollOptions,
): Promise<StoredGeneration> {
  if (Number.isNaN(timeoutMs)) throw new TypeError('timeoutMs is NaN: give a number.');
  const untilMs = Date.now() + timeoutMs;
  for (let waitMs = 0; Date.now() + waitMs < untilMs;) {
    const { stored, waitSeconds } = await lookAt(requester, requestId, { signal, waitMs });
    if (stored !== null) onStatus?.(stored);
    if (stored !== null && hasEnded(stored)) return stored;
    // The random part spreads programs that wait for many requests.
    waitMs = 1000 * waitSeconds * (1 + Math.random() / 4);
  }
  const sentence = 'The generation takes longer than expected. It goes on, and can be fetched later.';
  throw new TimeoutError(sentence, requestId);
}

interface Looked {
  /** Null after a fault that may pass. */
  stored: StoredGeneration | null;
  /** When to look again. */
  waitSeconds: number;
}

async function lookAt(
  requester: Requester,
  requestId: string,
  { signal, waitMs }: CallOptions & { waitMs: number },
): Promise<Looked> {
  try {
    await pause(waitMs, signal);
    const init = { path: { requestId }, signal };
    return await requester.attempt('GET /generate/{requestId}', init, async (response) => {
      const asked = retryAfterOf(response.headers) || usualWaitSeconds;
      const stored = await readJson<StoredGeneration>(response);
      return { stored, waitSeconds: Math.max(shortestWaitSeconds, asked) };
    });
  } catch (error) {
    if (!isTransient(error)) throw withRequestId(error, requestId);
    const asked = error instanceof ApiError ? error.retryAfterSeconds : undefined;
    return { stored: null, waitSeconds: Math.max(usualWaitSeconds, asked || waitAfterFaultSeconds) };
  }
}

/**
 * Deletes a stored request. A repeat that finds nothing after an answer was lost means that an earlier try deleted it.
 * @throws ApiError REQUEST_NOT_FOUND, REQUEST_IN_PROGRESS, and whatever any request may throw
 */
export function deleteGeneration(
  requester: Requester,
  requestId: string,
  { signal }: CallOptions = {},
): Promise<DeletedGeneration> {
  let mayBeDone = false;
  const work = async (): Promise<DeletedGeneration> => {
    try {
      const init = { path: { requestId }, signal };
      return await requester.attempt('DELETE /generate/{requestId}', init, readJson<DeletedGeneration>);
    } catch (error) {
      if (mayBeDone && isApiError(error, 'REQUEST_NOT_FOUND')) return { requestId, deleted: true };
      mayBeDone ||= isOutcomeUnknown(error);
      throw error;
    }
  };
  return requester.retry(work, { isRetried: isTransient, signal });
}

/**
 * Ends a request that has not ended, uncharged. It is sent again when the answer was lost: of a cancelled request the answer is the same.
 * @throws ApiError REQUEST_FINAL of a request that has ended otherwise, REQUEST_NOT_FOUND, and whatever any request may throw
 */
export function cancelGeneration(
  requester: Requester,
  requestId: string,
  { signal }: CallOptions = {},
): Promise<StoredGeneration> {
  const init = { path: { requestId }, signal };
  const work = (): Promise<StoredGeneration> =>
    requester.attempt('POST /generate/{requestId}/cancel', init, readJson<StoredGeneration>);
  return requester.retry(work, { isRetried: isTransient, signal });
}

function isOutcomeUnknown(error: unknown): boolean {
  return isTransient(error) && !(error instanceof ApiError && error.status < 500);
}

function hasEnded({ status }: StoredGeneration): boolean {
  return status !== 'QUEUED' && status !== 'PROCESSING';
}

const statuses: Record<string, number> = {
  TIMEOUT: 504,
  SERVICE_UNAVAILABLE: 503,
  INVALID_PARAMETERS: 400,
  CONTENT_REFUSED: 400,
  CANCELLED: 400,
};

/** @throws ApiError if it failed */
export function resultOfStored(stored: StoredGeneration): GenerationResult {
  const {
    id: requestId,
    status,
    outputs,
    previews,
    identity,
    identityVersion,
    seed,
    creditsCharged,
    referenceImagesUsed,
  } = stored;
  if (status === 'COMPLETED') {
    const { id, name } = identity;
    // It is null only until the request ends.
    const processingTimeMs = stored.processingTimeMs!;
    const of = { identity: { id, name }, identityVersion };
    const known = { requestId, outputs, previews, ...of, seed, creditsCharged };
    return { ...known, referenceImagesUsed, processingTimeMs, usage: null };
  }
  const code = stored.errorCode ?? 'GENERATION_FAILED';
  const sentence = stored.errorMessage ?? 'The image could not be finished.';
  throw new ApiError(`${sentence} Nothing was charged.`, {
    // A newer service may have codes that this version does not know.
    status: statuses[code] ?? 500,
    code,
    requestId,
  });
}
