import { request as sendHttp } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as sendHttps } from 'node:https';

export interface Call {
  body: Uint8Array;
  headers: IncomingHttpHeaders;
  /** Aborted when the caller hangs up; the container's connection is then closed at once. */
  signal: AbortSignal;
  /** For the whole exchange, headers and body. */
  timeLimitMs: number;
}

/** What came of a call. Without a response, the container was not reached, or broke off before it answered. */
export type Answer =
  | { response: IncomingMessage; timedOut: () => boolean; done: () => void }
  | { failure: 'unreachable' | 'broken' | 'timed_out' };

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
const passedOn = /^(content-type|accept|x-amzn-sagemaker-.*)$/;

/**
 * Calls a container's POST /invocations and answers as soon as its headers are there.
 *
 * Each call has a connection of its own: a reused one that the container has just closed would look like a container
 * that died. After `timeLimitMs` the connection is destroyed, even in the middle of the body; `timedOut` then says
 * whether this is why the body broke off. Call `done` once the body is no longer needed.
 */
export function callContainer(
  baseUrl: string,
  { body, headers, signal, timeLimitMs }: Call,
): Promise<Answer> {
  const url = new URL('/invocations', baseUrl);
  const send = url.protocol === 'https:' ? sendHttps : sendHttp;
  return new Promise((resolve) => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeLimitMs);
    const timedOut = () => limit.signal.aborted;
    const request = send(url, {
      method: 'POST',
      agent: false,
      headers: containerHeaders(headers, body),
      signal: AbortSignal.any([signal, limit.signal]),
    });
    const done = (): void => {
      clearTimeout(timer);
      request.destroy();
    };
    request.on('response', (response) => resolve({ response, timedOut, done }));
    request.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      done();
      resolve({ failure: timedOut() ? 'timed_out' : unreachable.has(code) ? 'unreachable' : 'broken' });
    });
    request.end(body);
  });
}

function containerHeaders(headers: IncomingHttpHeaders, body: Uint8Array): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => passedOn.test(name));
  // For a response stream, the SDK names the wanted type in a header of SageMaker's; the container knows only Accept.
  const accept = headers['x-amzn-sagemaker-accept'];
  return {
    ...Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    ...(accept === undefined ? {} : { accept: String(accept) }),
    'content-length': String(body.length),
  };
}
