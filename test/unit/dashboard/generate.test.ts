import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ApiError } from '../../../dashboard/src/api/api-error.ts';
import type { Api, ApiRequestInit } from '../../../dashboard/src/api/client.ts';
import { generate, type Generated } from '../../../dashboard/src/api/generate.ts';

const body = { licenseId: 'lic_1', identityId: 'idn_1', prompt: 'a quiet bay' };
const requestId = 'req_1';
const identity = { id: 'idn_1', name: 'harbor' };
const image = { outputs: ['signed link'], identity, seed: 7, processingTimeMs: 2400 };
const usage = { creditsUsed: 2, creditsLimit: 10, creditsRemaining: 8, creditsCharged: 1 };
const answer = { requestId, ...image, usage, referenceImagesUsed: 0 };
const told = { requestId, ...image, creditsCharged: 1, usage };
const lookedUp = { ...told, usage: null };
function stored(status: string, errorMessage: string | null = null): object {
  return { id: requestId, ...image, creditsCharged: 1, status, errorMessage };
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

const accepted = event('accepted', { requestId, creditsReserved: 1 });
const completed = event('completed', answer);
function refusal(status: number, code: string, retryAfterSeconds?: number, about?: string): ApiError {
  return new ApiError(`Refused: ${code}.`, { status, code, retryAfterSeconds, requestId: about });
}

function streamOf(source: string | ReadableStream, headers: Record<string, string> = {}): Response {
  return new Response(source, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', ...headers },
  });
}

/** An answer whose stream a test writes, ends and breaks. */
function openStream() {
  let stream!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => void (stream = controller),
    cancel: () => void (isCancelled = true),
  });
  return {
    response: streamOf(source),
    write: (text: string) => stream.enqueue(new TextEncoder().encode(text)),
    end: () => stream.close(),
    fail: (error: unknown) => stream.error(error),
    isCancelled: () => isCancelled,
  };
}

/** Sends one generation; `answers` are those of the look-ups, one after another, the last again and again. */
function run(sent: Response | Error | Promise<Response>, answers: unknown[] = [], signal?: AbortSignal) {
  const log: string[] = [];
  const requests: [string, ApiRequestInit | undefined][] = [];
  const startedMs = Date.now();
  const ask = async (path: string, init: ApiRequestInit | undefined, next: unknown): Promise<unknown> => {
    log.push(`${path} after ${(Date.now() - startedMs) / 1000} s`);
    requests.push([path, init]);
    init?.signal?.throwIfAborted();
    if (next instanceof Error) throw next;
    return next;
  };
  const api: Api = {
    send: (path, init) => ask(path, init, sent) as Promise<Response>,
    json: <T>(path: string, init?: ApiRequestInit) =>
      ask(path, init, answers.length > 1 ? answers.shift() : answers[0]) as Promise<T>,
  };
  let outcome: { result: Generated } | { error: unknown } | null = null;
  generate(api, {
    body,
    idempotencyKey: 'key-1',
    onAccepted: ({ requestId: id, creditsReserved }) => log.push(`accepted ${id} ${creditsReserved}`),
    onStarted: () => log.push('started'),
    onProgress: ({ step, steps }) => log.push(`${step} of ${steps}`),
    onDisconnected: () => log.push('disconnected'),
    ...(signal && { signal }),
  }).then(
    (result) => (outcome = { result }),
    (error: unknown) => (outcome = { error }),
  );
  return { log, requests, outcome: () => outcome };
}

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
    const headers = { accept: 'text/event-stream', 'idempotency-key': 'key-1' };
    expect(requests[0]?.[1]).toEqual({ method: 'POST', body, headers });
  });

  test('lets go of the connection once the images are there', async () => {
    const stream = openStream();
    const { outcome } = run(stream.response);
    stream.write(accepted + completed + event('failed', { error: 'Late.', code: 'LATE', status: 500 }));
    await pass();
    expect(outcome()).toEqual({ result: told });
    expect(stream.isCancelled()).toBe(true);
  });

  test('that failed is refused with the status, the code, the sentence and the request', async () => {
    const failed = event('failed', { error: 'It broke.', code: 'GENERATION_FAILED', status: 502 });
    for (const stream of [streamOf(accepted + failed), streamOf(failed, { 'x-request-id': requestId })]) {
      const { requests, outcome } = run(stream);
      await pass();
      const facts = { message: 'It broke.', code: 'GENERATION_FAILED', status: 502, requestId };
      expect(outcome()).toMatchObject({ error: facts });
      expect(requests).toHaveLength(1);
    }
  });
});

