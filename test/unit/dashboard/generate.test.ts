import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { sessionEnded } from '../../../dashboard/src/api/api-error.ts';
import { createApi } from '../../../dashboard/src/api/client.ts';
import { generate } from '../../../dashboard/src/api/generate.ts';
import { accepted, event, requestId, stored, streamOf } from '../../support/generation-run.ts';
import { answered, refused, scriptedFetch, type Script } from '../../support/scripted-fetch.ts';

// `test/unit/client/generate.test.ts` holds how a generation runs. Here is what the playground makes of its end.

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

/** The error that a generation with these answers ends with, and how many requests were sent. */
async function failureOf(scripts: Script[], token = async () => 'token', signal?: AbortSignal) {
  const { fetch, sent } = scriptedFetch(...scripts);
  const api = createApi(
    'https://api.test',
    { accessToken: token, replaceToken: token, end: () => {} },
    fetch,
  );
  const body = { licenseId: 'lic_1', identityId: 'idn_1', prompt: 'a quiet bay' };
  const outcome = generate(api, { body, idempotencyKey: 'key-1', signal }).catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(20 * 60_000);
  return { error: await outcome, count: sent.length };
}

const acceptedOnly: Script = () => streamOf(accepted);

test('a refusal is shown as it is, and the playground does not send again by itself', async () => {
  const refusal = refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 9, requestId: 'req_0' });
  const expected = { message: 'Refused as SERVICE_UNAVAILABLE.', retryAfterSeconds: 9, requestId: 'req_0' };
  expect(await failureOf([refusal])).toMatchObject({ error: expected, count: 1 });
});

test('a request that failed and is not stored is refused as it was told', async () => {
  const told = event('failed', { error: 'It broke.', code: 'INTERNAL_ERROR', status: 500 });
  const scripts: Script[] = [() => streamOf(accepted + told), refused(404, 'REQUEST_NOT_FOUND')];
  const error = { message: 'It broke.', code: 'INTERNAL_ERROR', status: 500, requestId };
  expect(await failureOf(scripts)).toMatchObject({ error, count: 2 });
});

const broken = new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) });
test.each<[string, Script[]]>([
  ['a page', [() => new Response('<!doctype html>')]],
  ['an object without a result', [answered({})]],
  ['an answer that breaks off', [() => new Response(broken)]],
  ['a stream without an event', [() => streamOf('')]],
  ['a stream that breaks off, and nothing stored', [acceptedOnly, refused(404, 'REQUEST_NOT_FOUND')]],
])('%s says where to look', async (_what, scripts) => {
  const message = expect.stringContaining('history');
  expect((await failureOf(scripts)).error).toMatchObject({ code: 'NETWORK', status: 0, message });
});

test('a request that goes on and on says where its result will be', async () => {
  const { error } = await failureOf([acceptedOnly, answered(stored('PROCESSING'))]);
  const message = expect.stringContaining('history');
  expect(error).toMatchObject({ code: 'STILL_RUNNING', status: 504, requestId, message });
});

test('a generation ends when there is no token any more', async () => {
  const ended = sessionEnded();
  let given = 0;
  const token = () => (given++ === 0 ? Promise.resolve('token') : Promise.reject(ended));
  expect(await failureOf([acceptedOnly], token)).toEqual({ error: ended, count: 1 });
});

test('an aborted generation throws the reason of its signal', async () => {
  const aborting = new AbortController();
  const reason = new Error('left');
  setTimeout(() => aborting.abort(reason), 1000);
  expect(await failureOf(['silence'], undefined, aborting.signal)).toEqual({ error: reason, count: 1 });
});
