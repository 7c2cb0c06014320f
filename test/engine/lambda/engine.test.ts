import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RunningServer } from '../../../local/http/server.ts';
import { invocationPath, startLambda } from '../../../local/lambda/engine.ts';
import { credentials, region, signHeaders } from '../s3/support.ts';

let engine: RunningServer;

beforeAll(async () => {
  const functions = {
    echo: async (event: unknown) => ({ event }),
    nothing: async () => undefined,
    broken: () => Promise.reject(new TypeError('it broke')),
  };
  engine = await startLambda({ functions, credentials, region });
});

afterAll(() => engine.close());

interface Changes {
  /** What is sent instead of what was signed. */
  sent?: string;
  secretAccessKey?: string;
  headers?: Record<string, string>;
}

async function invoke(path: string, body: string, changes: Changes = {}): Promise<Response> {
  const { secretAccessKey = credentials.secretAccessKey, sent = body, headers } = changes;
  const signer = { service: 'lambda', credentials: { ...credentials, secretAccessKey } };
  const signed = await signHeaders(engine.url, { method: 'POST', path, body }, signer);
  return fetch(engine.url + path, { method: 'POST', headers: { ...signed, ...headers }, body: sent });
}

test('a function is invoked with the event, and its answer comes back', async () => {
  const answer = await invoke(invocationPath('echo'), '{"a":[1,"é"]}');
  expect(answer.status).toBe(200);
  expect(answer.headers.has('x-amz-function-error')).toBe(false);
  expect(await answer.json()).toEqual({ event: { a: [1, 'é'] } });
});

test('no answer is null', async () => {
  expect(await (await invoke(invocationPath('nothing'), 'null')).json()).toBeNull();
});

test('what a function throws is marked', async () => {
  const answer = await invoke(invocationPath('broken'), '{}');
  expect([answer.status, answer.headers.get('x-amz-function-error')]).toEqual([200, 'Unhandled']);
  expect(await answer.json()).toEqual({ errorType: 'TypeError', errorMessage: 'it broke' });
});

test.each([
  ['another body than was signed', { sent: '{"a":2}' }],
  ['a wrong secret', { secretAccessKey: 'guessed' }],
  ['no signature', { headers: { authorization: '' } }],
  ['another date', { headers: { 'x-amz-date': '20200101T000000Z' } }],
] as [string, Changes][])('a request with %s is refused', async (_what, changes) => {
  const answer = await invoke(invocationPath('echo'), '{"a":1}', changes);
  expect([answer.status, answer.headers.get('x-amzn-errortype')]).toEqual([403, 'InvalidSignatureException']);
});

test.each([
  ['a function that is not there', invocationPath('toString'), '{}', 404, 'ResourceNotFoundException'],
  ['an event that is not JSON', invocationPath('echo'), '{', 400, 'InvalidRequestContentException'],
  [
    'too large an event',
    invocationPath('echo'),
    `"${'x'.repeat(6 * 1024 * 1024)}"`,
    413,
    'RequestTooLargeException',
  ],
  ['another operation', '/2015-03-31/functions/', '{}', 404, 'UnknownOperationException'],
])('%s is refused as AWS does', async (_what, path, body, status, type) => {
  const answer = await invoke(path, body);
  expect([answer.status, answer.headers.get('x-amzn-errortype')]).toEqual([status, type]);
});
