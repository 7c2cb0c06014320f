import { printable } from '../common/output.ts';
import { Mismatch } from './mismatch.ts';

export interface HttpRequest {
  method?: string;
  /** A raw key or an access token. */
  bearer?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as multipart/form-data, in the place of a body. */
  form?: FormData;
  headers?: Record<string, string>;
  /** @default 30 seconds */
  timeoutMs?: number;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  /** The body as JSON, null when it is none. */
  json: any;
}

/** One request, without redirects. @throws Mismatch when nothing answers; no address is told, as links are secrets. */
export async function send(url: string, request: HttpRequest = {}): Promise<HttpAnswer> {
  const { bearer, body, form, timeoutMs = 30_000 } = request;
  try {
    const response = await fetch(url, {
      method: request.method ?? (body === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(form ? { body: form } : body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, json: parseJson(bytes) };
  } catch (cause) {
    throw new Mismatch(`there was no answer (${reasonOf(cause)})`, { cause });
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : name;
}

/** An answer in words: its status, and its error. */
export function described({ status, json }: HttpAnswer): string {
  const { code, error } = (json ?? {}) as { code?: unknown; error?: unknown };
  if (typeof code !== 'string' || typeof error !== 'string') return String(status);
  return printable(`${status} ${code} (${error})`);
}
