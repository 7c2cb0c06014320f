import { ApiError, ConnectionError, TimeoutError } from '../../../clients/typescript/src/index.ts';

/**
 * Every failure of a request. Its message is a sentence for people. Its code is the API's, or NETWORK, SESSION_ENDED,
 * STILL_RUNNING or UNEXPECTED_ANSWER. Its status is 0 when no answer came.
 */
export { ApiError };

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

export const isSessionEnd = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'SESSION_ENDED';

/** Turns an error of the client into one that people can read. */
export function screenError(error: unknown): unknown {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return networkError();
  if (!(error instanceof ApiError) || error.code !== 'UNEXPECTED_ANSWER') return error;
  const sentence = 'The service gave an answer that this page does not understand. Try again in a moment.';
  return new ApiError(sentence, error);
}
