import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { printable } from '../common/output.ts';

/** A failed check. The message ends a sentence that begins with the check's name. */
export class Mismatch extends Error {
  override name = 'Mismatch';
}

/** @throws Mismatch */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Mismatch(otherwise);
}

type Members = Record<string, unknown>;

/** Compares members of an answer. Messages name members without values, because some are secret links. @throws Mismatch */
export function mustEqual(found: unknown, expected: Members): void {
  const members = (found ?? {}) as Members;
  const wrong = Object.keys(expected).filter((name) => !isDeepStrictEqual(members[name], expected[name]));
  must(wrong.length === 0, `wrong in the answer: ${wrong.join(', ')}`);
}

/** An answer must be as its contract says, without any other member. @throws Mismatch */
export function mustMatch(contract: z.ZodMiniObject, found: unknown, expected: Members = {}): void {
  const issues = z.strictObject(contract.shape).safeParse(found).error?.issues ?? [];
  for (const issue of issues) {
    const names = issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue.path.join('.');
    must(false, `${issue.code === 'unrecognized_keys' ? 'unknown' : 'wrong'} in the answer: ${names}`);
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

export type HttpAnswer = Awaited<ReturnType<typeof send>>;

/** One request, without redirects. @throws Mismatch when nothing answers; no address is told, as links are secrets */
export async function send(url: string, what: string, request: HttpRequest = {}) {
  const { bearer, body, method = 'GET', timeoutMs = 30_000 } = request;
  const isForm = body instanceof FormData;
  const headers = { ...(bearer && { authorization: `Bearer ${bearer}` }), ...request.headers };
  const json = { ...headers, 'content-type': 'application/json' };
  const sent = isForm
    ? { headers, body }
    : body
      ? { headers: json, body: JSON.stringify(body) }
      : { headers };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...sent, method, signal, redirect: 'manual' });
    const bytes = Buffer.from(await response.arrayBuffer());
    const answer = {
      status: response.status,
      headers: Object.fromEntries(response.headers) as Record<string, string | undefined>,
      bytes,
      /** The body, null when it is no JSON. */
      json: parseJson(bytes),
    };
    if (request.status !== undefined) mustAnswer(answer, request.status, what);
    return answer;
  } catch (cause) {
    if (cause instanceof Mismatch) throw cause;
    const { name, cause: reason } = cause as Error & { cause?: { code?: string } };
    throw new Mismatch(`there was no answer (${reason?.code ?? name})`, { cause });
  }
}

function parseJson(bytes: Buffer): any {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

/** @param code of the API's error; null for an answer that is none. @throws Mismatch */
export function mustAnswer(
  { status, json }: { status: number; json: any },
  expected: number,
  what: string,
  code: string | null = null,
): void {
  const error = json?.code && json.error ? ` ${json.code} (${json.error})` : '';
  const isIt = status === expected && (code === null || json?.code === code);
  must(isIt, printable(`${what} answered ${status}${error}`));
}
