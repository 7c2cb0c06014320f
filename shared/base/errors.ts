/**
 * Every error code the API answers with: its HTTP status and, where a client should wait, how long.
 * `docs/errors.md` explains each to the people who meet it; a test fails when one is missing there.
 */
const codes = {
  INVALID_API_KEY: { status: 401 },
  INVALID_SESSION: { status: 401 },
  INVALID_BODY: { status: 400 },
  MISSING_IDENTITY: { status: 400 },
  IDENTITY_NOT_FOUND: { status: 404 },
  IDENTITY_MISMATCH: { status: 401 },
  INVALID_PARAMETERS: { status: 400 },
  TIER_LIMIT: { status: 400 },
  CONTENT_REFUSED: { status: 400 },
  CREDIT_LIMIT_EXCEEDED: { status: 429, retryAfterSeconds: 3600 },
  RATE_LIMITED: { status: 429, retryAfterSeconds: 60 },
  IDENTITY_UNAVAILABLE: { status: 503, retryAfterSeconds: 300 },
  SERVICE_UNAVAILABLE: { status: 503, retryAfterSeconds: 5 },
  TIMEOUT: { status: 504 },
  GENERATION_FAILED: { status: 500 },
  CANCELLED: { status: 400 },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, retryAfterSeconds: 2 },
  IDEMPOTENCY_MISMATCH: { status: 422 },
  LICENSE_INACTIVE: { status: 403 },
  KEY_LIMIT_REACHED: { status: 409 },
  REQUEST_NOT_FOUND: { status: 404 },
  REQUEST_IN_PROGRESS: { status: 409 },
  REQUEST_FINAL: { status: 409 },
  KEY_NOT_FOUND: { status: 404 },
  LICENSE_NOT_FOUND: { status: 404 },
  NOT_FOUND: { status: 404 },
  METHOD_NOT_ALLOWED: { status: 405 },
  PAYLOAD_TOO_LARGE: { status: 413 },
  REQUEST_BLOCKED: { status: 403 },
  INTERNAL_ERROR: { status: 500 },
} as const satisfies Record<string, ErrorKind>;

interface ErrorKind {
  status: number;
  retryAfterSeconds?: number;
}

export type ErrorCode = keyof typeof codes;
export const errorCodes: Record<ErrorCode, ErrorKind> = codes;

/** What a format calls the things that sentences speak of. What is checked is the same in all of them. */
export interface Words {
  /** The members of a body that it has other names for. */
  members: Readonly<Record<string, string>>;
  noIdentity: string;
  unknownIdentity: string;
  /** What lists the identities that may be used. */
  identityList: string;
  idempotencyKey: string;
  /** All that is asked for with an idempotency key. */
  body: string;
  /** What takes files. */
  uploads: string;
  /** How to look up what became of a request. */
  refetch: string;
  /** What a fault is looked up by. */
  requestId: string;
}

/** Those of the API's own format. */
export const ownWords: Words = {
  members: {},
  noIdentity: 'identityId is missing: send the ID of the identity to use.',
  unknownIdentity: 'No identity has this identityId.',
  identityList: 'GET /identities',
  idempotencyKey: 'Idempotency-Key',
  body: 'body',
  uploads: 'POST /uploads',
  refetch: 'Re-fetch the request',
  requestId: 'the X-Request-Id',
};

/** What a caller reads: made of the words of their format, where those differ. */
export type Sentence = string | ((words: Words) => string);

/** @param member by its own name */
export function memberName(member: string, { members }: Words): string {
  return members[member] ?? member;
}

export function inWords(sentence: Sentence, words: Words): string {
  return typeof sentence === 'string' ? sentence : sentence(words);
}

/**
 * Why a call of the model that nobody pays for is not ours: it began the model's cold start, its reference image, its deadline,
 * what its image shows, or somebody cancelled it.
 */
export type UnpaidReason = 'wake' | 'reference' | 'deadline' | 'refused' | 'cancelled';

export interface ServiceErrorOptions {
  /** What really happened. It is for the log, never for the caller. */
  cause?: unknown;
  /** Whole seconds. Defaults to the code's own value, if it has one. */
  retryAfterSeconds?: number | undefined;
  /** The stored request that this error is about, if it is another one than the caller's. */
  requestId?: string | undefined;
  /** Set where the model was called for what the request asked for, and nobody pays for it. */
  unpaid?: UnpaidReason | undefined;
  /** Set where it is nobody's fault, whatever its code: the model sleeps or has too much to do, or writes of one caller meet. */
  noFault?: boolean | undefined;
  /** Set where it came to nothing in the model's line. It is no fault while the model completes others. */
  inLine?: boolean | undefined;
  /** What CONTENT_REFUSED was for. Left out by who only tells of it: the run that was refused has counted it. */
  categories?: readonly string[] | undefined;
}

/**
 * Whether an error is a fault of ours, which alarms look at. What callers can bring about is none, and is counted apart.
 * @param failure what it came from. One of another code says nothing of it.
 */
export function isFault(code: ErrorCode, failure: unknown): boolean {
  if (failure instanceof ServiceError && failure.code === code && failure.noFault) return false;
  return errorCodes[code].status >= 500 && code !== 'IDENTITY_UNAVAILABLE';
}

/** Whether an error says that it is nobody's fault. */
export function isNoFault(error: unknown): boolean {
  return error instanceof ServiceError && error.noFault;
}

/** The one error that reaches a caller: `message` is its sentence in our own words. Anything else is INTERNAL_ERROR. */
export class ServiceError extends Error {
  readonly sentence: Sentence;
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  readonly unpaid: UnpaidReason | undefined;
  readonly noFault: boolean;
  readonly inLine: boolean;
  readonly categories: readonly string[] | undefined;

  constructor(code: ErrorCode, sentence: Sentence, options: ServiceErrorOptions = {}) {
    super(inWords(sentence, ownWords), { cause: options.cause });
    this.name = 'ServiceError';
    this.sentence = sentence;
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds ?? errorCodes[code].retryAfterSeconds;
    this.requestId = options.requestId;
    this.unpaid = options.unpaid;
    this.inLine = options.inLine === true;
    this.categories = options.categories;
    this.noFault = options.noFault === true || options.unpaid !== undefined || this.inLine;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** The error for a part of the service that is down or overloaded. */
export function serviceBusy(cause?: unknown, noFault = false): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy. Try again shortly.', {
    cause,
    noFault,
  });
}
