/** A request that a client sent. */
export interface Sent {
  line: string;
  headers: Headers;
  body: unknown;
  atSeconds: number;
}

/** An answer, a connection error, or no answer until the request is aborted. */
export type Script = ((signal: AbortSignal) => Response) | Error | 'silence';

export function refused(
  status: number,
  code: string,
  { retryAfter, requestId }: { retryAfter?: number; requestId?: string } = {},
): Script {
  const headers: Record<string, string> = {};
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  if (requestId !== undefined) headers['x-request-id'] = requestId;
  return () => Response.json({ error: `Refused as ${code}.`, code }, { status, headers });
}

export const answered =
  (body: unknown, init?: ResponseInit): Script =>
  () =>
    Response.json(body, init);

/** A `fetch` that answers each request with the next script, and all later ones with the last script. */
export function scriptedFetch(...scripts: Script[]): { fetch: typeof globalThis.fetch; sent: Sent[] } {
  const sent: Sent[] = [];
  const startedMs = Date.now();
  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const { method = 'GET', signal } = init;
    const headers = new Headers(init.headers);
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : init.body;
    sent.push({ line: `${method} ${url}`, headers, body, atSeconds: (Date.now() - startedMs) / 1000 });
    signal?.throwIfAborted();
    const script = scripts.length > 1 ? scripts.shift()! : scripts[0]!;
    if (script instanceof Error) throw script;
    if (script !== 'silence') return script(signal!);
    return new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  };
  return { fetch: send as typeof globalThis.fetch, sent };
}
