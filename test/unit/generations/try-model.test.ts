import { describe, expect, test } from '@jest/globals';
import type { ModelEvent } from '../../../shared/model/contract.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { ServiceError } from '../../../shared/base/errors.ts';
import { modelPauseMs, NotYet, tryModel } from '../../../shared/generations/try-model.ts';
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
const woken: Say = () => {
  throw new ServiceError('SERVICE_UNAVAILABLE', 'The model is starting.', { unpaid: 'wake' });
};

/** One try of a request whose deadline is ten minutes away. */
async function tried(say: Say, changes: Partial<Generation> = {}, options: TryOptions = {}) {
  const clock = { nowMs: startMs, now: () => clock.nowMs, timeout: () => new AbortController().signal };
  const { attempt = 1, refusal = null, stopping = new AbortController().signal } = options;
  const { model, asked } = scriptedModel((signal) => say(signal, clock));
  const wishes: unknown[] = [];
  model.refusal = (wish) => Promise.resolve((wishes.push(wish), refusal));
  const noted: string[] = [];
  const events = {
    queued: () => void noted.push('queued'),
    started: async () => void noted.push('started'),
    progress: () => {},
  };
  const deps = { model, objects: namedLinks([11, 12]), clock, stopping, embedParameters: false };
  const generation = queued({ deadlineMs: startMs + 600_000, width: 1024, height: 1024, ...changes });
  const result: any = await tryModel(attempt)(generation, identity, events, deps).catch(
    (error: unknown) => error,
  );
  return { result, asked, noted, wishes };
}

interface TryOptions {
  attempt?: number;
  refusal?: ServiceError | null;
  stopping?: AbortSignal;
}

/** So near that the next try would come too late. */
const soon = { deadlineMs: startMs + 500 };
const failing = new ServiceError('SERVICE_UNAVAILABLE', 'Away.', { retryAfterSeconds: 10 });
const ranOut = saying(
  { event: 'queued', position: 9, etaSeconds: 500 },
  { event: 'failed', reason: 'deadline', message: '' },
);

describe('a request that nobody waits for', () => {
  test('runs as any other once its model begins, and asks for no longer than SageMaker streams', async () => {
    const { result, asked, noted, wishes } = await tried(done);
    expect([result.modelVersion, noted, wishes]).toEqual(['v9', ['started'], [{ waits: true }]]);
    const deadlineIn = ([call]: typeof asked) => Date.parse(call!.deadline) - startMs;
    expect(deadlineIn(asked)).toBe(450_000);
    expect(deadlineIn((await tried(done, { deadlineMs: startMs + 100_000 })).asked)).toBe(100_000);
  });

  test.each<[string, Say]>([
    ['scaled to zero', scaledToZero],
    ['busy', busy],
    ['one whose line it stood in until its time was over', ranOut],
  ])('comes again in seconds where the model is %s', async (_how, say) => {
    const { result, noted } = await tried(say, {}, { attempt: 3 });
    expect(result).toBeInstanceOf(NotYet);
    expect(result.pauseMs).toBeGreaterThanOrEqual(4000);
    expect(result.pauseMs).toBeLessThanOrEqual(8000);
    // Its queue counts in whole seconds.
    expect(result.pauseMs % 1000).toBe(0);
    expect([result.unpaid, noted.includes('started')]).toEqual([undefined, false]);
  });

  test('does not call a model that fails, and comes again no sooner than its next probe is due', async () => {
    const { result, asked } = await tried(done, {}, { refusal: failing });
    expect([result.name, result.pauseMs, asked.length]).toEqual(['NotYet', 10_000, 0]);
  });

  test('times out where the next try would come no sooner than its deadline', async () => {
    const at = (deadlineMs: number) => tried(done, { deadlineMs }, { refusal: failing });
    expect((await at(startMs + 10_001)).result).toBeInstanceOf(NotYet);
    const message = 'The image was not finished within 10 seconds.';
    expect((await at(startMs + 10_000)).result).toMatchObject({ code: 'TIMEOUT', message });
  });

  test('that began a cold start says so when it comes again and at its deadline, unless the model generates', async () => {
    expect((await tried(woken)).result).toMatchObject({ name: 'NotYet', cause: { unpaid: 'wake' } });
    expect((await tried(woken, soon)).result).toMatchObject({ code: 'TIMEOUT', unpaid: 'wake' });
    expect((await tried(scaledToZero, soon)).result.unpaid).toBeUndefined();
    // An earlier try began it.
    const noted = { beganColdStart: true } as const;
    expect((await tried(scaledToZero, { ...soon, ...noted })).result).toMatchObject({ unpaid: 'wake' });
    expect((await tried(done, noted)).result).toMatchObject({ modelVersion: 'v9' });
  });

  test('times out by no fault of ours where the model is busy, and by one where it fails', async () => {
    expect((await tried(busy, soon)).result).toMatchObject({ code: 'TIMEOUT', noFault: true });
    expect((await tried(done, soon, { refusal: failing })).result).toMatchObject({ noFault: false });
    // Its last try had too little time to tell.
    const late = saying({ event: 'failed', reason: 'deadline', message: '' });
    const last = await tried(late, soon, { attempt: 2 });
    expect(last.result).toMatchObject({ code: 'TIMEOUT', noFault: true, inLine: false });
  });

  test.each([
    ['said nothing for longer than a container may', 10_001, [], false],
    ['was asked for no longer than that', 10_000, [], true],
    ['had it in line', 10_001, [{ event: 'queued', position: 1, etaSeconds: 1 }], true],
  ] as const)(
    'that ran out counts as one in line only where the model %s',
    async (_how, ms, said, inLine) => {
      const late: Say = async function* (_signal, clock) {
        yield* said;
        clock.nowMs += ms;
        yield { event: 'failed', reason: 'deadline', message: '' };
      };
      const { result } = await tried(late, { deadlineMs: startMs + ms });
      expect(result).toMatchObject({ code: 'TIMEOUT', inLine });
    },
  );
});

describe('it does not come again', () => {
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
    expect((await tried(say)).result).toMatchObject({ name: 'ServiceError', code });
  });

  test('when the service is stopped, and whoever woke the model is not to blame', async () => {
    const { result } = await tried(woken, {}, { stopping: AbortSignal.abort() });
    expect(result).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'The service was stopped before the image was finished.',
      unpaid: undefined,
    });
  });
});

test('pauses double from two to fifteen seconds, less up to half by chance', () => {
  const pauses = (chance: number) =>
    [1, 2, 3, 4, 5, 100].map((attempt) => modelPauseMs(attempt, () => chance));
  expect(pauses(0)).toEqual([2000, 4000, 8000, 15_000, 15_000, 15_000]);
  expect(pauses(1)).toEqual([1000, 2000, 4000, 7500, 7500, 7500]);
});
