import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { ok } from '../../../shared/http/answer.ts';
import { endpoint } from '../../../shared/http/endpoint.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import { routes } from '../../../shared/routes/routes.ts';

const event = { httpMethod: 'GET', multiValueHeaders: {}, path: '/health' };

function invoke(handler: unknown): Promise<APIGatewayProxyResult> {
  return (handler as (event: unknown, context: unknown) => Promise<never>)(event, {});
}

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
  setLogSink((line) => lines.push(line));
});
afterEach(() => setLogSink(() => {}));

test('what nobody foresaw is INTERNAL_ERROR: its cause goes to the log, never to the caller', async () => {
  const handler = endpoint(routes.getHealth, {
    deps: () => ({}),
    run: () => Promise.reject(new Error('the cellar is flooded')),
  });
  const answer = await invoke(handler);
  const { error, code, ...rest } = JSON.parse(answer.body);
  expect([answer.statusCode, code, rest]).toEqual([500, 'INTERNAL_ERROR', {}]);
  expect(error).not.toContain('cellar');
  expect(lines.join('\n')).toContain('the cellar is flooded');
  expect(lines.join('\n')).toContain(answer.headers!['x-request-id']);
});

test('a missing environment variable is an INTERNAL_ERROR on every request, by name in the log', async () => {
  const handler = endpoint(routes.getHealth, {
    deps: ({ env }) => env.modelEndpointName,
    run: async () => ok({}),
  });
  for (let i = 0; i < 2; i++) expect((await invoke(handler)).statusCode).toBe(500);
  expect(lines.join('\n')).toContain('MODEL_ENDPOINT_NAME is not set');
});

test('each request is one line of the log, with its route, status and duration', async () => {
  const handler = endpoint(routes.getHealth, { deps: () => ({}), run: async () => ok({ fine: true }) });
  const answer = await invoke(handler);
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  const line = { message: 'request', route: 'GET /health', status: 200, durationMs: expect.any(Number) };
  expect(lines.map((text) => JSON.parse(text))).toEqual([expect.objectContaining(line)]);
});
