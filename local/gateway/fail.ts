import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { errorCodes } from '../../shared/base/errors.ts';
import type { GatewayFailure } from '../../shared/routes/gateway-failures.ts';
import { answerHeaders, cors } from '../../shared/routes/api.ts';

/** An answer that no function gives, as API Gateway would make it. */
export function fail(res: ServerResponse, failure: GatewayFailure): void {
  const { status } = errorCodes[failure.code];
  res.writeHead(status, failureHeaders(failure, status));
  res.end(failureBody(failure));
}

export function failureHeaders(
  { retryAfterSeconds }: GatewayFailure,
  status: number,
): Record<string, string> {
  return {
    ...ownHeaders(status),
    'content-type': 'application/json',
    'cache-control': 'no-store',
    // As on AWS. These answers are the same for everyone, so any page may read them.
    'access-control-allow-origin': '*',
    'access-control-expose-headers': cors.responseHeaders.join(', '),
    ...(retryAfterSeconds === undefined
      ? { 'x-should-retry': 'false' }
      : { 'retry-after': String(retryAfterSeconds) }),
  };
}

/** Exactly two members, as every error. */
export function failureBody({ error, code }: GatewayFailure): string {
  return JSON.stringify({ error, code });
}

/** Headers of whatever the gateway answers itself. */
export function ownHeaders(status: number): Record<string, string> {
  return { 'x-request-id': randomUUID(), ...answerHeaders(status) };
}
