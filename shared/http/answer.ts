import type { Readable } from 'node:stream';
import type { ServiceError } from '../base/errors.ts';
import { answerHeaders } from '../routes/api.ts';

/** What a handler gives back; headers that every answer has are added later. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  /** A value to be sent as JSON, undefined for nothing; or a stream of server-sent events. */
  body: unknown;
  stream?: Readable;
}

/** The shape that API Gateway and Lambda's streaming runtime both take. */
export interface ProxyAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: string | Readable;
}

export function ok(body: unknown, headers: Record<string, string> = {}): Answer {
  return { status: 200, headers, body };
}

export function created(body: unknown): Answer {
  return { status: 201, body };
}

export function toProxyAnswer(answer: Answer, common: Record<string, string>): ProxyAnswer {
  return {
    statusCode: answer.status,
    headers: {
      ...answerHeaders(answer.status),
      // A proxy in front of the service, as nginx, would keep events back until it has many.
      ...(answer.stream && { 'x-accel-buffering': 'no' }),
      'content-type': answer.stream ? 'text/event-stream' : 'application/json',
      // Answers hold links that open without a key.
      'cache-control': 'no-store',
      ...common,
      ...answer.headers,
    },
    body: answer.stream ?? (answer.body === undefined ? '' : JSON.stringify(answer.body)),
  };
}

/** Exactly two members; what else a client needs travels in headers. */
export function errorBody(error: ServiceError): { error: string; code: string } {
  return { error: error.message, code: error.code };
}

export function errorAnswer(error: ServiceError): Answer {
  const headers: Record<string, string> = {};
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  if (error.requestId !== undefined) headers['x-request-id'] = error.requestId;
  // Whoever cancelled it wants no repeat, whatever else a client repeats.
  if (error.code === 'CANCELLED') headers['x-should-retry'] = 'false';
  return { status: error.status, headers, body: errorBody(error) };
}
