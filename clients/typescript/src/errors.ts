import type { ErrorCode } from './types.ts';

export interface ErrorFields {
  status: number;
  code: ErrorCode | (string & {});
  retryAfterSeconds?: number | undefined;
  requestId?: string | undefined;
}

/** The service refused a request, or the request failed. `message` is the service's sentence, which says what to change. */
export class ApiError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** The API's code, which this client may not know yet; UNEXPECTED_ANSWER when the answer was not the API's. */
  readonly code: ErrorFields['code'];
  /** After how long to try again, if the service said so. */
  readonly retryAfterSeconds: number | undefined;
  /** Quote it when you ask for help. For a generation that was accepted, it is the ID of the stored request. */
  readonly requestId: string | undefined;

  constructor(message: string, { status, code, retryAfterSeconds, requestId }: ErrorFields) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.requestId = requestId;
  }
}

/** No answer came, or the connection broke during the answer. */
export class ConnectionError extends Error {
  /** Whether an answer had begun. If so, the service received the request. */
  readonly answerBegan: boolean;
  /** The generation that it is about, if one was accepted. */
  declare readonly requestId: string | undefined;

  constructor(
    message: string,
    { answerBegan = false, cause }: { answerBegan?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'ConnectionError';
    this.answerBegan = answerBegan;
  }
}

/** The answer did not come in time. */
export class TimeoutError extends Error {
  /** The generation, if it was accepted. It goes on and can be fetched. */
  readonly requestId: string | undefined;

  constructor(message: string, requestId?: string) {
    super(message);
    this.name = 'TimeoutError';
    this.requestId = requestId;
  }
}

/** The storage refused to take or to give a file. */
export class StorageError extends Error {
  readonly status: number;
  /** The storage's code, such as EntityTooLarge. */
  readonly code: string | undefined;
  /** Of an image: the generation that it is of. It is fetched again at no cost. */
  declare readonly requestId: string | undefined;

  constructor(message: string, status: number, code: string | undefined) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The storage refused a file. */
export class UploadError extends StorageError {
  override readonly name = 'UploadError';
}

/** The storage did not give an image, also by a new link. */
export class DownloadError extends StorageError {
  override readonly name = 'DownloadError';
}

/**
 * The error, which now names the generation that it is about: by that ID it is fetched at no cost. Calls may share a signal and so
 * its reason; one that names another generation already is thrown as the cause of an error like it.
 */
export function withRequestId(thrown: unknown, requestId: string | undefined): unknown {
  if (requestId === undefined || typeof thrown !== 'object' || thrown === null) return thrown;
  const { name, message, requestId: other } = thrown as Partial<TimeoutError>;
  const isTaken = other !== undefined && other !== requestId && !(thrown instanceof ApiError);
  const error = isTaken ? Object.assign(new Error(message, { cause: thrown }), { name }) : thrown;
  Reflect.defineProperty(error, 'requestId', { value: requestId, configurable: true, writable: true });
  return error;
}

/** The code in the storage's XML. */
export function storageCodeOf(xml: string): string | undefined {
  return /<Code>(\w+)<\/Code>/.exec(xml)?.[1];
}

/**
 * Whether an error is the API's and, where codes are given, has one of them.
 * Narrows `error.code` to the codes given, or to all that this version knows, for a `switch`.
 * @example if (isApiError(error, 'CREDIT_LIMIT_EXCEEDED')) …
 */
export function isApiError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: Code[]
): error is ApiError & { readonly code: Code } {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code as Code));
}

export function unexpectedAnswer(response: Response): ApiError {
  const { status, headers } = response;
  return new ApiError('The answer is not one of the image generation service. Check the baseUrl.', {
    status,
    code: 'UNEXPECTED_ANSWER',
    retryAfterSeconds: retryAfterOf(headers),
    requestId: requestIdOf(response),
  });
}

export function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

/** The error for an answer whose connection broke after it had begun. */
export function brokenAnswer(cause: unknown): ConnectionError {
  const sentence = 'The connection broke before the whole answer had arrived.';
  return new ConnectionError(sentence, { answerBegan: true, cause });
}

/** The error for an answer that is not a success, also when its body is not the API's. */
export async function errorOf(response: Response): Promise<ApiError | ConnectionError> {
  const unexpected = unexpectedAnswer(response);
  const { status, retryAfterSeconds, requestId } = unexpected;
  let body: unknown = null;
  try {
    body = await response.json();
  } catch (cause) {
    // Of 429 and 5xx the status and the headers say enough. Half of another refusal does not say which it is: it is asked for again.
    const isClear = status === 429 || status >= 500;
    if (!isClear && (cause as Error).name !== 'SyntaxError') return brokenAnswer(cause);
  }
  if (!isErrorBody(body)) return unexpected;
  return new ApiError(body.error, { status, retryAfterSeconds, requestId, code: body.code });
}

function isErrorBody(body: unknown): body is { error: string; code: string } {
  if (typeof body !== 'object' || body === null) return false;
  return 'error' in body && typeof body.error === 'string' && 'code' in body && typeof body.code === 'string';
}

/**
 * Retry-After in whole seconds, whether it is a number of them or a date in one of HTTP's three forms (RFC 9110, 5.6.7). A date
 * counts from the answer's own, since this clock may be wrong. One that is over is 0.
 */
export function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value);
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return undefined;
  const untilMs = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  const nowMs = Date.parse(headers.get('date') ?? '') || Date.now();
  return Number.isNaN(untilMs) ? undefined : Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
}
