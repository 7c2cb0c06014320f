/** An answer that another try would not change. */
export class FinalAnswer extends Error {
  override name = 'FinalAnswer';
}

/** The error for an answer's status: a `FinalAnswer` unless the other end may do better a moment later. */
export function statusError(status: number, sentence: string): Error {
  return status === 429 || status >= 500 ? new Error(sentence) : new FinalAnswer(sentence);
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
