import { ApiError, errorOf, networkError } from './api-error.ts';

/** What the client needs of a session: tokens, and to be told that one was refused. */
export interface TokenSource {
  /** @throws ApiError SESSION_ENDED */
  accessToken(): Promise<string>;
  /** A token other than the refused one. @throws ApiError SESSION_ENDED */
  replaceToken(refused: string): Promise<string>;
  /** Called when even a new token is refused. */
  end(): void;
}

export interface ApiRequestInit {
  method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export interface Api {
  /** The answer's JSON. @throws ApiError, and the signal's reason when it was aborted. */
  json<T>(path: string, init?: ApiRequestInit): Promise<T>;
  /** The answer itself, for streams. Refusals are thrown. */
  send(path: string, init?: ApiRequestInit): Promise<Response>;
}

/** The service's API below `baseUrl`, called with the session's tokens. */
export function createApi(baseUrl: string, tokens: TokenSource): Api {
  const fetchWith = (token: string, path: string, init: ApiRequestInit): Promise<Response> => {
    const headers = new Headers({ accept: 'application/json', ...init.headers });
    headers.set('authorization', `Bearer ${token}`);
    if (init.body !== undefined) headers.set('content-type', 'application/json');
    return fetch(`${baseUrl}${path}${queryText(init.query)}`, {
      method: init.method ?? 'GET',
      headers,
      body: init.body === undefined ? null : JSON.stringify(init.body),
      signal: init.signal ?? null,
      credentials: 'omit',
      // Answers hold signed links; the query cache is the only one that knows how long they live.
      cache: 'no-store',
    }).catch((error: unknown) => {
      init.signal?.throwIfAborted();
      throw error instanceof TypeError ? networkError() : error;
    });
  };

  const send = async (path: string, init: ApiRequestInit = {}): Promise<Response> => {
    const token = await tokens.accessToken();
    const response = await fetchWith(token, path, init);
    if (response.ok) return response;
    const error = await errorOf(response);
    if (error.code !== 'INVALID_SESSION') throw error;
    const again = await fetchWith(await tokens.replaceToken(token), path, init);
    if (again.ok) return again;
    const second = await errorOf(again);
    if (second.code === 'INVALID_SESSION') tokens.end();
    throw second;
  };

  return {
    send,
    async json<T>(path: string, init: ApiRequestInit = {}): Promise<T> {
      const response = await send(path, init);
      try {
        return (await response.json()) as T;
      } catch (error) {
        init.signal?.throwIfAborted();
        if (!(error instanceof SyntaxError)) throw networkError();
        const requestId = response.headers.get('x-request-id') ?? undefined;
        const sentence =
          'The service gave an answer that this page does not understand. Try again in a moment.';
        throw new ApiError(sentence, { status: response.status, code: 'UNEXPECTED_ANSWER', requestId });
      }
    },
  };
}

function queryText(query: ApiRequestInit['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
