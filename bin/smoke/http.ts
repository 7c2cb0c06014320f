import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { Failure } from '../common/failure.ts';
import { printable } from '../common/output.ts';

/** @param otherwise ends a sentence that begins with the check's name. @throws Failure */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Failure(otherwise);
}

type Members = Record<string, unknown>;

/** Compares members of an answer. Messages name members without values, because some are secret links. @throws Failure */
export function mustEqual(found: unknown, expected: Members): void {
  const members = (found ?? {}) as Members;
  const wrong = Object.keys(expected).filter((name) => !isDeepStrictEqual(members[name], expected[name]));
  must(wrong.length === 0, `wrong in the answer: ${wrong.join(', ')}`);
}

/** An answer must be as its contract says, without any other member. @throws Failure */
export function mustMatch(contract: z.ZodMiniObject, found: unknown, expected: Members = {}): void {
  for (const issue of z.strictObject(contract.shape).safeParse(found).error?.issues ?? []) {
    const isUnknown = issue.code === 'unrecognized_keys';
    const [problem, names] = isUnknown ? ['unknown', issue.keys.join(', ')] : ['wrong', issue.path.join('.')];
    throw new Failure(`${problem} in the answer: ${names}`);
  }
  mustEqual(found, expected);
}

export interface HttpRequest {
  method?: string;
  /** A raw key or an access token. */
  bearer?: string;
  /** A form, or what is sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Any other fails the check. @default any will do */
  status?: number;
  /** @default 30 seconds */
  timeoutMs?: number;
}

export type HttpAnswer = Awaited<ReturnType<typeof fetchWhole>>;

/** One request, without redirects. @throws Failure when nothing answers; it names no address, as links are secrets */
export async function send(url: string, what: string, request: HttpRequest = {}): Promise<HttpAnswer> {
  const { bearer, body, method = 'GET', status, timeoutMs = 30_000 } = request;
  const isJson = body !== undefined && !(body instanceof FormData);
  const headers = {
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...(isJson && { 'content-type': 'application/json' }),
    ...request.headers,
  };
  const content = { body: isJson ? JSON.stringify(body) : ((body ?? null) as FormData | null) };
  const signal = AbortSignal.timeout(timeoutMs);
  const init = { ...content, method, headers, signal, redirect: 'manual' } as const;
  const answer = await fetchWhole(url, init).catch((error: Error & { cause?: { code?: string } }) => {
    throw new Failure(`there was no answer (${error.cause?.code ?? error.name})`, 1, { cause: error });
  });
  if (status !== undefined) mustAnswer(answer, status, what);
  return answer;
}

async function fetchWhole(url: string, init: RequestInit) {
  const response = await fetch(url, init);
  const bytes = Buffer.from(await response.arrayBuffer());
  const headers: Record<string, string | undefined> = Object.fromEntries(response.headers);
  /** The body, null when it is no JSON. */
  const json: any = await new Response(bytes).json().catch(() => null);
  return { status: response.status, headers, bytes, json };
}

/** @param code of the API's error; left out where any will do. @throws Failure */
export function mustAnswer(
  { status, json }: HttpAnswer,
  expected: number,
  what: string,
  code?: string,
): void {
  const error = json?.code && json.error ? ` ${json.code} (${json.error})` : '';
  const isIt = status === expected && (code === undefined || json?.code === code);
  must(isIt, printable(`${what} answered ${status}${error}`));
}
