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
