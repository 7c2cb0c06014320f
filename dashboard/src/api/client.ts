import {
  createRequester,
  type Requester,
  type TokenSource as Tokens,
} from '../../../clients/typescript/src/index.ts';
import { createRequiredContext } from '../lib/required-context.ts';
import { screenError } from './api-error.ts';

export interface TokenSource extends Required<Tokens> {
  /** @throws ApiError SESSION_ENDED */
  accessToken(): Promise<string>;
  /** A token other than the refused one. @throws ApiError SESSION_ENDED */
  replaceToken(refused: string): Promise<string>;
}

export interface Api {
  /** The JSON of a route's answer. @throws ApiError, and the signal's reason when it was aborted. */
  request: Requester['request'];
  /** For functions of the client that send several requests. It throws the client's own errors. */
  requester: Requester;
}

/** The service's API below `baseUrl`, called with the session's tokens. */
export function createApi(baseUrl: string, tokens: TokenSource, fetch?: typeof globalThis.fetch): Api {
  // Queries retry by themselves (`queries.ts`), and people retry the rest.
  const requester = createRequester({ baseUrl, tokens, fetch, maxRetries: 0 });
  return {
    requester,
    request: (...call) =>
      requester.request(...call).catch((error: unknown) => {
        throw screenError(error);
      }),
  };
}

export const [ApiContext, useApi] = createRequiredContext<Api>('ApiContext');
