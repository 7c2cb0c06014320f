import {
  type ApiError,
  brokenAnswer,
  ConnectionError,
  errorOf,
  isApiError,
  TimeoutError,
  unexpectedAnswer,
  withRequestId,
} from './errors.ts';
import { isBusy, isTransient, retry, type RetryOptions } from './retry.ts';
import {
  addressOf,
  jsonOf,
  requireFinite,
  type AnswerOf,
  type AnyInit,
  type RouteInit,
  type RouteName,
} from './routes.ts';

/** Supplies the bearer tokens of requests. */
export interface TokenSource {
  accessToken(): string | Promise<string>;
  /** Resolves to a new token after one was refused as INVALID_SESSION. Without this function the refusal is thrown. */
  replaceToken?(refused: string): Promise<string>;
  /** Called when the new token was refused too. */
  end?(): void;
}

export interface RequesterOptions {
  /** Ends in `/api/v1`. */
  baseUrl: string;
  tokens: TokenSource;
  fetch?: typeof fetch | undefined;
  /** How often a request is tried again; 8 by default, which takes about three minutes. */
  maxRetries?: number | undefined;
  /** How long one try waits for its answer; 60,000 by default. */
  timeoutMs?: number | undefined;
}

type InitArgs<R extends RouteName> =
  object extends RouteInit<R> ? [init?: RouteInit<R>] : [init: RouteInit<R>];

/** Calls routes of the API. */
export interface Requester {
  /**
   * The answer's JSON. Requests to a busy service (429, 503) are repeated; after other transient faults all but POST are.
   * @throws ApiError, ConnectionError, TimeoutError, and the signal's reason
   */
  request<R extends RouteName>(route: R, ...init: InitArgs<R>): Promise<AnswerOf<R>>;
  /** One try, whose answer `read` reads. For an event stream the timeout ends when the answer begins. Refusals are thrown. */
  attempt<T>(route: RouteName, init: AnyInit, read: (response: Response) => Promise<T>): Promise<T>;
  /** Repeats work as often as this client's `maxRetries` allows. */
  retry<T>(work: () => Promise<T>, options: Omit<RetryOptions, 'maxRetries'>): Promise<T>;
}

export function createRequester(options: RequesterOptions): Requester {
  const { tokens, maxRetries = 8, timeoutMs = 60_000 } = options;
  requireFinite('maxRetries', maxRetries);
  requireFinite('timeoutMs', timeoutMs);
  if (timeoutMs <= 0) throw new TypeError('timeoutMs must be more than 0.');

  const attempt: Requester['attempt'] = async (route, init, read) => {
    const token = await tokens.accessToken();
    try {
      return await exchange(options, token, route, init, read);
    } catch (error) {
      if (!tokens.replaceToken || !isApiError(error, 'INVALID_SESSION')) throw error;
    }
    try {
      return await exchange(options, await tokens.replaceToken(token), route, init, read);
    } catch (error) {
      if (isApiError(error, 'INVALID_SESSION')) tokens.end?.();
      throw error;
    }
  };

  return {
    attempt,
    request<R extends RouteName>(route: R, ...[init = {} as RouteInit<R>]: InitArgs<R>) {
      const isRetried = route.startsWith('POST') ? isBusy : isTransient;
      const work = (): Promise<AnswerOf<R>> => attempt(route, init as AnyInit, readJson<AnswerOf<R>>);
      return retry(work, { maxRetries, isRetried, signal: init.signal });
    },
    retry: (work, more) => retry(work, { maxRetries, ...more }),
  };
}

async function exchange<T>(
  { baseUrl, fetch: send = fetch, timeoutMs = 60_000 }: RequesterOptions,
  token: string,
  route: string,
  init: AnyInit,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  // The error that fetch throws for an invalid header would quote the token.
  if (!/^[!-~]+$/.test(token)) {
    throw new TypeError('apiKey (IMAGE_API_KEY) must be visible ASCII characters, without a line break.');
  }
  const { method, url } = addressOf(baseUrl, route, init);
  const body = init.body === undefined ? null : jsonOf(init.body);
  const headers = new Headers({ accept: 'application/json', ...init.headers });
  headers.set('authorization', `Bearer ${token}`);
  if (body !== null) headers.set('content-type', 'application/json');
  const within = { signal: init.signal, timeoutMs: timeoutMs + (init.heldBackMs ?? 0) };
  return withTimeout(within, async (signal, isAnswered) => {
    const response = await send(url, {
      method,
      headers,
      body,
      signal,
      // The API never redirects, and a key must not be sent to another server.
      redirect: 'manual',
      credentials: 'omit',
      // Answers have signed links, which expire after an hour.
      cache: 'no-store',
    }).catch((cause: Error) => {
      requirePassing(cause);
      throw new ConnectionError("The service can't be reached.", { cause });
    });
    // A page does not see the status of a redirect.
    if (response.type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(response.status)) {
      void response.body?.cancel().catch(() => {});
      throw new TypeError('baseUrl (IMAGE_BASE_URL) redirects: give the address that it leads to.');
    }
    if (!response.ok) throw await errorOf(response);
    // The reader of an event stream has a timeout of its own.
    if (/event-stream/.test(response.headers.get('content-type') ?? '')) isAnswered();
    return read(response);
  });
}

/** @throws TypeError for what another try would not change: a port that fetch blocks, no TLS there, or a certificate that is refused. */
function requirePassing(error: Error): void {
  const { code = '', message = '' } = (error.cause ?? {}) as { code?: string; message?: string };
  if (!/bad port|WRONG_VERSION|PACKET_LENGTH|CERT|LEAF_SIGNATURE/.test(`${code} ${message}`)) return;
  const sentence = `baseUrl (IMAGE_BASE_URL) takes no such connection: ${code || message}.`;
  throw new TypeError(sentence, { cause: error });
}

/** Runs work with a signal that aborts with the caller's signal or at the timeout. Leaves no timer and no listener. */
export async function withTimeout<T>(
  { signal, timeoutMs }: { signal: AbortSignal | undefined; timeoutMs: number },
  work: (signal: AbortSignal, isAnswered: () => void) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const late = new TimeoutError(`No answer came within ${timeoutMs / 1000} seconds.`);
  // A timer of more would ring at once.
  const timer = setTimeout(() => stop.abort(late), Math.min(timeoutMs, 2 ** 31 - 1));
  const abort = (): void => stop.abort(signal!.reason);
  signal?.addEventListener('abort', abort);
  try {
    return await work(stop.signal, () => clearTimeout(timer));
  } catch (error) {
    // The abort is the cause, whatever error the work threw.
    if (stop.signal.aborted) throw withRequestId(stop.signal.reason, (error as Partial<ApiError>)?.requestId);
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/**
 * @param requestId of the generation that is accepted with this answer, for the error
 * @throws ApiError UNEXPECTED_ANSWER if the body is no JSON, and ConnectionError if the connection breaks.
 */
export async function readJson<T>(response: Response, requestId?: string): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (cause) {
    if ((cause as Error).name === 'SyntaxError') throw unexpectedAnswer(response);
    throw withRequestId(brokenAnswer(cause), requestId);
  }
}
