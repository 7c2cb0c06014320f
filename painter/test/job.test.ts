import { describe, expect, test } from '@jest/globals';
import type { ModelEvent } from '../src/contract.ts';
import { createRate } from '../src/estimate.ts';
import { runJob } from '../src/job.ts';
import type { ServerContext } from '../src/job.ts';
import { Line } from '../src/line.ts';
import type { Pool } from '../src/pool.ts';
import { parseRequest } from '../src/request.ts';
import type { PaintRequest } from '../src/request.ts';
import { createSemaphore } from '../src/semaphore.ts';
import { createHandPool } from './support/hand-pool.ts';
import { parsed } from './support/jobs.ts';
import { never } from './support/painting.ts';
import { inMs, requestOf } from './support/requests.ts';

/** One thread, which never finishes by itself. */
const context = (pool: Pool = createHandPool(1)): ServerContext => ({
  pool,
  line: new Line({ pool, rate: createRate() }),
  semaphore: createSemaphore(1),
});

/** The steps that were reported, without repetitions. */
const stepsOf = (events: ModelEvent[]): number[] => [
  ...new Set(events.flatMap((event) => (event.event === 'progress' ? [event.step] : []))),
];

/** Runs a job to its end and answers its events. */
async function eventsOf(request: PaintRequest, shared = context(), signal = never): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  await runJob(request, shared, (event) => events.push(event), signal);
  return events;
}

describe("an identity's settings", () => {
  test('can make every request fail with a message of their own', async () => {
    const events = await eventsOf(parsed({ failWith: 'The kiln is cold.' }));

    expect(stepsOf(events)).toEqual([1, 2, 3]);
    expect(events.at(-1)).toEqual({ event: 'failed', reason: 'model_error', message: 'The kiln is cold.' });
  });

  test('can delay the picture, with progress meanwhile', async () => {
    const [start, hangUp] = [performance.now(), new AbortController()];
    let delayed = 0;
    const pool = createHandPool(1);
    const { paint } = pool;
    pool.paint = (...args) => {
      delayed = performance.now() - start;
      hangUp.abort();
      return paint(...args);
    };
    const events = await eventsOf(parsed({ delaySeconds: 0.5 }), context(pool), hangUp.signal);

    expect(delayed).toBeGreaterThan(490);
    expect(stepsOf(events)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('can make it hang past its deadline, until the caller hangs up', async () => {
    const hangUp = new AbortController();
    const events: ModelEvent[] = [];
    const endless = parsed({ neverFinishes: true }, { deadline: inMs(100) });
    const emit = (event: ModelEvent): void => {
      events.push(event);
      if (event.event === 'progress') hangUp.abort();
    };
    await runJob(endless, context(), emit, hangUp.signal);

    expect(events.map(({ event }) => event)).toEqual(['started', 'progress']);
  });

  test('that do not fit are named', () => {
    expect(parseRequest(requestOf({ delaySeconds: -1 }))).toEqual({
      problem: 'identity.settings.delaySeconds does not fit the contract: too small, minimum 0.',
    });
  });
});

test('without references, their mode and the branding do not reach the picture', async () => {
  const hangUp = new AbortController();
  const pool = createHandPool(2);
  const hints = { referenceMode: 'exact_product', preserveBranding: true };
  const jobs = [{}, hints].map((changes) => eventsOf(parsed({}, changes), context(pool), hangUp.signal));
  hangUp.abort();
  await Promise.all(jobs);

  expect(pool.begun).toHaveLength(2);
  expect(pool.begun[0]).toEqual(pool.begun[1]);
});

test.each([
  ['waits for a thread', {}],
  ['is delayed', { delaySeconds: 3600 }],
])('the deadline ends a request that %s', async (_what, settings) => {
  const events = await eventsOf(parsed(settings, { deadline: inMs(100) }));
  expect(events.at(-1)).toMatchObject({ event: 'failed', reason: 'deadline' });
});

describe('the semaphore', () => {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('runs as many works as it has room for, in their order, also after failures', async () => {
    const semaphore = createSemaphore(2);
    const begun: number[] = [];
    const works = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const all = works.map(({ promise }, i) =>
      semaphore.run(async () => {
        begun.push(i);
        await promise;
      }, never),
    );
    const settled = Promise.allSettled(all);
    await turn();
    expect(begun).toEqual([0, 1]);
    works[1]!.reject(new Error('broken'));
    await turn();
    expect(begun).toEqual([0, 1, 2]);
    for (const { resolve } of works) resolve();

    await settled;
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  test('gives up at once, but keeps its place until the work has really ended', async () => {
    const semaphore = createSemaphore(1);
    const [work, giveUp] = [Promise.withResolvers<void>(), new AbortController()];
    const first = semaphore.run(() => work.promise, giveUp.signal);
    const waiting = semaphore.run(() => Promise.resolve('never'), giveUp.signal);
    let began = false;
    const last = semaphore.run(async () => {
      began = true;
    }, never);
    const reason = new Error('nobody waits');
    const givenUp = Promise.allSettled([first, waiting]);
    await turn();
    giveUp.abort(reason);

    expect(await givenUp).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    await turn();
    expect(began).toBe(false);
    work.resolve();
    await last;
    expect(began).toBe(true);
    await expect(semaphore.run(() => Promise.resolve(), giveUp.signal)).rejects.toBe(reason);
  });

  test('does no work for a caller who gave up just as a place came free', async () => {
    const giveUp = new AbortController();
    let worked = false;
    const working = createSemaphore(1).run(async () => void (worked = true), giveUp.signal);
    giveUp.abort(new Error('gone'));

    await expect(working).rejects.toThrow('gone');
    expect(worked).toBe(false);
  });
});
