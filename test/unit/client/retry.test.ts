import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ApiError, ConnectionError, TimeoutError } from '../../../client/src/errors.ts';
import { Final, isBusy, isPassing, retry, retryDelayMs } from '../../../client/src/retry.ts';

const failures = fc.integer({ min: 1, max: 1100 });
const random = fc.double({ min: 0, max: 1, noNaN: true });
const asked = fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined });

describe('the wait before a retry', () => {
  test('doubles from one second, and is up to a quarter longer', () => {
    const waits = (chance: number) =>
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => retryDelayMs(n, undefined, chance)!);
    expect(waits(0)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 48_000, 48_000]);
    expect(waits(1)).toEqual([1250, 2500, 5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  test('is never less than a second or than what was asked for, and never more than a minute', () => {
    fc.assert(
      fc.property(failures, asked, random, (n, seconds, chance) => {
        const waitMs = retryDelayMs(n, seconds, chance)!;
        expect(waitMs).toBeGreaterThanOrEqual(1000 * Math.max(1, seconds ?? 0));
        expect(waitMs).toBeLessThanOrEqual(60_000);
      }),
    );
  });

  test('grows with each failure, with what is asked for and with chance', () => {
    fc.assert(
      fc.property(failures, asked, random, random, (n, seconds, one, other) => {
        const waitMs = retryDelayMs(n, seconds, one)!;
        expect(retryDelayMs(n + 1, seconds, one)).toBeGreaterThanOrEqual(waitMs);
        expect(retryDelayMs(n, Math.min(60, (seconds ?? 0) + 1), one)).toBeGreaterThanOrEqual(waitMs);
        expect(retryDelayMs(n, seconds, Math.max(one, other))).toBeGreaterThanOrEqual(waitMs);
      }),
    );
  });

  test('that the service wants to be longer than a minute is none', () => {
    fc.assert(
      fc.property(failures, fc.integer({ min: 61, max: 999_999_999 }), random, (n, seconds, chance) => {
        expect(retryDelayMs(n, seconds, chance)).toBeNull();
      }),
    );
  });
});

const refusal = (status: number, code = 'SERVICE_UNAVAILABLE', retryAfterSeconds?: number): ApiError =>
  new ApiError('Refused.', { status, code, retryAfterSeconds });

describe('retrying', () => {
  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  /** Work that fails with each error in turn and then succeeds. */
  function run(
    errors: unknown[],
    { maxRetries = 8, signal }: { maxRetries?: number; signal?: AbortSignal } = {},
  ) {
    const atSeconds: number[] = [];
    const startedMs = Date.now();
    const work = async (): Promise<string> => {
      atSeconds.push((Date.now() - startedMs) / 1000);
      if (errors.length > 0) throw errors.shift();
      return 'done';
    };
    const outcome = retry(work, { maxRetries, isRetried: isPassing, signal }).catch(
      (error: unknown) => error,
    );
    return { atSeconds, outcome };
  }

  test('goes on at 1, 2 and 4 seconds, or when it is asked to, until it succeeds', async () => {
    const { atSeconds, outcome } = run([refusal(503), refusal(429, 'RATE_LIMITED', 30), refusal(503)]);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(await outcome).toBe('done');
    expect(atSeconds).toEqual([0, 1, 31, 35]);
  });

  test('ends with the last error after as many retries as are allowed', async () => {
    const errors = [1, 2, 3, 4].map((n) => refusal(503, `TRY_${n}`));
    const { atSeconds, outcome } = run([...errors], { maxRetries: 2 });
    await jest.advanceTimersByTimeAsync(120_000);
    expect(await outcome).toBe(errors[2]);
    expect(atSeconds).toEqual([0, 1, 3]);
    const once = run([...errors], { maxRetries: 0 });
    expect(await once.outcome).toBe(errors[0]);
  });

  test('ends at once where waiting is no use', async () => {
    const spent = refusal(429, 'CREDIT_LIMIT_EXCEEDED', 800_000);
    for (const error of [spent, refusal(400, 'INVALID_PARAMETERS'), new Error('a fault'), 'a reason']) {
      const { atSeconds, outcome } = run([error]);
      expect(await outcome).toBe(error);
      expect(atSeconds).toEqual([0]);
    }
    const error = refusal(503);
    expect(await run([new Final(error)]).outcome).toBe(error);
  });

  test('ends its wait when it is aborted, with the reason and without a listener', async () => {
    const aborting = new AbortController();
    const { atSeconds, outcome } = run([refusal(503), refusal(503)], { signal: aborting.signal });
    await jest.advanceTimersByTimeAsync(1500);
    expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(1);
    const reason = new Error('left');
    aborting.abort(reason);
    expect(await outcome).toBe(reason);
    expect(atSeconds).toEqual([0, 1]);
    expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(0);
  });

  test('that was waited out leaves no listener either', async () => {
    const { signal } = new AbortController();
    const { outcome } = run([refusal(503)], { signal });
    await jest.advanceTimersByTimeAsync(1000);
    expect(await outcome).toBe('done');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

test('a busy service did nothing; other faults pass, and refusals do not', () => {
  const busy = [refusal(429, 'RATE_LIMITED'), refusal(503), refusal(409, 'IDEMPOTENCY_IN_PROGRESS')];
  const passing = [
    new ConnectionError('Gone.'),
    new TimeoutError('Late.'),
    refusal(500),
    refusal(502),
    refusal(504),
  ];
  const lasting = [
    refusal(400),
    refusal(401),
    refusal(404),
    refusal(409, 'KEY_LIMIT_REACHED'),
    new Error('a fault'),
  ];
  expect(busy.map(isBusy)).toEqual([true, true, true]);
  expect([...passing, ...lasting].map(isBusy)).not.toContain(true);
  expect([...busy, ...passing].map(isPassing)).not.toContain(false);
  expect(lasting.map(isPassing)).not.toContain(true);
});
