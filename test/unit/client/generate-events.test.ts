import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createClient, type Client } from '../../../clients/typescript/src/index.ts';
import {
  accepted,
  completed,
  event,
  lookedUp,
  openStream,
  stored,
  streamOf,
  told,
} from '../../support/generation-run.ts';
import { answered, scriptedFetch, type Script, type Sent } from '../../support/scripted-fetch.ts';

const body = { identityId: 'idn_1', prompt: 'a quiet bay' };

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.restoreAllMocks();
  jest.useRealTimers();
});

function clientOf(...scripts: Script[]): { client: Client; sent: Sent[] } {
  const { fetch, sent } = scriptedFetch(...scripts);
  return { client: createClient({ apiKey: 'svc_live_x', baseUrl: 'https://api.test', fetch }), sent };
}

/** What was yielded and, last, what was thrown. */
async function all(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const seen: unknown[] = [];
  const walk = async (): Promise<void> => {
    try {
      for await (const one of events) seen.push(one);
    } catch (error) {
      seen.push(error);
    }
  };
  const walking = walk();
  await jest.advanceTimersByTimeAsync(20 * 60_000);
  await walking;
  return seen;
}

const began = { type: 'accepted', requestId: 'req_1', creditsReserved: 1 };

test('a generation is a row of events, the last of which has the images', async () => {
  const queued = event('queued', { position: 2, etaSeconds: 9 });
  const progress = event('progress', { step: 3, steps: 30 });
  const stream = `${accepted}${queued}${event('started', {})}${event('weather', {})}${progress}${completed}`;
  const { client, sent } = clientOf(() => streamOf(stream));
  const events = client.generateEvents(body, { idempotencyKey: 'order-1841' });
  expect(sent).toEqual([]);
  expect(await all(events)).toEqual([
    began,
    { type: 'queued', position: 2, etaSeconds: 9 },
    { type: 'started' },
    { type: 'progress', step: 3, steps: 30 },
    { type: 'completed', result: told },
  ]);
  expect(sent[0]!.headers.get('idempotency-key')).toBe('order-1841');
});

test('each event is told as it happens, not at the end', async () => {
  const { response, write } = openStream();
  const events = clientOf(() => response).client.generateEvents(body);
  const first = events.next();
  await jest.advanceTimersByTimeAsync(1000);
  write(accepted);
  expect((await first).value).toEqual(began);
  const last = events.next();
  write(completed);
  expect((await last).value).toMatchObject({ type: 'completed' });
  expect((await events.next()).done).toBe(true);
});

test('a dropped connection is an event, and what was generated still arrives', async () => {
  const { client } = clientOf(() => streamOf(accepted), answered(stored('COMPLETED')));
  const dropped = { type: 'disconnected', requestId: 'req_1' };
  const seen = await all(client.generateEvents(body));
  expect(seen).toEqual([began, dropped, { type: 'completed', result: lookedUp }]);
});

test('a failure is thrown after the events before it', async () => {
  const { client } = clientOf(() => streamOf(accepted), answered(stored('FAILED')));
  const seen = await all(client.generateEvents(body));
  expect(seen[0]).toEqual(began);
  expect(seen.at(-1)).toMatchObject({ name: 'ApiError', code: 'GENERATION_FAILED' });
});

test('whoever leaves the loop closes the connection, and leaves no listener', async () => {
  const { signal } = new AbortController();
  let isAborted = false;
  const { client } = clientOf((sending) => {
    const { response, write } = openStream(sending);
    sending.addEventListener('abort', () => (isAborted = true));
    write(accepted);
    return response;
  });
  for await (const { type } of client.generateEvents(body, { signal })) if (type === 'accepted') break;
  await jest.advanceTimersByTimeAsync(1000);
  expect([isAborted, getEventListeners(signal, 'abort').length]).toEqual([true, 0]);
});

test('an aborted signal ends it with its reason, before it begins and while it runs', async () => {
  const reason = new Error('left');
  const early = clientOf('silence');
  expect(await all(early.client.generateEvents(body, { signal: AbortSignal.abort(reason) }))).toEqual([
    reason,
  ]);
  expect(early.sent).toEqual([]);
  const aborting = new AbortController();
  setTimeout(() => aborting.abort(reason), 1000);
  const { client } = clientOf((sending) => {
    const { response, write } = openStream(sending);
    write(accepted);
    return response;
  });
  const seen = await all(client.generateEvents(body, { signal: aborting.signal }));
  expect(seen).toEqual([began, reason]);
});
