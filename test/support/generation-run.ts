import { createApi } from '../../dashboard/src/api/client.ts';
import { generate, type Generated } from '../../dashboard/src/api/generate.ts';

export const body = { licenseId: 'lic_1', identityId: 'idn_1', prompt: 'a quiet bay' };
export const requestId = 'req_1';
export const identity = { id: 'idn_1', name: 'harbor' };
export const image = {
  outputs: ['signed link'],
  identity,
  seed: 7,
  processingTimeMs: 2400,
  referenceImagesUsed: 0,
};
export const usage = { creditsUsed: 2, creditsLimit: 10, creditsRemaining: 8, creditsCharged: 1 };
export const answer = { requestId, ...image, usage };
export const told = { requestId, ...image, creditsCharged: 1, usage };
export const lookedUp = { ...told, usage: null };
export function stored(status: string, errorMessage: string | null = null): object {
  return { id: requestId, ...image, creditsCharged: 1, status, errorMessage };
}

export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export const accepted = event('accepted', { requestId, creditsReserved: 1 });
export const completed = event('completed', answer);
/** An answer of the API that refuses; `facts` is what its error has. */
export function refusal(status: number, code: string, retryAfterSeconds?: number, about?: string) {
  const headers = new Headers();
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds));
  if (about !== undefined) headers.set('x-request-id', about);
  const message = `Refused: ${code}.`;
  const refused = (): Response => Response.json({ error: message, code }, { status, headers });
  return { answer: refused, facts: { message, status, code, retryAfterSeconds, requestId: about } };
}

export function streamOf(source: string | ReadableStream, headers: Record<string, string> = {}): Response {
  return new Response(source, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', ...headers },
  });
}

/** An answer whose stream a test writes, ends and breaks. */
export function openStream() {
  let stream!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => void (stream = controller),
    cancel: () => void (isCancelled = true),
  });
  return {
    response: streamOf(source),
    write: (text: string) => stream.enqueue(new TextEncoder().encode(text)),
    end: () => stream.close(),
    fail: (error: unknown) => stream.error(error),
    isCancelled: () => isCancelled,
  };
}

export type Source = (signal: AbortSignal) => Response | Promise<Response>;
export type Sent = Response | Source;

export interface Asked {
  path: string;
  headers: Headers;
  body: unknown;
}

/** Sends one generation; `answers` are those of the look-ups, one after another, the last again and again. */
export function run(
  sent: Sent,
  answers: (object | Source)[] = [],
  signal?: AbortSignal,
  token = async () => 'token',
) {
  const log: string[] = [];
  const requests: Asked[] = [];
  const startedMs = Date.now();
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const path = url.replace('https://api.test', '');
    log.push(`${path} after ${(Date.now() - startedMs) / 1000} s`);
    const sentBody: unknown = init.body === null ? null : JSON.parse(init.body as string);
    requests.push({ path, headers: init.headers as Headers, body: sentBody });
    init.signal!.throwIfAborted();
    const next = init.method === 'POST' ? sent : answers.length > 1 ? answers.shift()! : answers[0]!;
    if (typeof next === 'function') return (next as Source)(init.signal!);
    return next instanceof Response ? next : Response.json(next);
  };
  const tokens = { accessToken: token, replaceToken: token, end: () => {} };
  const api = createApi('https://api.test', tokens, fetch as typeof globalThis.fetch);
  let outcome: { result: Generated } | { error: unknown } | null = null;
  generate(api, {
    body,
    idempotencyKey: 'key-1',
    onAccepted: ({ requestId: id, creditsReserved }) => log.push(`accepted ${id} ${creditsReserved}`),
    onStarted: () => log.push('started'),
    onProgress: ({ step, steps }) => log.push(`${step} of ${steps}`),
    onDisconnected: () => log.push('disconnected'),
    ...(signal && { signal }),
  }).then(
    (result) => (outcome = { result }),
    (error: unknown) => (outcome = { error }),
  );
  return { log, requests, outcome: () => outcome };
}
