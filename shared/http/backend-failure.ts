import { ServiceError, serviceBusy, type Words } from '../base/errors.ts';

/** Writes of one caller meet: nobody's fault. */
const conflicts = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/**
 * Names by which a backend says that it has too much to do, or gave up waiting, under a status that says less
 * (DynamoDB, S3 and Lambda, "Error handling"; @smithy/core, "service-error-classification").
 */
const names = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeout',
  'SlowDown',
  'ThrottlingException',
  // What the SDK's HTTP handler throws when a backend is slow.
  'TimeoutError',
  'TooManyRequestsException',
  ...conflicts,
]);

/** How Node.js names a connection that can't be made, or breaks: errno(3), getaddrinfo(3). */
const codes = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** An error that nobody foresaw stays inside: the caller learns only that the fault is ours, and whether to try again. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isBackendFailure(error)) return serviceBusy(error, conflicts.has((error as SdkError).name ?? ''));
  const sentence = ({ requestId }: Words) =>
    `Something went wrong on our side. Try again; if it persists, tell us ${requestId}.`;
  return new ServiceError('INTERNAL_ERROR', sentence, { cause: error });
}

/**
 * Whether an error of an SDK says that a backend is away, throttled or slow, so that the same request may succeed in a
 * moment. What it refused (access, validation, a condition) is not that, and neither is a bug of ours.
 */
export function isBackendFailure(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name = '', code = '', $fault, $retryable, $metadata } = error as SdkError;
  const status = $metadata?.httpStatusCode ?? 0;
  return (
    $fault === 'server' ||
    $retryable !== undefined ||
    status === 429 ||
    status >= 500 ||
    names.has(name) ||
    codes.has(code)
  );
}

/** What the SDK adds to errors that came from a service. */
interface SdkError extends Partial<NodeJS.ErrnoException> {
  $fault?: 'client' | 'server';
  /** Only on what may be tried again. */
  $retryable?: object;
  $metadata?: { httpStatusCode?: number };
}
