import { getEventListeners } from 'node:events';
import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { GenerateOptions } from '../../../clients/typescript/src/index.ts';
import {
  accepted,
  answer,
  completed,
  event,
  lookedUp,
  openStream,
  requestId,
  stored as storedBody,
  streamOf,
  result,
} from '../../support/generation-run.ts';
import { answered, refused, type Script } from '../../support/scripted-fetch.ts';
import {
  body,
  broken,
  clientOf,
  logOf,
  outcomeOf,
  silentAfter,
  streamed,
  unreachable,
  useFakeTimers,
} from './fixture.ts';

const stored = (...of: Parameters<typeof storedBody>): Script => answered(storedBody(...of));
const failed = (code: string, status: number): string =>
  event('failed', { error: 'It broke.', code, status });

useFakeTimers();

/** Generates with these answers. `log` is what was sent and when, `stages` what the caller heard of meanwhile. */
async function generate(scripts: Script[], options: GenerateOptions = {}, given: typeof body = body) {
  const { client, sent } = clientOf(scripts);
  const stages: string[] = [];
  const listeners: GenerateOptions = {
    onAccepted: ({ requestId: id, creditsReserved }) => stages.push(`accepted ${id} ${creditsReserved}`),
    onDisconnected: () => stages.push('disconnected'),
  };
  const outcome = await outcomeOf(client.generate(given, { ...listeners, ...options }));
  const posts = sent.filter(({ line }) => line.startsWith('POST'));
  return { outcome, sent, log: logOf(sent), posts, stages };
}

const post = (seconds: number): string => `POST /generate ${seconds} s`;
const get = (seconds: number): string => `GET /generate/req_1 ${seconds} s`;

test('the connection is closed once the images are there', async () => {
  const { response, write, isCancelled } = openStream();
  write(accepted + completed + failed('LATE', 500));
  expect((await generate([() => response])).outcome).toEqual(result);
  expect(isCancelled()).toBe(true);
});

