import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  body,
  requestId,
  answer,
  told,
  lookedUp,
  stored,
  event,
  accepted,
  completed,
  refusal,
  streamOf,
  openStream,
  run,
} from '../../support/generation-run.ts';

const pass = (ms = 1): Promise<void> => jest.advanceTimersByTimeAsync(ms);
const sentOnce = '/playground/generate after 0 s';
beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => {
  // Whatever became of a generation, nothing waits for it any more.
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

describe('a generation whose stream is whole', () => {
  test('tells each stage that it knows and resolves to its images', async () => {
    const progress = event('progress', { step: 3, steps: 30 });
    const unknown = `: still here\n\n${event('weather', 'not JSON')}${event('message', 1)}`;
    const stages = `${accepted}${event('started', {})}${unknown}${progress}${completed}`;
    const { log, requests, outcome } = run(streamOf(stages));
    await pass();
    expect(outcome()).toEqual({ result: told });
    expect(log).toEqual([sentOnce, 'accepted req_1 1', 'started', '3 of 30']);
    const headers = Object.fromEntries(requests[0]!.headers);
    expect(headers).toMatchObject({ accept: 'text/event-stream', 'idempotency-key': 'key-1' });
    expect(requests).toMatchObject([{ path: '/playground/generate', body }]);
  });

  test('lets go of the connection once the images are there', async () => {
    const stream = openStream();
    const { outcome } = run(stream.response);
    stream.write(accepted + completed + event('failed', { error: 'Late.', code: 'LATE', status: 500 }));
    await pass();
    expect(outcome()).toEqual({ result: told });
    expect(stream.isCancelled()).toBe(true);
  });

  test('that failed is refused with what is stored of it, and its request', async () => {
    const failed = event('failed', { error: 'It broke.', code: 'GENERATION_FAILED', status: 500 });
    for (const stream of [streamOf(accepted + failed), streamOf(failed, { 'x-request-id': requestId })]) {
      const { requests, outcome } = run(stream, [stored('FAILED', 'The model broke.')]);
      await pass();
      const message = 'The model broke. Nothing was charged.';
      const facts = { message, code: 'GENERATION_FAILED', status: 500, requestId };
      expect(outcome()).toMatchObject({ error: facts });
      expect(requests).toHaveLength(2);
    }
  });

  test('that failed only to tell its result is looked up, and is no failure', async () => {
    const failed = event('failed', { error: 'Re-fetch it.', code: 'GENERATION_FAILED', status: 500 });
    const { log, outcome } = run(streamOf(accepted + failed), [stored('COMPLETED')]);
    await pass();
    expect(outcome()).toEqual({ result: lookedUp });
    expect(log).toEqual([sentOnce, 'accepted req_1 1', '/generate/req_1 after 0 s']);
  });

  test('that failed and is not stored is refused as it was told', async () => {
    const failed = event('failed', { error: 'It broke.', code: 'INTERNAL_ERROR', status: 500 });
    const { requests, outcome } = run(streamOf(accepted + failed), [
      refusal(404, 'REQUEST_NOT_FOUND').answer,
    ]);
    await pass();
    const facts = { message: 'It broke.', code: 'INTERNAL_ERROR', status: 500, requestId };
    expect(outcome()).toMatchObject({ error: facts });
    expect(requests).toHaveLength(2);
  });

  test('that the models had no room for is refused at once: its key is free', async () => {
    const failed = event('failed', { error: 'Busy.', code: 'SERVICE_UNAVAILABLE', status: 503 });
    const { requests, outcome } = run(streamOf(accepted + failed));
    await pass();
    expect(outcome()).toMatchObject({ error: { message: 'Busy.', status: 503, requestId } });
    expect(requests).toHaveLength(1);
  });
});

describe('a generation without a stream', () => {
  test('that is refused before it is accepted throws that refusal', async () => {
    const unnamed = refusal(409, 'IDEMPOTENCY_IN_PROGRESS', 2);
    for (const { answer: sent, facts } of [refusal(402, 'CREDIT_LIMIT_EXCEEDED', 9, 'req_0'), unnamed]) {
      const { log, outcome } = run(sent);
      await pass();
      expect(outcome()).toMatchObject({ error: facts });
      expect(log).toEqual([sentOnce]);
    }
  });

  test('that is a repeat of a finished one resolves to the first result', async () => {
    const { log, outcome } = run(Response.json(answer, { headers: { 'idempotent-replayed': 'true' } }));
    await pass();
    expect(outcome()).toEqual({ result: told });
    expect(log).toEqual([sentOnce]);
  });

  test('that is a repeat of a running one follows the running one', async () => {
    const running = refusal(409, 'IDEMPOTENCY_IN_PROGRESS', 2, requestId);
    const { log, outcome } = run(running.answer, [stored('PROCESSING'), stored('COMPLETED')]);
    await pass(2000);
    expect(outcome()).toEqual({ result: lookedUp });
    expect(log).toEqual([sentOnce, '/generate/req_1 after 0 s', '/generate/req_1 after 2 s']);
  });
});

describe('a stream that breaks', () => {
  test.each(['by its end', 'by an error'])('%s says so once and asks for the stored request', async (how) => {
    const stream = openStream();
    const { log, outcome } = run(stream.response, [
      stored('QUEUED'),
      stored('PROCESSING'),
      stored('COMPLETED'),
    ]);
    stream.write(accepted);
    await pass(0);
    if (how === 'by its end') stream.end();
    else stream.fail(new TypeError('terminated'));
    await pass(5000);
    expect(outcome()).toEqual({ result: lookedUp });
    const lookUps = [0, 2, 4].map((seconds) => `/generate/req_1 after ${seconds} s`);
    expect(log).toEqual([sentOnce, 'accepted req_1 1', 'disconnected', ...lookUps]);
  });

  test('before it was accepted is looked up by the id of the answer', async () => {
    const { log, outcome } = run(streamOf('', { 'x-request-id': requestId }), [stored('COMPLETED')]);
    await pass();
    expect(outcome()).toEqual({ result: lookedUp });
    expect(log).toEqual([sentOnce, 'disconnected', '/generate/req_1 after 0 s']);
  });

  test('and of which nothing is stored is told as such, with the history to look in', async () => {
    const notFound = refusal(404, 'REQUEST_NOT_FOUND');
    for (const [stream, requests] of [[streamOf(''), 1] as const, [streamOf(accepted), 2] as const]) {
      const { requests: made, outcome } = run(stream, [notFound.answer]);
      await pass();
      expect(outcome()).toMatchObject({ error: { code: 'NETWORK', status: 0 } });
      expect(outcome()).toMatchObject({ error: { message: expect.stringContaining('history') } });
      expect(made).toHaveLength(requests);
    }
  });

  test.each([
    [
      'FAILED',
      'The model refused it.',
      500,
      'GENERATION_FAILED',
      'The model refused it. Nothing was charged.',
    ],
    ['FAILED', null, 500, 'GENERATION_FAILED', 'The image could not be finished. Nothing was charged.'],
    ['TIMEOUT', 'It took too long.', 504, 'TIMEOUT', 'It took too long. Nothing was charged.'],
  ])('and whose request is stored as %s (%j) throws that', async (as, reason, status, code, message) => {
    const { outcome } = run(streamOf(accepted), [stored(as, reason)]);
    await pass();
    expect(outcome()).toMatchObject({ error: { status, code, message, requestId } });
  });

  test('is noticed after 45 silent seconds, and comments are no silence', async () => {
    const stream = openStream();
    const { log, outcome } = run(stream.response, [stored('COMPLETED')]);
    stream.write(accepted);
    await pass(44_000);
    stream.write(': still here\n\n');
    await pass(44_999);
    expect(log.at(-1)).toBe('accepted req_1 1');
    await pass(2);
    expect(log).toContain('disconnected');
    expect(outcome()).toEqual({ result: lookedUp });
    expect(stream.isCancelled()).toBe(true);
  });

  test('by a malformed event is looked up', async () => {
    for (const data of ['{"requestId": "req_1", "outp', 'null', '{}', '']) {
      for (const name of data.startsWith('{') ? ['completed'] : ['completed', 'failed', 'progress']) {
        const { log, outcome } = run(streamOf(accepted + event(name, data)), [stored('COMPLETED')]);
        await pass();
        expect(outcome()).toEqual({ result: lookedUp });
        expect(log).toContain('disconnected');
      }
    }
  });
});
