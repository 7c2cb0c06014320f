import { describe, expect, test } from '@jest/globals';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newRunId } from '../../../shared/base/ids.ts';
import { RunLost } from '../../../shared/generations/store.ts';
import { endAbandoned } from '../../../shared/generations/sweep.ts';
import { acceptedRuns, sums } from './accepted-runs.ts';
import { useEngines } from './use-engines.ts';
import { emit, identity, paint, says, stored, type Behaviour } from './fixture.ts';

const fixture = useEngines();
const { accepted, work } = acceptedRuns(fixture);

test('is accepted with a deadline of its own, and runs as if its caller had waited', async () => {
  const { command, generation } = await accepted();
  expect(generation.deadlineMs - generation.createdAtMs).toBe(800_000);
  expect(generation.leaseUntilMs).toBeGreaterThan(generation.deadlineMs);
  const { ended, meter } = work(generation);
  expect(await ended).toMatchObject({ status: 'COMPLETED', modelVersion: 'test-1' });
  expect(await stored(fixture, command)).toMatchObject({
    generation: { status: 'COMPLETED' },
    period: { used: 2, committed: 2, inFlight: 0 },
  });
  expect(sums(meter)).toEqual({ creditsReserved: 2, creditsSettled: 2 });
  expect(meter.values.map(([name]) => name)).toContain('asyncWait');
});

/** The stored requests, as if each had come with a reference image. */
function asIfSent() {
  return {
    ...fixture.deps.generations,
    get: async (licenseId: string, requestId: string) => {
      const found = await fixture.deps.generations.get(licenseId, requestId);
      return found && { ...found, referenceImages: 1 };
    },
  };
}

describe('two runs of one request at once', () => {
  /** Both have called the model before either begins; then each paints when it is let. */
  function together() {
    let calls = 0;
    const bothCalled = Promise.withResolvers<void>();
    const hungUp = Promise.withResolvers<void>();
    const behaviour: Behaviour = async (request, res) => {
      calls += 1;
      res.once('close', () => {
        if (!res.writableFinished) hungUp.resolve();
      });
      if (calls === 2) bothCalled.resolve();
      await bothCalled.promise;
      emit(res, { event: 'started' });
      // The run that lost hangs up; the other one goes on only then.
      await hungUp.promise;
      if (!res.destroyed) await paint(request, res);
    };
    return behaviour;
  }

  test('paint once and charge once: the one that lost hangs up and touches nothing', async () => {
    fixture.container.state.behaviour = together();
    const { command, generation } = await accepted();
    let deleted = 0;
    const objects = { ...fixture.deps.objects, deleteReferences: async () => void (deleted += 1) };
    const runs = [1, 2].map(() => work(generation, { objects, generations: asIfSent() }));
    const ends = await Promise.all(runs.map(({ ended }) => ended));
    expect(ends.map((ended) => ended?.status ?? 'lost').toSorted()).toEqual(['COMPLETED', 'lost']);
    expect(await stored(fixture, command)).toMatchObject({
      generation: { status: 'COMPLETED' },
      period: { used: 2, committed: 2, inFlight: 0 },
    });
    const winner = runs[ends[0] === null ? 1 : 0]!;
    const loser = runs[ends[0] === null ? 0 : 1]!;
    expect(sums(winner.meter)).toEqual({ creditsReserved: 2, creditsSettled: 2 });
    expect(loser.meter.values).toEqual([]);
    expect(deleted).toBe(1);
  });

  test('a run that fails before its model begins leaves the request to the one that has begun', async () => {
    const { command, generation } = await accepted();
    const begun = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<void>();
    let calls = 0;
    fixture.container.state.behaviour = async (request, res) => {
      calls += 1;
      if (calls === 1) {
        emit(res, { event: 'started' });
        begun.resolve();
        await failed.promise;
        return paint(request, res);
      }
      res.writeHead(400).end('{}');
    };
    const first = work(generation);
    await begun.promise;
    // It read the record before the first run began.
    const generations = { ...fixture.deps.generations, get: async () => generation };
    const second = work(generation, { generations });
    await untilProcessing(generation);
    expect(await second.ended).toBeNull();
    failed.resolve();
    expect(await first.ended).toMatchObject({ status: 'COMPLETED' });
    expect((await stored(fixture, command)).period).toMatchObject({ used: 2, committed: 2 });
    expect([sums(second.meter), calls]).toEqual([{}, 2]);
  });
});

async function untilProcessing({ licenseId, requestId }: Generation): Promise<void> {
  for (;;) {
    const found = await fixture.deps.generations.get(licenseId, requestId);
    if (found?.status === 'PROCESSING') return;
  }
}

