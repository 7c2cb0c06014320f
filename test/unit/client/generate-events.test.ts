import { getEventListeners } from 'node:events';
import { expect, jest, test } from '@jest/globals';
import {
  accepted,
  completed,
  event,
  lookedUp,
  openStream,
  result,
  stored,
} from '../../support/generation-run.ts';
import { answered } from '../../support/scripted-fetch.ts';
import { body, clientOf, outcomeOf, silentAfter, streamed, useFakeTimers } from './fixture.ts';

useFakeTimers();

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

test('a generation is a row of events, the last of which has the images', async () => {
  const queued = event('queued', { position: 2, etaSeconds: 9 });
  const progress = event('progress', { step: 3, steps: 30 });
  const stream = `${accepted}${queued}${event('started', {})}${event('weather', {})}${progress}${completed}`;
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
  expect(sent[0]!.headers.get('idempotency-key')).toBe('order-1841');
});

test('each event arrives as it happens, not at the end', async () => {
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
])('a dropped connection is an event, and %s after it', async (_what, status, last) => {
  const { client } = clientOf([streamed(accepted), answered(stored(status))]);
  const seen = await all(client.generateEvents(body));
  expect(seen).toEqual([began, { type: 'disconnected', requestId: 'req_1' }, expect.objectContaining(last)]);
});

test('whoever leaves the loop closes the connection, and leaves no listener', async () => {
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

test('an aborted signal ends it with its reason, before it begins and while it runs', async () => {
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
