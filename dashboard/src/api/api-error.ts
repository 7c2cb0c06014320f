export interface ApiErrorFacts {
  /** 0 when no answer came. */
  status: number;
  code: string;
  retryAfterSeconds?: number | undefined;
  requestId?: string | undefined;
}

/** Every failure of a request. `message` is a sentence for the person at the screen. */
export class ApiError extends Error {
  readonly status: number;
  /** The API's code, or NETWORK, SESSION_ENDED, STILL_RUNNING or UNEXPECTED_ANSWER. */
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;

  constructor(message: string, facts: ApiErrorFacts) {
    super(message);
    this.name = 'ApiError';
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.requestId = facts.requestId;
  }
}

export function networkError(): ApiError {
  return new ApiError("The service can't be reached. Check your connection and try again.", {
    status: 0,
    code: 'NETWORK',
  });
}

export function sessionEnded(): ApiError {
  return new ApiError('Your session has ended. Sign in again to go on.', {
    status: 401,
    code: 'SESSION_ENDED',
  });
}

/** @returns the error that a refusing answer stands for, also when its body is not the API's. */
export async function errorOf(response: Response): Promise<ApiError> {
  const facts = {
    status: response.status,
    retryAfterSeconds: retryAfterSeconds(response.headers.get('retry-after')),
    requestId: response.headers.get('x-request-id') ?? undefined,
  };
  const body: unknown = await response.json().catch(() => null);
  if (isErrorBody(body)) return new ApiError(body.error, { ...facts, code: body.code });
  return new ApiError(
    'The service gave an answer that this page does not understand. Try again in a moment.',
    {
      ...facts,
      code: 'UNEXPECTED_ANSWER',
    },
  );
}

function isErrorBody(body: unknown): body is { error: string; code: string } {
  if (typeof body !== 'object' || body === null) return false;
  return 'error' in body && typeof body.error === 'string' && 'code' in body && typeof body.code === 'string';
}

function retryAfterSeconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header.trim()) ? Number(header) : undefined;
}
