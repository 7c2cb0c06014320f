import { describe, expect, test } from '@jest/globals';
import type { ModelEvent } from '../../../shared/model/contract.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { ServiceError } from '../../../shared/base/errors.ts';
import { modelPauseMs, waitForModel } from '../../../shared/generations/wait-for-model.ts';
import {
  completed,
  identity,
  namedLinks,
  output,
  queued,
  saying,
  scriptedModel,
  startMs,
} from './fixture.ts';

type Say = (signal: AbortSignal, clock: { nowMs: number }) => AsyncIterable<ModelEvent>;

const done = saying({ event: 'started' }, completed(output(11), output(12)));
const busy = saying({ event: 'failed', reason: 'busy', message: '' });
const scaledToZero: Say = () => {
  throw new ServiceError('SERVICE_UNAVAILABLE', 'The model is starting.', { retryAfterSeconds: 300 });
};

/** A clock whose waits pass at once, each by its length: every other before, and one after the wait begins. */
function quickClock() {
  return {
    nowMs: startMs,
    waits: [] as number[],
    now() {
      return this.nowMs;
    },
    timeout(ms: number) {
      // The longest is a call's deadline, which no call here reaches by itself.
      if (ms > 15_000) return new AbortController().signal;
      this.waits.push(ms);
      this.nowMs += ms;
      const late = new AbortController();
      if (this.waits.length % 2 === 0) late.abort();
      else setImmediate(() => late.abort());
      return late.signal;
    },
  };
}

/** Runs a request with a model that says one thing after the other, and the last one for ever. */
async function run(
  answers: Say[],
  changes: Partial<Generation> = {},
  refusals: (ServiceError | null)[] = [],
  stopping = new AbortController().signal,
) {
  const clock = quickClock();
  const { model, asked } = scriptedModel((signal) =>
    answers[Math.min(asked.length, answers.length) - 1]!(signal, clock),
  );
  const wishes: unknown[] = [];
  model.refusal = (options) => {
    wishes.push(options);
    return Promise.resolve(refusals.shift() ?? null);
  };
  const noted: string[] = [];
  const events = {
    queued: () => void noted.push('queued'),
    started: async () => void noted.push('started'),
    progress: () => {},
  };
  const deps = {
    model,
    objects: namedLinks([11, 12]),
    clock,
    stopping,
    embedParameters: false,
  };
  const generation = queued({ deadlineMs: startMs + 600_000, width: 1024, height: 1024, ...changes });
  const result: any = await waitForModel(generation, identity, events, deps).catch((error: unknown) => error);
  return { result, asked, noted, clock, wishes };
}

