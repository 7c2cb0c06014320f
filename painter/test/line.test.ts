import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { turn } from './support/hand-pool.ts';
import { createHandPainter } from './support/jobs.ts';
import type { HandPainter, Job } from './support/jobs.ts';
import { linkTo } from './support/references.ts';
import { inMs } from './support/requests.ts';

let painters: HandPainter[] = [];
const painterOf = (threads = 1): HandPainter => {
  const painter = createHandPainter(threads);
  painters.push(painter);
  return painter;
};
afterEach(async () => {
  await Promise.all(painters.map((painter) => painter.close()));
  painters = [];
});

const has = (job: Job, name: string): boolean => job.names().includes(name);
const large = { width: 2048, height: 2048 };

describe('while one tenant has a hundred requests waiting, another who sends one at a time', () => {
  test.each([1, 2])('waits for two paintings on each of %d threads at most', async (threads) => {
    const painter = painterOf(threads);
    painter.flood(100 + threads, 'flood', large);
    const waits: number[] = [];
    for (let i = 0; i < 20; i += 1) {
      const [before, job] = [painter.pool.begun.length, painter.send('other')];
      while (!has(job, 'started')) await painter.pool.finish();
      // Its own painting is the last of those that were begun.
      waits.push(painter.pool.begun.length - before - 1);
      await painter.pool.finish();
    }

    expect(painter.line.length).toBeGreaterThan(50);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2 * threads);
  });

  test('is let in, because only its own requests and what is being painted count', () => {
    const painter = painterOf();
    painter.rate.finished(1, 1);
    const minute = { deadline: inMs(60_000), width: 1024, height: 1024 };
    const flood = painter.flood(150, 'flood', minute);
    const job = painter.send('other', minute);

    expect(flood.filter((one) => one.failure() === 'busy').length).toBeGreaterThan(80);
    expect(job.events).toEqual([{ event: 'queued', position: 1, etaSeconds: 1 }]);
  });
});

describe('what cannot be ready by its deadline', () => {
  /** 12 seconds a megapixel: four of the largest pictures take 192 seconds. */
  const slow = (): HandPainter => {
    const painter = painterOf();
    painter.rate.finished(1, 12);
    return painter;
  };
  const impossible = () => ({ ...large, numOutputs: 4, deadline: inMs(60_000) });

  test('is painted before anything was measured', () => {
    expect(painterOf().send('a', impossible()).names()).toEqual(['started']);
  });

  test('is tried once in a while by an idle painter, not twice in a row for one tenant', () => {
    const painter = slow();
    const isTried = (tenant: string): boolean => {
      const job = painter.send(tenant, {
        ...impossible(),
        deadline: new Date(painter.clock.nowMs + 60_000).toISOString(),
      });
      job.leave.abort(new Error('gone'));
      return job.failure() === undefined;
    };
    expect([isTried('a'), isTried('b')]).toEqual([true, false]);
    painter.clock.nowMs += 59_999;
    expect(isTried('b')).toBe(false);
    painter.clock.nowMs += 1;
    expect([isTried('a'), isTried('b'), isTried('c')]).toEqual([false, true, false]);
    painter.clock.nowMs += 60_000;
    painter.send('d');
    expect([isTried('a'), isTried('b')]).toEqual([false, false]);
  });

  test('is tried again for a tenant whose last try was painted', async () => {
    const painter = slow();
    const first = painter.send('a', impossible());
    for (let i = 0; i < 4; i += 1) await painter.pool.finish();
    while (!has(first, 'completed')) await wait(5);
    painter.clock.nowMs += 60_000;
    const deadline = new Date(painter.clock.nowMs + 60_000).toISOString();
    const second = painter.send('a', { ...impossible(), deadline });

    expect([first, second].map((job) => has(job, 'started'))).toEqual([true, true]);
  });

  test('is refused at its turn, if others have come before it', async () => {
    const painter = slow();
    painter.send('a');
    const deadline = inMs(30_000);
    const second = painter.send('a', { width: 1024, height: 1024, deadline });
    painter.clock.nowMs += 20_000;
    await painter.pool.finish();

    expect([second.names(), second.failure()]).toEqual([['queued', 'failed'], 'busy']);
    expect(painter.pool.begun).toHaveLength(1);
  });

  test('is learned from work that its deadline stopped', async () => {
    // A real thread, and a deadline that comes before the painting's end.
    const { createPool } = await import('../src/pool.ts');
    const { createRate } = await import('../src/estimate.ts');
    const { small } = await import('./support/painting.ts');
    const rate = createRate();
    const pool = createPool(1, rate);
    const stop = new AbortController();
    const picture = { ...small, ...large, style: 'citrine' };
    const free = new Promise<void>((resolve) => pool.onFree(resolve));
    const painting = pool.paint(picture, stop.signal, () => stop.abort(new Error('late')));
    await expect(painting).rejects.toThrow('late');
    await free;
    await pool.close();

    expect(rate.secondsFor(1)).toBeGreaterThan(0);
  });

  test('does not count what an identity only pretends', () => {
    const painter = slow();
    const minute = { deadline: inMs(60_000) };
    const hanging = painter.send('a', { ...impossible(), settings: { neverFinishes: true } });
    const delayed = painter.send('a', { ...minute, settings: { delaySeconds: 3600 } });
    const failing = painter.send('a', { ...impossible(), settings: { failWith: 'The kiln is cold.' } });
    const other = painter.send('b', minute);

    for (const job of [hanging, delayed, failing, other]) expect(job.names()).toEqual(['started']);
  });
});

