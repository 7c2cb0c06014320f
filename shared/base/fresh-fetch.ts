/** An answer that another try would not change. */
export class FinalAnswer extends Error {
  override name = 'FinalAnswer';
}

/** Statuses below 500 that may pass: a time-out, a resource that is changed or started at the moment, too many requests. */
const passing = new Set([408, 409, 425, 429]);

/** The error for an answer's status: a `FinalAnswer` unless the other end may do better a moment later. */
export function statusError(status: number, sentence: string): Error {
  return status >= 500 || passing.has(status) ? new Error(sentence) : new FinalAnswer(sentence);
}

/**
 * Fetches over a new connection, which is closed after the answer. Lambda may freeze a function between two requests for
 * so long that the other end of an idle connection is gone. A request on such a connection fails, and one that spends
 * money can't be sent again.
 */
export function freshFetch(
  url: string,
  { headers = {}, ...init }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
): Promise<Response> {
  return fetch(url, { ...init, headers: { ...headers, connection: 'close' } });
}
