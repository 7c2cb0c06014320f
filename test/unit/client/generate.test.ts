import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createClient, type GenerateOptions } from '../../../client/src/index.ts';
import { answered, refused, scriptedFetch, type Script } from '../../support/scripted-fetch.ts';

const body = { identityId: 'idn_1', prompt: 'a quiet bay' };
const usage = {
  creditsUsed: 2,
  creditsLimit: 9,
  creditsRemaining: 7,
  creditsCharged: 1,
  periodResetDate: '',
};
const image = { outputs: ['link'], identity: { id: 'idn_1', name: 'harbor' }, seed: 7, processingTimeMs: 24 };
const answer = { requestId: 'req_1', ...image, referenceImagesUsed: 0, usage };
const told = { ...answer, creditsCharged: 1 };
const lookedUp = { ...told, usage: null };
const stored = (status: string) =>
  answered({ id: 'req_1', ...image, referenceImagesUsed: 0, creditsCharged: 1, status, errorMessage: null });

const unreachable = new TypeError('fetch failed');
const broken: Script = () =>
  new Response(new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) }), {
    headers: { 'content-type': 'text/event-stream' },
  });
const accepted: Script = () =>
  new Response('event: accepted\ndata: {"requestId":"req_1","creditsReserved":1}\n\n', {
    headers: { 'content-type': 'text/event-stream' },
  });

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.restoreAllMocks();
  jest.useRealTimers();
});

async function generate(scripts: Script[], options: GenerateOptions = {}, given: typeof body = body) {
  const { fetch, sent } = scriptedFetch(...scripts);
  const client = createClient({ apiKey: 'svc_live_x', baseUrl: 'https://api.test', fetch });
  const promise = client.generate(given, options).catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(20 * 60_000);
  const log = sent.map(
    ({ line, atSeconds }) => `${line.replace(' https://api.test', ' ')} after ${atSeconds} s`,
  );
  const posts = sent.filter(({ line }) => line.startsWith('POST'));
  return { outcome: (await promise) as any, sent, log, posts };
}

const post = (seconds: number): string => `POST /generate after ${seconds} s`;
const get = (seconds: number): string => `GET /generate/req_1 after ${seconds} s`;

describe('a try that fails before anything is known of its request', () => {
  const faults: [string, Script][] = [
    ['no connection', unreachable],
    ['a stream that breaks at once', broken],
    ['429', refused(429, 'RATE_LIMITED', { retryAfter: 1 })],
    ['503', refused(503, 'SERVICE_UNAVAILABLE')],
    ['a proxy’s 502', () => new Response('<html>', { status: 502 })],
    ['500 without a request', refused(500, 'INTERNAL_ERROR')],
  ];

  test.each(faults)('is repeated after %s', async (_what, fault) => {
    const { outcome, log } = await generate([fault, fault, answered(answer)]);
    expect(outcome).toEqual(told);
    expect(log).toEqual([post(0), post(1), post(3)]);
  });

  test('is repeated with the same key and body however often it fails, and another call has another key', async () => {
    const keys = new Set<string | null>();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...faults), { maxLength: 8 }), async (failing) => {
        const scripts = [...failing.map(([, fault]) => fault), answered(answer)];
        const { outcome, posts } = await generate(scripts);
        expect(outcome).toEqual(told);
        expect(posts).toHaveLength(failing.length + 1);
        for (const { headers, body: sentBody } of posts) {
          expect(headers.get('idempotency-key')).toBe(posts[0]!.headers.get('idempotency-key'));
          expect(sentBody).toEqual(body);
        }
        const key = posts[0]!.headers.get('idempotency-key');
        expect(key).toMatch(/^[0-9a-f-]{36}$/);
        expect(keys).not.toContain(key);
        keys.add(key);
      }),
      { numRuns: 30 },
    );
  });

  test('gives up with what it last met', async () => {
    const { outcome, posts } = await generate([refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 5 })]);
    expect(outcome).toMatchObject({ name: 'ApiError', code: 'SERVICE_UNAVAILABLE', status: 503 });
    expect(posts).toHaveLength(9);
  });

  test('keeps the caller’s key, and the body as it was when it was called', async () => {
    const given = { ...body };
    const change = (): Response => {
      given.prompt = 'something else';
      throw unreachable;
    };
    const { posts } = await generate([change, answered(answer)], { idempotencyKey: 'order-1841' }, given);
    expect(posts.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['order-1841', 'order-1841']);
    expect(posts.map((one) => one.body)).toEqual([body, body]);
  });
});

describe('a request that is stored', () => {
  test('is followed after its connection broke, and not sent again', async () => {
    const { outcome, log } = await generate([
      accepted,
      unreachable,
      stored('PROCESSING'),
      stored('COMPLETED'),
    ]);
    expect(outcome).toEqual(lookedUp);
    expect(log).toEqual([post(0), get(0), get(4), get(6)]);
  });

  test.each([
    [409, 'IDEMPOTENCY_IN_PROGRESS'],
    [500, 'GENERATION_FAILED'],
    [504, 'TIMEOUT'],
  ])('is followed after %d %s that names it', async (status, code) => {
    const first = refused(status, code, { requestId: 'req_1', retryAfter: 2 });
    const { outcome, log } = await generate([first, stored('QUEUED'), stored('COMPLETED')]);
    expect(outcome).toEqual(lookedUp);
    expect(log).toEqual([post(0), get(0), get(2)]);
  });

  test.each([
    ['FAILED', 500, 'GENERATION_FAILED'],
    ['TIMEOUT', 504, 'TIMEOUT'],
  ])('and ended as %s is told as that, and not sent again', async (as, status, code) => {
    const failing: Script[] = [refused(status, code, { requestId: 'req_1' }), accepted];
    for (const first of failing) {
      const { outcome, log } = await generate([first, stored(as)]);
      const message = 'The image could not be finished. Nothing was charged.';
      expect(outcome).toMatchObject({ name: 'ApiError', status, code, requestId: 'req_1', message });
      expect(log).toEqual([post(0), get(0)]);
    }
  });

  test('under another id than the answer’s was never accepted, so the request is sent again', async () => {
    const gateway = refused(504, 'TIMEOUT', { requestId: 'req_1' });
    const missing = refused(404, 'REQUEST_NOT_FOUND');
    const { outcome, log } = await generate([gateway, missing, answered(answer)]);
    expect(outcome).toEqual(told);
    expect(log).toEqual([post(0), get(0), post(1)]);
  });

  test('and does not end in ten minutes is told by its id', async () => {
    const { outcome, posts } = await generate([accepted, stored('PROCESSING')]);
    expect(outcome).toMatchObject({ name: 'TimeoutError', requestId: 'req_1' });
    expect(posts).toHaveLength(1);
  });
});

test('what a caller’s own function throws is thrown, and nothing is sent again', async () => {
  const fault = new Error('a fault of the caller');
  const onAccepted = (): never => {
    throw fault;
  };
  const { outcome, log } = await generate([accepted], { onAccepted });
  expect(outcome).toBe(fault);
  expect(log).toEqual([post(0)]);
});
