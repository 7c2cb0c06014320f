import {
  createRequester,
  type Requester,
  type TokenSource as Tokens,
} from '../../../clients/typescript/src/index.ts';
import { createStore } from '../lib/store.ts';
import { createRequiredContext } from '../lib/required-context.ts';
import { withoutBidiControls } from '../lib/text.ts';
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

/** How many requests of the playground the service still takes, and until when that holds (the field `RateLimit`). */
export const allowance = createStore({ left: 0, untilMs: 0 });

/** Reads the field of an answer: `"playground";r=7;t=42`. */
export function noteAllowance(header: string | null, nowMs: number): void {
  const [, left, seconds] = /^"playground";r=(\d+);t=(\d+)/.exec(header ?? '') ?? [];
  if (left === undefined) return;
  allowance.set({ left: Number(left), untilMs: nowMs + Number(seconds) * 1000 });
}

/** The service's API below `baseUrl`, called with the session's tokens. */
export function createApi(
  baseUrl: string,
  tokens: TokenSource,
  send = globalThis.fetch.bind(globalThis),
): Api {
  const fetch: typeof send = async (...call) => {
    const answer = await send(...call);
    noteAllowance(answer.headers.get('ratelimit'), Date.now());
    return answer;
  };
  // Queries retry by themselves (`queries.ts`), and people retry the rest.
  const requester = createRequester({ baseUrl, tokens, fetch, maxRetries: 0 });
  return {
    requester,
    request: (...call) =>
      requester.request(...call).then(asShown, (error: unknown) => {
        throw screenError(error);
      }),
  };
}

/**
 * Names and sentences turn nothing beside them, also not in a <bdi>: in Chromium a control inside can end it. Prompts are as
 * they were sent, because they are sent again.
 */
function asShown<T>(answer: T): T {
  const shown = (member: string, value: unknown) =>
    typeof value === 'string' && !/prompt$/i.test(member) ? withoutBidiControls(value) : value;
  return answer && (JSON.parse(JSON.stringify(answer), shown) as T);
}

export const [ApiContext, useApi] = createRequiredContext<Api>('ApiContext');
