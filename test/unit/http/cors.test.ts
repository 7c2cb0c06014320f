import { expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { corsHeaders } from '../../../shared/http/cors.ts';
import { readRequest } from '../../../shared/http/request.ts';

const allowed = ['https://app.example.com', 'http://localhost:5173'];

function headersFor(origins: string[] | undefined, allowedOrigins = allowed): Record<string, string> {
  const event = { httpMethod: 'GET', ...(origins && { multiValueHeaders: { Origin: origins } }) };
  return corsHeaders(readRequest(event as unknown as APIGatewayProxyEvent, 'the-id', 0), allowedOrigins);
}

test.each(allowed)('a page of %s may read the answer and the headers that clients need', (origin) => {
  const headers = headersFor([origin]);
  expect(headers['access-control-allow-origin']).toBe(origin);
  expect(headers['access-control-expose-headers']).toMatch(
    /x-request-id.*retry-after.*idempotent-replayed.*traceparent/,
  );
  // The answer is never kept for a page of another origin.
  expect(headers.vary).toBe('origin');
  // Keys and sessions travel in a header that pages set themselves.
  expect(headers).not.toHaveProperty('access-control-allow-credentials');
});

test.each([
  [['https://app.example.com.evil.test']],
  [['http://app.example.com']],
  [['https://APP.example.com']],
  [['null']],
  [['']],
  [undefined],
  [allowed],
])('a page of %j may not', (origins) => {
  expect(headersFor(origins)).toEqual({ vary: 'origin' });
});

test('where no page of another origin may ask, answers are as they were', () => {
  expect(headersFor([allowed[0]!], [])).toEqual({});
});