describe('a request that nobody waits for', () => {
  test('asks a model that is busy or scaled to zero again, seconds later, until it begins', async () => {
    const { result, asked, noted, clock } = await run([scaledToZero, busy, scaledToZero, done]);
    expect(result).toMatchObject({ modelVersion: 'v9' });
    expect([asked.length, noted, clock.waits.length]).toEqual([4, ['started'], 3]);
    expect(clock.waits[0]).toBeLessThanOrEqual(2000);
  });

  test('does not call a model that fails before its next probe is due', async () => {
    const failing = new ServiceError('SERVICE_UNAVAILABLE', 'Away.', { retryAfterSeconds: 10 });
    const { result, asked, clock, wishes } = await run([done], {}, [failing]);
    expect(result).toMatchObject({ modelVersion: 'v9' });
    expect([asked.length, clock.waits, wishes]).toEqual([1, [10_000], [{ waits: true }, { waits: true }]]);
  });

  test('times out at its deadline, to the millisecond', async () => {
    const failing = new ServiceError('SERVICE_UNAVAILABLE', 'Away.', { retryAfterSeconds: 7 });
    for (const { result, clock } of [
      await run([scaledToZero]),
      await run(
        [done],
        {},
        Array.from({ length: 1000 }, () => failing),
      ),
    ]) {
      const message = 'The image was not finished within 600 seconds.';
      expect(result).toMatchObject({ code: 'TIMEOUT', message });
      expect(clock.nowMs).toBe(startMs + 600_000);
      expect(clock.waits.length).toBeGreaterThan(600 / 15);
    }
    const late = await run([done], { deadlineMs: startMs });
    expect([late.result.code, late.asked.length, late.clock.waits]).toEqual(['TIMEOUT', 0, []]);
  });

  test('asks for no longer than SageMaker streams', async () => {
    const { asked } = await run([busy, done]);
    const deadlines = asked.map(({ deadline }) => Date.parse(deadline) - startMs);
    expect(deadlines[0]).toBe(450_000);
    expect(deadlines[1]).toBeGreaterThan(450_000);
    const short = await run([done], { deadlineMs: startMs + 100_000 });
    expect(Date.parse(short.asked[0]!.deadline)).toBe(startMs + 100_000);
  });

  test('that began a cold start says so at its end, unless the model generates', async () => {
    const cause = { unpaid: 'wake' } as const;
    const woken: Say = () => {
      throw new ServiceError('SERVICE_UNAVAILABLE', 'The model is starting.', cause);
    };
    expect((await run([woken, scaledToZero])).result).toMatchObject({ code: 'TIMEOUT', ...cause });
    expect((await run([woken], {}, [], AbortSignal.abort())).result.unpaid).toBeUndefined();
    expect((await run([woken, done])).result).toMatchObject({ modelVersion: 'v9' });
    expect((await run([scaledToZero])).result.unpaid).toBeUndefined();
  });

  test('times out by no fault of ours where the model is busy to the end, and by one where it fails or says nothing', async () => {
    const failing = () =>
      Array.from({ length: 1000 }, () => new ServiceError('SERVICE_UNAVAILABLE', 'Away.'));
    expect((await run([busy])).result).toMatchObject({ code: 'TIMEOUT', noFault: true });
    expect((await run([busy], {}, failing())).result).toMatchObject({ code: 'TIMEOUT', noFault: false });
    expect((await run([done], { deadlineMs: startMs })).result).toMatchObject({ noFault: false });
  });

  test.each([
    ['said nothing for longer than a container may', 10_001, [], { noFault: false, inLine: false }],
    ['was asked for no longer than that', 10_000, [], { noFault: true, inLine: false }],
    [
      'had it in line',
      10_000,
      [{ event: 'queued', position: 1, etaSeconds: 1 }],
      { noFault: true, inLine: true },
    ],
  ] as const)(
    'the deadline of a request that met a model too busy, and one that then %s',
    async (_how, ms, said, expected) => {
      const late: Say = async function* (_signal, clock) {
        yield* said;
        clock.nowMs += ms;
        yield { event: 'failed', reason: 'deadline', message: '' };
      };
      expect((await run([busy, late])).result).toMatchObject({ code: 'TIMEOUT', ...expected });
    },
  );

  test('that ran out while it stood in the queue gets another place', async () => {
    const ranOut = saying(
      { event: 'queued', position: 9, etaSeconds: 500 },
      { event: 'failed', reason: 'deadline', message: '' },
    );
    const { result, asked } = await run([ranOut, done]);
    expect([result.modelVersion, asked.length]).toEqual(['v9', 2]);
  });
});

describe('it is not asked again', () => {
  const started: ModelEvent = { event: 'started' };
  test.each<[string, Say, string]>([
    [
      'began and was busy',
      saying(started, { event: 'failed', reason: 'busy', message: '' }),
      'SERVICE_UNAVAILABLE',
    ],
    [
      'began and was too late',
      saying(started, { event: 'failed', reason: 'deadline', message: '' }),
      'TIMEOUT',
    ],
    ['began and was gone', saying(started), 'GENERATION_FAILED'],
    [
      'failed by itself',
      saying({ event: 'failed', reason: 'model_error', message: 'no' }),
      'GENERATION_FAILED',
    ],
  ])('once the model %s', async (_what, say, code) => {
    const { result, asked } = await run([say]);
    expect([result.code, asked.length]).toEqual([code, 1]);
  });

  test('when the service is stopped while it waits', async () => {
    const { result, asked } = await run([scaledToZero], {}, [], AbortSignal.abort());
    expect(result).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'The service was stopped before the image was finished.',
    });
    expect(asked.length).toBe(1);
  });
});

test('pauses double from two to fifteen seconds, less up to half by chance', () => {
  const pauses = (chance: number) =>
    [1, 2, 3, 4, 5, 100].map((attempt) => modelPauseMs(attempt, () => chance));
  expect(pauses(0)).toEqual([2000, 4000, 8000, 15_000, 15_000, 15_000]);
  expect(pauses(1)).toEqual([1000, 2000, 4000, 7500, 7500, 7500]);
});
