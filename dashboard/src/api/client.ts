import { createRequester, type Requester, type TokenSource as Tokens } from '../../../client/src/index.ts';
import { screenError } from './api-error.ts';

/** What the client needs of a session: tokens, and to be told that one was refused. */
export interface TokenSource extends Required<Tokens> {
  /** @throws ApiError SESSION_ENDED */
  accessToken(): Promise<string>;
  /** A token other than the refused one. @throws ApiError SESSION_ENDED */
  replaceToken(refused: string): Promise<string>;
}

export interface Api {
  /** The JSON of a route's answer. @throws ApiError, and the signal's reason when it was aborted. */
  request: Requester['request'];
  /** For what does more than one request; its errors are the client's own. */
  requester: Requester;
}

/** The service's API below `baseUrl`, called with the session's tokens. */
export function createApi(baseUrl: string, tokens: TokenSource, fetch?: typeof globalThis.fetch): Api {
  // The queries decide what is tried again, and whoever looks at a screen decides the rest.
  const requester = createRequester({ baseUrl, tokens, fetch, maxRetries: 0 });
  return {
    requester,
    request: (...call) =>
      requester.request(...call).catch((error: unknown) => {
        throw screenError(error);
      }),
  };
}
