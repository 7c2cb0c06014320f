import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../dashboard/src/api/api-error.ts';
import { createApi, type Api } from '../../../dashboard/src/api/client.ts';
import { readyText, shortPrompt, type Result } from '../../../dashboard/src/screens/playground/results.ts';
import {
  createRunStore,
  mayRepeat,
  waitSeconds,
  type Order,
  type RunState,
} from '../../../dashboard/src/screens/playground/run-store.ts';
import { until } from '../../support/until.ts';

const order: Order = {
  body: { licenseId: 'lic_1', identityId: 'idn_1', prompt: 'a quiet bay', numOutputs: 2 },
  references: [],
  identityName: 'harbor',
  idempotencyKey: 'key-1',
};

const answer = {
  requestId: 'req_1',
  outputs: ['https://images.test/0', 'https://images.test/1'],
  identity: { id: 'idn_1', name: 'harbor' },
  referenceImagesUsed: 0,
  usage: { creditsUsed: 2, creditsLimit: 10, creditsRemaining: 8, creditsCharged: 2, periodResetDate: '' },
  processingTimeMs: 2400,
  seed: 7,
};

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

const accepted = event('accepted', { requestId: 'req_1', creditsReserved: 2 });
const wholeStream = [
  accepted,
  event('started', {}),
  event('progress', { step: 3, steps: 30 }),
  event('completed', answer),
].join('');

interface Sent {
  path: string;
  body: unknown;
  key: string | null;
  signal: AbortSignal;
}

/** An API that answers one generation with a stream, and look-ups with `stored`. */
function apiOf(stream: () => string | Promise<Response>, stored?: unknown): { api: Api; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch = async (url: string, { method, headers, body, signal }: RequestInit): Promise<Response> => {
    const key = (headers as Headers).get('idempotency-key');
    const path = url.replace('https://api.test', '');
    sent.push({ path, body: body && JSON.parse(body as string), key, signal: signal! });
    if (method === 'GET') return Response.json(stored);
    const answered = stream();
    if (answered instanceof Promise) return answered;
    return new Response(answered, { headers: { 'content-type': 'text/event-stream' } });
  };
  const token = async (): Promise<string> => 'token';
  const tokens = { accessToken: token, replaceToken: token, end: () => {} };
  return { api: createApi('https://api.test', tokens, fetch as typeof globalThis.fetch), sent };
}