describe('a generation without a stream', () => {
  test('that is refused before it is accepted throws that refusal', async () => {
    const unnamed = refusal(409, 'IDEMPOTENCY_IN_PROGRESS', 2);
    for (const error of [refusal(402, 'CREDIT_LIMIT_EXCEEDED', 9, 'req_0'), unnamed]) {
      const { log, outcome } = run(error);
      await pass();
      expect(outcome()).toEqual({ error });
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
    const { log, outcome } = run(running, [stored('PROCESSING'), stored('COMPLETED')]);
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
      const { requests: made, outcome } = run(stream, [notFound]);
      await pass();
      expect(outcome()).toMatchObject({ error: { code: 'NETWORK', status: 0 } });
      expect(outcome()).toMatchObject({ error: { message: expect.stringContaining('history') } });
      expect(made).toHaveLength(requests);
    }
  });

  test.each([
    ['FAILED', 'The model refused it.', 500, 'GENERATION_FAILED', 'The model refused it.'],
    ['FAILED', null, 500, 'GENERATION_FAILED', 'The generation failed. No credits were charged.'],
    ['TIMEOUT', null, 504, 'TIMEOUT', 'The image was not finished in time. No credits were charged.'],
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

describe('looking a request up', () => {
  test.each([
    [429, 'RATE_LIMITED', 7, 7],
    [503, 'SERVICE_UNAVAILABLE', undefined, 4],
    [503, 'SERVICE_UNAVAILABLE', 1, 2],
    [0, 'NETWORK', undefined, 4],
  ])('waits after a %d %s as asked (%j), and no less than usual', async (status, code, asked, seconds) => {
    const { log, outcome } = run(streamOf(accepted), [refusal(status, code, asked), stored('COMPLETED')]);
    await pass(seconds * 1000 - 1);
    expect(log).toHaveLength(4);
    await pass(1);
    expect(log.at(-1)).toBe(`/generate/req_1 after ${seconds} s`);
    expect(outcome()).toEqual({ result: lookedUp });
  });

  test('ends at a refusal that no waiting mends', async () => {
    for (const error of [refusal(403, 'FORBIDDEN'), refusal(401, 'SESSION_ENDED'), new Error('a fault')]) {
      const { outcome } = run(streamOf(accepted), [error]);
      await pass();
      expect(outcome()).toEqual({ error });
    }
  });

  test('goes on for ten minutes, and then says where the result will be', async () => {
    const endless = run(streamOf(accepted), [stored('PROCESSING')]);
    await pass(597_000);
    expect(endless.outcome()).toBeNull();
    await pass(3000);
    const facts = {
      code: 'STILL_RUNNING',
      status: 504,
      requestId,
      message: expect.stringContaining('history'),
    };
    expect(endless.outcome()).toMatchObject({ error: facts });
    const busy = run(streamOf(accepted), [refusal(429, 'RATE_LIMITED', 3600)]);
    await pass();
    expect(busy.outcome()).toMatchObject({ error: facts });
  });
});

describe('an aborted generation throws the reason of its signal', () => {
  const reason = new Error('left');
  const failing = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

  const silentStream = (signal: AbortSignal): Response => {
    const { response, write, fail } = openStream();
    write(accepted);
    signal.addEventListener('abort', () => fail(signal.reason));
    return response;
  };

  test.each<[string, (signal: AbortSignal) => Response | Promise<Response>, unknown[], number]>([
    ['before it is sent', () => streamOf(completed), [], 1],
    ['while it is sent', failing, [], 1],
    ['while its stream is silent', silentStream, [stored('COMPLETED')], 1],
    ['while it waits for the next look-up', () => streamOf(accepted), [stored('QUEUED')], 2],
    ['while it is looked up', () => streamOf(accepted), ['failing'], 2],
  ])('%s', async (when, sent, answers, requestCount) => {
    const aborting = new AbortController();
    const { signal } = aborting;
    if (when === 'before it is sent') aborting.abort(reason);
    const lookedUpAs = answers.map((found) => (found === 'failing' ? failing(signal) : found));
    const { log, requests, outcome } = run(sent(signal), lookedUpAs, signal);
    await pass();
    aborting.abort(reason);
    await pass();
    expect(outcome()).toEqual({ error: reason });
    await pass(60_000);
    expect(requests).toHaveLength(requestCount);
    expect(log.includes('disconnected')).toBe(requestCount === 2);
  });
});
