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

export function unexpectedAnswer({ status, headers }: Response): ApiError {
  return new ApiError('The answer is not one of the image generation service. Check the baseUrl.', {
    status,
    code: 'UNEXPECTED_ANSWER',
    retryAfterSeconds: wholeSeconds(headers.get('retry-after')),
    requestId: headers.get('x-request-id') ?? undefined,
  });
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
    // Of 429 and 5xx the status and the headers say enough. Another refusal can't be told from its half: it is asked for again.
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

function wholeSeconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header.trim()) ? Number(header) : undefined;
}