describe('a full line', () => {
  test('takes a newcomer in place of the last of the tenant with the most, and else refuses it', async () => {
    const painter = painterOf();
    const [painting, ...waiting] = painter.flood(201, 'flood');
    expect([painting!.names(), painter.line.length]).toEqual([['started'], 200]);
    expect(painter.send('flood').failure()).toBe('busy');

    const newcomers = painter.flood(100, 'other');
    await turn();
    expect(newcomers.map((job) => job.failure())).toEqual(newcomers.map(() => undefined));
    const pushedOut = waiting.map((job) => job.failure() === 'busy');
    expect(pushedOut).toEqual(waiting.map((_, i) => i >= 100));
    expect(painter.send('other').failure()).toBe('busy');
    expect(painter.line.length).toBe(200);
  });
});

describe('a request that waits', () => {
  test('hears its place and seconds, again when it moves up, and its beginning last', async () => {
    const painter = painterOf();
    painter.rate.finished(1, 2);
    const megapixel = { width: 1024, height: 1024 };
    const [first, second, third] = painter.flood(3, 'a', megapixel);
    const other = painter.send('b', megapixel);
    await painter.pool.finish();
    await painter.pool.finish();
    await painter.pool.finish();

    expect(first!.events[0]).toEqual({ event: 'started' });
    const queued = (position: number, etaSeconds: number) => ({ event: 'queued', position, etaSeconds });
    expect(second!.events.slice(0, 2)).toEqual([queued(1, 2), { event: 'started' }]);
    expect(other.events.slice(0, 2)).toEqual([queued(1, 2), { event: 'started' }]);
    expect(third!.events).toEqual([queued(2, 4), queued(1, 2), { event: 'started' }]);
  });

  test('takes no place from those behind it when its caller hangs up', async () => {
    const painter = painterOf();
    const [, leaving, staying] = painter.flood(3, 'a');
    leaving!.leave.abort(new Error('gone'));
    await turn();

    expect(staying!.events).toMatchObject([{ position: 2 }, { position: 1 }]);
  });

  describe('hears of itself every three seconds', () => {
    beforeEach(() => {
      jest.useFakeTimers({
        doNotFake: ['Date', 'performance', 'setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'],
      });
    });
    afterEach(() => void jest.useRealTimers());

    test('in the line, and where only its own reference image keeps it', () => {
      const painter = painterOf();
      painter.rate.finished(1, 8);
      const url = linkTo(() => undefined);
      const alone = painter.send('a', { references: [{ url }] });
      jest.advanceTimersByTime(3_000);
      painter.send('b');
      const waiting = painter.send('c');
      const older = painter.send(undefined);
      jest.advanceTimersByTime(3_000);

      const place = (position: number, etaSeconds: number) => ({ event: 'queued', position, etaSeconds });
      expect(alone.events).toEqual([place(1, 0), place(1, 2)]);
      expect(waiting.events).toEqual([place(2, 4), place(2, 4)]);
      expect(older.events).toEqual([{ event: 'started' }, { event: 'progress', step: 0, steps: 20 }]);
    });
  });
});