describe('a try that fails before its request is known to be stored', () => {
  const faults: Script[] = [
    unreachable,
    broken({ headers: { 'content-type': 'text/event-stream' } }),
    refused(429, 'RATE_LIMITED', { retryAfter: 1 }),
    refused(503, 'SERVICE_UNAVAILABLE'),
    // Of a request that found no room, nothing is stored.
    streamed(accepted + failed('SERVICE_UNAVAILABLE', 503)),
    () => new Response('<html>', { status: 502 }),
    // Without an ID there is no stored request to look for.
    refused(500, 'INTERNAL_ERROR'),
  ];

  test('is repeated with the same key and body after 1, 2, 4 … 60 seconds; another call has another key', async () => {
    const keys = new Set<string | null>();
    const seconds = [0, 1, 3, 7, 15, 31, 63, 123, 183];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...faults), { maxLength: 8 }), async (failing) => {
        const { outcome, log, sent } = await generate([...failing, answered(answer)]);
        expect(outcome).toEqual(result);
        expect(log).toEqual(seconds.slice(0, failing.length + 1).map(post));
        const key = sent[0]!.headers.get('idempotency-key');
        expect(key).toMatch(/^[0-9a-f-]{36}$/);
        for (const one of sent) {
          expect([one.headers.get('idempotency-key'), one.body]).toEqual([key, body]);
        }
        expect(keys).not.toContain(key);
        keys.add(key);
      }),
      { numRuns: 30 },
    );
  });

  test('gives up with the last error after eight retries', async () => {
    const { outcome, posts } = await generate([refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 5 })]);
    expect(outcome).toMatchObject({ name: 'ApiError', code: 'SERVICE_UNAVAILABLE', status: 503 });
    expect(posts).toHaveLength(9);
  });

  test('is repeated with the caller’s key, and with the body as it was at the call', async () => {
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

describe('a stored request', () => {
  const malformed = [
    ...['completed', 'failed', 'progress'].flatMap((name) => [event(name, 'null'), event(name, '')]),
    event('completed', '{"requestId": "req_1", "outp'),
    event('completed', '{}'),
  ];
  const breaking: Script = () => {
    const { response, write, fail } = openStream();
    write(accepted);
    setTimeout(() => fail(new TypeError('terminated')));
    return response;
  };

  test.each<[string, Script]>([
    ['its stream ended', streamed(accepted)],
    ['its stream broke', breaking],
    ...malformed.map((one): [string, Script] => [`of ${JSON.stringify(one)}`, streamed(accepted + one)]),
  ])('is polled because %s, and not sent again', async (_why, first) => {
    const { outcome, log, stages } = await generate([first, stored('PROCESSING'), stored('COMPLETED')]);
    expect(outcome).toEqual(lookedUp);
    expect(log).toEqual([post(0), get(0), get(2)]);
    expect(stages).toEqual(['accepted req_1 1', 'disconnected']);
  });

  test('is polled after 45 seconds without an event or a comment', async () => {
    const { response, write, isCancelled } = openStream();
    write(accepted);
    setTimeout(() => write(': still here\n\n'), 44_000);
    const { outcome, log } = await generate([() => response, stored('COMPLETED')]);
    expect(outcome).toEqual(lookedUp);
    expect(log).toEqual([post(0), get(44 + 45)]);
    expect(isCancelled()).toBe(true);
  });

  const refusedOne = (status: number, code: string) => refused(status, code, { requestId, retryAfter: 2 });
  const ended = stored('COMPLETED');
  const first = streamed(accepted);

  test.each<[string, Script[], number[]]>([
    ['by the id of an answer that broke', [() => streamOf('', { 'x-request-id': requestId }), ended], [0]],
    ['after 409', [refusedOne(409, 'IDEMPOTENCY_IN_PROGRESS'), stored('QUEUED'), ended], [0, 2]],
    ['after 500', [refusedOne(500, 'GENERATION_FAILED'), stored('QUEUED'), ended], [0, 2]],
    ['after 504', [refusedOne(504, 'TIMEOUT'), stored('QUEUED'), ended], [0, 2]],
  ])('is polled %s', async (_when, scripts, seconds) => {
    const { outcome, log } = await generate(scripts);
    expect(outcome).toEqual(lookedUp);
    expect(log).toEqual([post(0), ...seconds.map(get)]);
  });

  test.each([
    ['FAILED', 500, 'GENERATION_FAILED'],
    ['TIMEOUT', 504, 'TIMEOUT'],
  ])('that ended as %s is thrown as %d %s, and not sent again', async (as, status, code) => {
    const refusal = refused(status, code, { requestId: 'req_1' });
    for (const lost of [refusal, first, streamed(accepted + failed(code, status))]) {
      const { outcome, log } = await generate([lost, stored(as, null, code)]);
      const message = 'The image could not be finished. Nothing was charged.';
      expect(outcome).toMatchObject({ name: 'ApiError', status, code, requestId: 'req_1', message });
      expect(log).toEqual([post(0), get(0)]);
    }
  });

  test('that found no room is sent again, as if its answer had arrived', async () => {
    const full = stored('FAILED', 'No room.', 'SERVICE_UNAVAILABLE');
    const { outcome, log } = await generate([streamed(accepted), full, answered(answer)]);
    expect(outcome).toEqual(result);
    expect(log).toEqual([post(0), get(0), post(1)]);
    const { outcome: last } = await generate([streamed(accepted), full, refused(400, 'TIER_LIMIT')]);
    expect(last).toMatchObject({ code: 'TIER_LIMIT' });
  });

  test('that failed by its stream succeeded after all when that is stored', async () => {
    const wrong = streamed(accepted + failed('GENERATION_FAILED', 500));
    expect((await generate([wrong, ended])).outcome).toEqual(lookedUp);
  });

  test('that does not exist was not accepted, so the request is sent again', async () => {
    const missing = refused(404, 'REQUEST_NOT_FOUND');
    const gateway = refused(504, 'TIMEOUT', { requestId: 'req_1' });
    for (const lost of [gateway, first, streamed(accepted + failed('INTERNAL_ERROR', 500))]) {
      const { outcome, log } = await generate([lost, missing, answered(answer)]);
      expect(outcome).toEqual(result);
      expect(log).toEqual([post(0), get(0), post(1)]);
    }
  });

  test.each<[string, Script]>([
    ['does not end within ten minutes', stored('PROCESSING')],
    ['may not be polled for longer than that', refused(429, 'RATE_LIMITED', { retryAfter: 3600 })],
  ])('that %s is a TimeoutError with its ID', async (_what, found) => {
    const { outcome, posts } = await generate([streamed(accepted), found]);
    expect(outcome).toMatchObject({ name: 'TimeoutError', requestId: 'req_1' });
    expect(posts).toHaveLength(1);
  });
});

test('an error of the caller’s own function is thrown, and nothing is sent again', async () => {
  const fault = new Error('a fault of the caller');
  const onAccepted = (): never => {
    throw fault;
  };
  const { outcome, log } = await generate([streamed(accepted)], { onAccepted });
  expect(outcome).toBe(fault);
  expect(log).toEqual([post(0)]);
});

describe('an aborted generation throws the reason of its signal', () => {
  test.each<[string, Script[], number]>([
    ['while its stream is silent', [silentAfter(accepted), stored('COMPLETED')], 1],
    ['while it waits for the next poll', [streamed(accepted), stored('QUEUED')], 2],
    ['while it is polled', [streamed(accepted), 'silence'], 2],
  ])('%s', async (_when, scripts, requestCount) => {
    const aborting = new AbortController();
    const reason = new Error('left');
    setTimeout(() => aborting.abort(reason), 1000);
    const { outcome, sent } = await generate(scripts, { signal: aborting.signal });
    expect(outcome).toBe(reason);
    expect(outcome).toHaveProperty('requestId', 'req_1');
    expect(sent).toHaveLength(requestCount);
  });
});

test.each<[string, Script[], string]>([
  [
    'an answer without events breaks off',
    [broken({ headers: { 'x-request-id': 'req_1' } })],
    'ConnectionError',
  ],
  [
    'the key is revoked',
    [streamed(accepted), refused(401, 'INVALID_API_KEY', { requestId: 'x' })],
    'ApiError',
  ],
  ['its record can not be read', [streamed(accepted), () => new Response('<html>')], 'ApiError'],
])('an error after a generation was accepted has its ID: %s', async (_what, scripts, name) => {
  const { client } = clientOf(scripts, { maxRetries: 0 });
  expect(await outcomeOf(client.generate(body))).toMatchObject({ name, requestId: 'req_1' });
});

test('calls that share a signal each have the ID of their own', async () => {
  const aborting = new AbortController();
  const generating = ['req_1', 'req_2'].map((id) => {
    const { client } = clientOf([silentAfter(accepted.replace('req_1', id))]);
    return client.generate(body, { signal: aborting.signal }).catch((error: unknown) => error);
  });
  setTimeout(() => aborting.abort(), 1000);
  await jest.advanceTimersByTimeAsync(1000);
  const ids = (await Promise.all(generating)).map((error) => (error as { requestId: string }).requestId);
  expect(ids).toEqual(['req_1', 'req_2']);
});

describe('the events of a generation', () => {
  /** What was yielded and, last, what was thrown. */
  async function all(events: AsyncIterable<unknown>): Promise<unknown[]> {
    const seen: unknown[] = [];
    const walk = async (): Promise<void> => {
      for await (const one of events) seen.push(one);
    };
    const error: unknown = await outcomeOf(walk());
    return error === undefined ? seen : [...seen, error];
  }

  const began = { type: 'accepted', requestId: 'req_1', creditsReserved: 1 };

  test('come in a row, the last of which has the images', async () => {
    const queued = event('queued', { position: 2, etaSeconds: 9 });
    const progress = event('progress', { step: 3, steps: 30 });
    const unknown = `: still here\n\n${event('weather', 'not JSON')}${event('message', 1)}`;
    const stream = `${accepted}${queued}${event('started', {})}${unknown}${progress}${completed}`;
    const { client, sent } = clientOf([streamed(stream)]);
    const events = client.generateEvents(body, { idempotencyKey: 'order-1841' });
    expect(sent).toEqual([]);
    expect(await all(events)).toEqual([
      began,
      { type: 'queued', position: 2, etaSeconds: 9 },
      { type: 'started' },
      { type: 'progress', step: 3, steps: 30 },
      { type: 'completed', result },
    ]);
    const { headers } = sent[0]!;
    expect([headers.get('idempotency-key'), headers.get('accept')]).toEqual([
      'order-1841',
      'text/event-stream',
    ]);
  });

  test('arrive as they happen, not at the end', async () => {
    const { response, write } = openStream();
    const events = clientOf([() => response]).client.generateEvents(body);
    const first = events.next();
    await jest.advanceTimersByTimeAsync(1000);
    write(accepted);
    expect((await first).value).toEqual(began);
    const last = events.next();
    write(completed);
    expect((await last).value).toMatchObject({ type: 'completed' });
    expect((await events.next()).done).toBe(true);
  });

  test.each<[string, string, object]>([
    ['the images still arrive', 'COMPLETED', { type: 'completed', result: lookedUp }],
    ['a failure is thrown', 'FAILED', { name: 'ApiError', code: 'GENERATION_FAILED' }],
  ])('have a dropped connection among them, and %s after it', async (_what, status, last) => {
    const { client } = clientOf([streamed(accepted), stored(status)]);
    const seen = await all(client.generateEvents(body));
    expect(seen).toEqual([
      began,
      { type: 'disconnected', requestId: 'req_1' },
      expect.objectContaining(last),
    ]);
  });

  test('end where the loop is left: the connection is closed, and no listener is left', async () => {
    const { signal } = new AbortController();
    let isAborted = false;
    const silent = silentAfter(accepted);
    const { client } = clientOf([
      (sending) => {
        sending.addEventListener('abort', () => (isAborted = true));
        return silent(sending);
      },
    ]);
    for await (const { type } of client.generateEvents(body, { signal })) if (type === 'accepted') break;
    await jest.advanceTimersByTimeAsync(1000);
    expect([isAborted, getEventListeners(signal, 'abort').length]).toEqual([true, 0]);
  });

  test('end with the reason of an aborted signal, before it begins and while it runs', async () => {
    const reason = new Error('left');
    const early = clientOf(['silence']);
    const unbegun = early.client.generateEvents(body, { signal: AbortSignal.abort(reason) });
    expect(await all(unbegun)).toEqual([reason]);
    expect(early.sent).toEqual([]);
    const aborting = new AbortController();
    setTimeout(() => aborting.abort(reason), 1000);
    const { client } = clientOf([silentAfter(accepted)]);
    const seen = await all(client.generateEvents(body, { signal: aborting.signal }));
    expect(seen).toEqual([began, reason]);
  });
});