describe('of a request that was begun', () => {
  const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'No.' } as const;

  test('no other run can begin or end it', async () => {
    const { command, generation } = await accepted();
    const { generations } = fixture.deps;
    const nowMs = fixture.clock.now();
    expect(await generations.start(generation, nowMs, 'run-1')).toBe(true);
    expect(await generations.start(generation, nowMs + 9, 'run-2')).toBe(false);
    const bySecond = generations.release(generation, failure, nowMs, 'run-2');
    await expect(bySecond).rejects.toThrow(RunLost);
    expect((await stored(fixture, command)).generation).toMatchObject({
      status: 'PROCESSING',
      startedAtMs: nowMs,
    });
    expect(await generations.release(generation, failure, nowMs, 'run-1')).toMatchObject(failure);
    // What has ended is told to whoever asks.
    expect(await generations.release(generation, failure, nowMs + 9, 'run-2')).toMatchObject({
      completedAtMs: nowMs,
    });
    expect((await stored(fixture, command)).period).toMatchObject({ used: 0, committed: 0, inFlight: 0 });
  });

  test('but one that nobody has begun can be given up by any run', async () => {
    const { generation } = await accepted();
    const { generations } = fixture.deps;
    const nowMs = fixture.clock.now();
    expect(await generations.release(generation, failure, nowMs, 'run-2')).toMatchObject(failure);
    expect(await generations.start(generation, nowMs, 'run-1')).toBe(false);
  });
});

test.each(['COMPLETED', 'FAILED', 'unknown'])('does nothing for a request that is %s', async (status) => {
  const { command, generation } = await accepted();
  const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'No.' } as const;
  if (status === 'COMPLETED') await work(generation).ended;
  if (status === 'FAILED') await fixture.deps.generations.release(generation, failure, fixture.clock.now());
  const ref =
    status === 'unknown' ? { ...generation, requestId: generation.requestId.replace(/.$/, 'x') } : generation;
  const before = await stored(fixture, command);
  fixture.container.state.calls = 0;
  const { ended, meter } = work(ref);
  expect([await ended, meter.values, fixture.container.state.calls]).toEqual([null, [], 0]);
  expect(await stored(fixture, command)).toEqual(before);
});

test('waits for a model that is busy', async () => {
  const { generation } = await accepted();
  fixture.container.state.behaviour = (request, res) => {
    if (fixture.container.state.calls < 3)
      return says({ event: 'failed', reason: 'busy', message: '' })(request, res);
    return paint(request, res);
  };
  expect(await work(generation).ended).toMatchObject({ status: 'COMPLETED' });
  expect(fixture.container.state.calls).toBe(3);
});

test('that never gets a model is a TIMEOUT at its deadline, and nothing is held', async () => {
  const { command, generation } = await accepted();
  fixture.container.state.behaviour = says({ event: 'failed', reason: 'busy', message: '' });
  const { ended, meter } = work(generation);
  expect(await ended).toMatchObject({
    status: 'TIMEOUT',
    errorCode: 'TIMEOUT',
    errorMessage: 'The image was not finished within 800 seconds.',
  });
  expect(await stored(fixture, command)).toMatchObject({
    generation: { status: 'TIMEOUT' },
    period: { used: 0, committed: 0, inFlight: 0 },
  });
  expect(sums(meter)).toEqual({ creditsReserved: 2, creditsReleased: 2 });
});

test.each([null, { ...identity, model: null }])(
  'is released with a sentence where its identity has no model any more: %j',
  async (found) => {
    const { command, generation } = await accepted();
    expect(await work(generation, { identities: { get: async () => found } }).ended).toMatchObject({
      status: 'FAILED',
      errorCode: 'SERVICE_UNAVAILABLE',
      errorMessage: expect.stringContaining('Aurora Studio has no active model any more.'),
    });
    expect((await stored(fixture, command)).period).toMatchObject({ used: 0, committed: 0 });
    expect(fixture.container.state.calls).toBe(0);
  },
);

test('a run that crashed ends only what no run of another invocation has begun, and deletes only its references', async () => {
  const { command, generation } = await accepted();
  const [crashed, other] = ['aaaaaaaa', 'bbbbbbbb'];
  let deleted = 0;
  const deps = {
    ...fixture.deps,
    objects: { ...fixture.deps.objects, deleteReferences: async () => void (deleted += 1) },
    generations: asIfSent(),
  };
  await fixture.deps.generations.start(generation, fixture.clock.now(), newRunId(other));
  expect(await endAbandoned(generation, deps, { invocation: crashed })).toBeNull();
  expect((await stored(fixture, command)).generation).toMatchObject({ status: 'PROCESSING' });
  expect(deleted).toBe(0);
  const ended = await endAbandoned(generation, deps, { invocation: other });
  expect(ended).toMatchObject({ status: 'TIMEOUT' });
  expect(deleted).toBe(1);
  expect((await stored(fixture, command)).period).toMatchObject({ used: 0, committed: 0, inFlight: 0 });
});

test('a run that crashed is ended once, with a sentence of its own', async () => {
  const { command, generation } = await accepted();
  const ended = await endAbandoned(generation, fixture.deps, { errorMessage: 'It crashed.' });
  expect(ended).toMatchObject({ status: 'TIMEOUT', errorMessage: 'It crashed.' });
  expect(await endAbandoned(generation, fixture.deps, { errorMessage: 'Again.' })).toBeNull();
  expect((await stored(fixture, command)).generation).toMatchObject({ errorMessage: 'It crashed.' });
  // The worker comes late.
  expect(await work(generation).ended).toBeNull();
  expect((await stored(fixture, command)).period).toMatchObject({ used: 0, committed: 0 });
});