describe('a run', () => {
  test('goes through accepted and started with real steps, to images that are shown', async () => {
    const store = createRunStore(() => 1000);
    const seen: RunState[] = [];
    store.subscribe(() => seen.push(store.state()));
    const { api } = apiOf(() => wholeStream);
    await store.start(api, order);
    const runs = seen.map(({ run }) => run && [run.phase, run.progress?.step ?? null, run.requestId]);
    expect(runs).toEqual([
      ['sending', null, null],
      ['queued', null, 'req_1'],
      ['running', null, 'req_1'],
      ['running', 3, 'req_1'],
      null,
    ]);
    const { results, shownId, failure } = store.state();
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ requestId: 'req_1', seed: 7, creditsCharged: 2, body: order.body });
    expect(shownId).toBe('req_1');
    expect(failure).toBeNull();
  });

  test('tells its listeners when it was accepted and when it has ended', async () => {
    const told: string[] = [];
    const { api } = apiOf(() => wholeStream);
    const listeners = { onChange: () => told.push('change'), onDone: () => told.push('done') };
    await createRunStore().start(api, order, listeners);
    expect(told).toEqual(['change', 'done', 'change']);
  });

  test('is sent only once its images are uploaded, with what they are called then', async () => {
    const { api, sent } = apiOf(() => wholeStream);
    const store = createRunStore();
    const phases: string[] = [];
    store.subscribe(() => phases.push(store.state().run?.phase ?? 'none'));
    const gate = Promise.withResolvers<Order>();
    const run = store.start(api, order, { prepare: () => gate.promise });
    expect([phases, sent]).toEqual([['uploading'], []]);
    const body = { ...order.body, referenceImages: [{ uploadId: 'upl_1' }] };
    gate.resolve({ ...order, body });
    await run;
    expect(phases.slice(0, 3)).toEqual(['uploading', 'sending', 'queued']);
    expect(sent.map((one) => one.body)).toEqual([body]);
    expect(store.state().results[0]).toMatchObject({ body });
  });

  test('that is left while its images are uploaded sends nothing and leaves nothing', async () => {
    const { api, sent } = apiOf(() => wholeStream);
    const store = createRunStore();
    const run = store.start(api, order, {
      prepare: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    store.leave();
    await run;
    expect(sent).toEqual([]);
    expect(store.state()).toMatchObject({ run: null, left: null, failure: null, results: [] });
  });

  test('whose images can’t be uploaded fails with the reason and sends nothing', async () => {
    const { api, sent } = apiOf(() => wholeStream);
    const store = createRunStore();
    const error = new ApiError('cup.png could not be uploaded.', { status: 0, code: 'NETWORK' });
    await store.start(api, order, { prepare: () => Promise.reject(error) });
    expect(sent).toEqual([]);
    expect(store.state().failure).toMatchObject({ order, error });
  });

  test('is the only one: a second start while it is under way sends nothing', async () => {
    const gate = Promise.withResolvers<Response>();
    const { api, sent } = apiOf(() => gate.promise);
    const store = createRunStore();
    const first = store.start(api, order);
    await store.start(api, { ...order, idempotencyKey: 'key-2' });
    expect(sent).toHaveLength(1);
    gate.resolve(new Response(wholeStream, { headers: { 'content-type': 'text/event-stream' } }));
    await first;
    expect(store.state().results).toHaveLength(1);
  });

  test('whose stream breaks is looked up, and its stored images are shown', async () => {
    const stored = { ...answer, id: 'req_1', status: 'COMPLETED', creditsCharged: 2 };
    const { api, sent } = apiOf(() => accepted, stored);
    const phases = new Set<string>();
    const store = createRunStore();
    store.subscribe(() => phases.add(store.state().run?.phase ?? 'none'));
    await store.start(api, order);
    expect(sent.map(({ path }) => path)).toEqual(['/playground/generate', '/generate/req_1']);
    expect(phases).toContain('disconnected');
    expect(store.state().results[0]).toMatchObject({ requestId: 'req_1', outputs: answer.outputs });
  });

  test('that fails keeps its order, so that a repeat has the same body and key', async () => {
    const failed = event('failed', { error: 'It broke.', code: 'GENERATION_FAILED', status: 500 });
    const stored = { id: 'req_1', status: 'FAILED', errorMessage: 'It broke.' };
    const { api, sent } = apiOf(() => accepted + failed, stored);
    const errors: unknown[] = [];
    const store = createRunStore();
    await store.start(api, order, { onFailed: (error) => errors.push(error) });
    const { failure, run } = store.state();
    expect(run).toBeNull();
    expect(failure?.error).toMatchObject({
      code: 'GENERATION_FAILED',
      message: 'It broke. Nothing was charged.',
      requestId: 'req_1',
    });
    expect(errors).toEqual([failure?.error]);
    await store.start(api, failure!.order);
    const posts = sent.filter(({ path }) => path === '/playground/generate');
    const same = { path: '/playground/generate', body: order.body, key: 'key-1' };
    expect(posts).toMatchObject([same, same]);
  });

  test('that nobody waits for any more leaves its request’s id, and no result or failure', async () => {
    const isAccepted = Promise.withResolvers<void>();
    const silent = Promise.withResolvers<Response>();
    const { api, sent } = apiOf(() => silent.promise);
    const store = createRunStore();
    const run = store.start(api, order, { onChange: isAccepted.resolve });
    await until('it was sent', () => sent.length > 0);
    const body = new ReadableStream({
      start(stream) {
        stream.enqueue(new TextEncoder().encode(accepted));
        const { signal } = sent[0]!;
        signal.addEventListener('abort', () => stream.error(signal.reason));
      },
    });
    silent.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    await isAccepted.promise;
    store.leave();
    expect(store.state()).toMatchObject({ run: null, left: { requestId: 'req_1' } });
    await run;
    expect(store.state()).toMatchObject({ results: [], failure: null });
  });

  test('that is answered a second time is listed once', async () => {
    const store = createRunStore();
    const { api } = apiOf(() => wholeStream);
    await store.start(api, order);
    await store.start(api, order);
    expect(store.state().results).toHaveLength(1);
  });

  test('has its links renewed without losing what it was', async () => {
    const store = createRunStore();
    const { api } = apiOf(() => wholeStream, { outputs: ['new 0', 'new 1'] });
    await store.start(api, order);
    expect(await store.renewLinks(api, 'req_1')).toEqual(['new 0', 'new 1']);
    expect(store.state().results[0]).toMatchObject({ outputs: ['new 0', 'new 1'], seed: 7 });
  });
});

describe('a refusal', () => {
  const refusal = (code: string, retryAfterSeconds?: number) =>
    new ApiError('A sentence.', { status: 429, code, retryAfterSeconds });

  test('for too many requests counts down to zero from when it came', () => {
    const failure = { order, error: refusal('RATE_LIMITED', 30), atMs: 1000 };
    expect(waitSeconds(failure, 1000)).toBe(30);
    expect(waitSeconds(failure, 1001)).toBe(30);
    expect(waitSeconds(failure, 30_500)).toBe(1);
    expect(waitSeconds(failure, 31_000)).toBe(0);
    expect(waitSeconds(failure, 99_000)).toBe(0);
  });

  test('for spent credits does not hold a smaller request back', () => {
    const error = refusal('CREDIT_LIMIT_EXCEEDED', 800_000);
    expect(waitSeconds({ order, error, atMs: 0 }, 0)).toBe(0);
    expect(mayRepeat(error)).toBe(false);
    expect(mayRepeat(refusal('RATE_LIMITED'))).toBe(true);
  });
});

describe('a result', () => {
  test('is announced in one sentence', () => {
    const result: Result = { ...answer, creditsCharged: 2, body: order.body, references: [], waitedMs: 9000 };
    expect(readyText(result)).toBe('2 images are ready, made in 2.4 s.');
    expect(readyText({ ...result, outputs: ['a'], processingTimeMs: null })).toBe(
      '1 image is ready, made in 9 s.',
    );
  });

  test('is labelled by its prompt in one short line, without cutting a character in two', () => {
    expect(shortPrompt('  a\n quiet   bay ')).toBe('a quiet bay');
    expect(shortPrompt('🌊'.repeat(100), 10)).toBe(`${'🌊'.repeat(9)}…`);
  });
});
