import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RunningServer } from '../../../../local/http/server.ts';
import { invocationPath, startLambda } from '../../../../local/lambda/engine.ts';
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

async function invoke(path: string, body: string, changes: Changes = {}) {
  const { secretAccessKey = credentials.secretAccessKey, sent = body, headers } = changes;
  const signer = { service: 'lambda', credentials: { ...credentials, secretAccessKey } };
  const signed = await signHeaders(engine.url, { method: 'POST', path, body }, signer);
  const answer = await fetch(engine.url + path, {
    method: 'POST',
    headers: { ...signed, ...headers },
    body: sent,
  });
  const of = (name: string) => answer.headers.get(`x-am${name}`);
  const text = await answer.text();
  return { status: answer.status, text, type: of('zn-errortype'), functionError: of('z-function-error') };
}

test.each([
  ['echo', '{"a":[1,"é"]}', null, { event: { a: [1, 'é'] } }],
  ['nothing', 'null', null, null],
  ['broken', '{}', 'Unhandled', { errorType: 'TypeError', errorMessage: 'it broke' }],
])(
  'the function %s is invoked, and what it gives or throws comes back',
  async (name, event, error, answer) => {
    const { text, status, functionError } = await invoke(invocationPath(name), event);
    expect([status, functionError, JSON.parse(text)]).toEqual([200, error, answer]);
  },
);

const megabytes = (count: number) => `"${'x'.repeat(count * 1024 * 1024)}"`;
const asEvent = { headers: { 'x-amz-invocation-type': 'Event' } };
const wrong = [403, 'InvalidSignatureException'] as const;
test.each<[string, string, string, Changes, number, string]>([
  ['another body than was signed', 'echo', '{"a":1}', { sent: '{"a":2}' }, ...wrong],
  ['a wrong secret', 'echo', '{}', { secretAccessKey: 'guessed' }, ...wrong],
  ['no signature', 'echo', '{}', { headers: { authorization: '' } }, ...wrong],
  ['another date', 'echo', '{}', { headers: { 'x-amz-date': '20200101T000000Z' } }, ...wrong],
  ['a function that is not there', 'toString', '{}', {}, 404, 'ResourceNotFoundException'],
  ['what is no JSON', 'echo', '{', {}, 400, 'InvalidRequestContentException'],
  ['too large an event', 'echo', megabytes(6), {}, 413, 'RequestTooLargeException'],
  ['another kind of invocation', 'echo', '{}', asEvent, 400, 'ValidationException'],
  ['another operation', 'a/b', '{}', {}, 404, 'UnknownOperationException'],
])('a request with %s is refused as AWS does', async (_what, name, body, changes, status, type) => {
  expect(await invoke(invocationPath(name), body, changes)).toMatchObject({ status, type });
});
