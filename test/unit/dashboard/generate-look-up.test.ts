import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sessionEnded } from '../../../dashboard/src/api/api-error.ts';
import {
  requestId,
  lookedUp,
  stored,
  accepted,
  completed,
  refusal,
  streamOf,
  openStream,
  type Source,
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

const unreachable = (): never => {
  throw new TypeError('fetch failed');
};

describe('looking a request up', () => {
  test.each([
    [429, 'RATE_LIMITED', 7, 7],
    [503, 'SERVICE_UNAVAILABLE', undefined, 4],
    [503, 'SERVICE_UNAVAILABLE', 1, 2],
    [0, 'NETWORK', undefined, 4],
  ])('waits after a %d %s as asked (%j), and no less than usual', async (status, code, asked, seconds) => {
    const failing = status === 0 ? unreachable : refusal(status, code, asked).answer;
    const { log, outcome } = run(streamOf(accepted), [failing, stored('COMPLETED')]);
    await pass(seconds * 1000 - 1);
    expect(log).toHaveLength(4);
    await pass(1);
    expect(log.at(-1)).toBe(`/generate/req_1 after ${seconds} s`);
    expect(outcome()).toEqual({ result: lookedUp });
  });

  test('ends at a refusal that no waiting mends', async () => {
    const { answer: forbid, facts } = refusal(403, 'REQUEST_BLOCKED');
    const { log, outcome } = run(streamOf(accepted), [forbid]);
    await pass();
    expect(outcome()).toMatchObject({ error: facts });
    expect(log).toHaveLength(4);
  });

  test.each([sessionEnded(), new Error('a fault')])(
    'ends where there is no token any more: %s',
    async (error) => {
      let asked = 0;
      const token = async (): Promise<string> => {
        if (asked++ > 0) throw error;
        return 'token';
      };
      const { log, outcome } = run(streamOf(accepted), [], undefined, token);
      await pass();
      expect(outcome()).toEqual({ error });
      expect(log).toEqual([sentOnce, 'accepted req_1 1', 'disconnected']);
    },
  );

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
    const busy = run(streamOf(accepted), [refusal(429, 'RATE_LIMITED', 3600).answer]);
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

  test.each<[string, Source, (object | Source)[], number]>([
    ['before it is sent', () => streamOf(completed), [], 0],
    ['while it is sent', failing, [], 1],
    ['while its stream is silent', silentStream, [stored('COMPLETED')], 1],
    ['while it waits for the next look-up', () => streamOf(accepted), [stored('QUEUED')], 2],
    ['while it is looked up', () => streamOf(accepted), [failing], 2],
  ])('%s', async (when, sent, answers, requestCount) => {
    const aborting = new AbortController();
    const { signal } = aborting;
    if (when === 'before it is sent') aborting.abort(reason);
    const { log, requests, outcome } = run(sent, answers, signal);
    await pass();
    aborting.abort(reason);
    await pass();
    expect(outcome()).toEqual({ error: reason });
    await pass(60_000);
    expect(requests).toHaveLength(requestCount);
    expect(log.includes('disconnected')).toBe(requestCount === 2);
  });
});
