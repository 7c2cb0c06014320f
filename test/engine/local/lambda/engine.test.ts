import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { invocationPath, startLambda, type Lambda } from '../../../../local/lambda/engine.ts';
import { credentials, region, signHeaders } from '../s3/support.ts';

let engine: Lambda;
/** What the functions of the queue were told. */
const told: any[] = [];
let gate = Promise.withResolvers<void>();

beforeAll(async () => {
  const functions = {
    echo: async (event: unknown) => ({ event }),
    nothing: async () => undefined,
    broken: () => Promise.reject(new TypeError('it broke')),
    slow: async (event: unknown) => {
      await gate.promise;
      told.push(event);
    },
    failures: async (record: unknown) => void told.push(record),
  };
  engine = await startLambda({ functions, onFailure: { broken: 'failures' }, credentials, region });
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

describe('an event that nobody waits for', () => {
  const asEvent = { headers: { 'x-amz-invocation-type': 'Event' } };
  beforeEach(() => {
    told.length = 0;
    gate = Promise.withResolvers<void>();
  });

  test('is taken with 202 while its function runs, which the engine knows of', async () => {
    const answer = await invoke(invocationPath('slow'), '{"a":1}', asEvent);
    expect([answer.status, await answer.text(), told]).toEqual([202, '', []]);
    expect(engine.running()).toBe(1);
    gate.resolve();
    await engine.idle();
    expect([engine.running(), told]).toEqual([0, [{ a: 1 }]]);
  });

  test('that fails is not repeated, and its destination is told as Lambda tells it', async () => {
    expect((await invoke(invocationPath('broken'), '{"a":1}', asEvent)).status).toBe(202);
    await engine.idle();
    expect(told).toEqual([
      {
        version: '1.0',
        timestamp: expect.stringMatching(/Z$/),
        requestContext: {
          requestId: expect.any(String),
          functionArn: expect.stringContaining(':function:broken:live'),
          condition: 'RetriesExhausted',
          approximateInvokeCount: 1,
        },
        requestPayload: { a: 1 },
        responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
        responsePayload: { errorType: 'TypeError', errorMessage: 'it broke' },
      },
    ]);
  });

  test('is refused where it is too large, unsigned, or of a kind that this engine does not play', async () => {
    const large = `"${'x'.repeat(256 * 1024)}"`;
    expect((await invoke(invocationPath('slow'), large, asEvent)).status).toBe(413);
    const unsigned = { headers: { ...asEvent.headers, authorization: '' } };
    expect((await invoke(invocationPath('slow'), '{}', unsigned)).status).toBe(403);
    const dryRun = { headers: { 'x-amz-invocation-type': 'DryRun' } };
    expect((await invoke(invocationPath('slow'), '{}', dryRun)).status).toBe(400);
    expect((await invoke(invocationPath('toString'), '{}', asEvent)).status).toBe(404);
    expect(engine.running()).toBe(0);
  });
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
