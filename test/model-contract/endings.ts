import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import type { ModelEvent } from '../../shared/model/contract.ts';
import type { ModelContainer } from './container.ts';
import { colorful, pngOf } from './images.ts';
import { closings, inMs, stepsOf, type Exchange } from './invocation.ts';
import type { OutputPlace, Place, Trouble } from './store.ts';
import type { Changes, ContractFixture } from './fixture.ts';

/** Keeps whoever asks waiting until `answer` is called. `asked` resolves when they ask, `left` when they are gone. */
function holding() {
  const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held: ServerResponse[] = [];
  let file: Uint8Array | undefined;
  return {
    trouble: ((response) => {
      if (file) response.end(file);
      else held.push(response);
      asked.resolve();
      response.on('close', left.resolve);
      return true;
    }) satisfies Trouble,
    asked: asked.promise,
    left: left.promise,
    answer: (given: Uint8Array) => {
      file = given;
      for (const response of held) response.end(file);
    },
  };
}

export function endingCases(fixture: ContractFixture, container: ModelContainer): void {
  const complete = async (changes: Changes = {}): Promise<void> => {
    expect((await fixture.ask(changes)).closing).toMatchObject({ event: 'completed' });
  };
  /** A request that was ended may still keep the model busy for a step, and a short deadline would then be refused. */
  const untilIdle = complete;
  /** Work that had secretly gone on would end before this, because this is as much work and begins later. */
  const generateAsMuch = (): Promise<void> => complete(container.slow);
  /** Asks, as always the same tenant, for a picture in a third of the time that it has just taken. */
  const cutShort = async () => {
    const deadlineMs = (await fixture.ask(container.slow)).times.at(-1)! / 3;
    await untilIdle();
    const [place] = await fixture.outputs(1);
    const changes = { ...container.slow, tenant: 'in a hurry', deadline: inMs(deadlineMs) };
    const exchange = await fixture.ask(changes, [place!]);
    return { exchange, place: place!, deadlineMs };
  };
  /** Asks with more time each time, until the deadline comes after the container has asked for what is held back. */
  const endWhileWaiting = async (
    ask: (deadlineMs: number) => Promise<{ exchange: Exchange; place: Place; left: Promise<void> }>,
  ): Promise<void> => {
    for (let deadlineMs = 1_000; deadlineMs < 120_000; deadlineMs *= 2) {
      await untilIdle();
      const { exchange, place, left } = await ask(deadlineMs);
      // A container that knows how long its pictures take refuses what it could not have ready.
      if (refusedAsLate(exchange)) continue;
      expect(exchange.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
      expect(exchange.times.at(-1)!).toBeGreaterThan(deadlineMs - 100);
      if (place.attempts() > 0) return left;
    }
    throw new Error('the container never asked');
  };
  const refusedAsLate = ({ closing }: Exchange): boolean =>
    closing?.event === 'failed' && closing.reason === 'busy';
  const expectNothingPut = async (place: OutputPlace): Promise<void> => {
    expect(place.attempts()).toBe(0);
    expect(await place.read()).toBeNull();
  };

  test.each([
    ['is queued until it begins', 'tenant-a', 'queued queued started'],
    ['of an older service, without a tenant, has started at once', undefined, 'started progress progress'],
  ])('a request that waits for a reference image goes on to report, and %s', async (_what, tenant, names) => {
    const [file, { trouble, answer }] = [await pngOf(colorful(90, 90)), holding()];
    const { url } = await fixture.store.file(trouble);
    const reports: ModelEvent[] = [];
    const { closing, events } = await fixture.ask({ tenant, references: [{ url }] } as Changes, undefined, {
      onEvent: (event) => {
        if (event.event !== 'started' && reports.push(event) === 2) answer(file);
      },
    });

    const begun = events.slice(0, 3).map(({ event }) => event);
    expect(begun.join(' ')).toBe(names);
    const repeated = tenant === undefined ? { step: 0 } : { position: 1 };
    expect(reports.slice(0, 2)).toMatchObject([repeated, repeated]);
    expect(closing).toMatchObject({ event: 'completed', referenceImagesUsed: 1 });
  });

  describe('the queue', () => {
    test('with one tenant flooding, another waits for two requests on each thread at most', async () => {
      let begun = 0;
      const firstWaits = Promise.withResolvers<void>();
      const flood = Array.from({ length: 6 * container.threads }, () =>
        fixture.ask({ tenant: 'flood' }, undefined, {
          onEvent: ({ event }) => {
            if (event === 'started') begun += 1;
            if (event === 'queued') firstWaits.resolve();
          },
        }),
      );
      await firstWaits.promise;
      let waited: number | undefined;
      let before = 0;
      const other = await fixture.ask({ tenant: 'other' }, undefined, {
        onEvent: ({ event }) => {
          if (event === 'queued') before ||= begun;
          if (event === 'started') waited = before && begun - before;
        },
      });

      expect(waited).toBeLessThanOrEqual(2 * container.threads);
      for (const { closing } of [other, ...(await Promise.all(flood))]) {
        expect(closing).toMatchObject({ event: 'completed' });
      }
    });

    test('reports to who waits its place, which gets better until it begins', async () => {
      const asking = Array.from({ length: container.threads + 4 }, () => fixture.ask());
      const exchanges = await Promise.all(asking);
      const places = exchanges.map(({ events }) =>
        events.flatMap((event) => (event.event === 'queued' ? [event.position] : [])),
      );

      expect(Math.max(...places.flat())).toBeGreaterThan(1);
      for (const positions of places) expect(positions).toEqual(positions.toSorted((a, b) => b - a));
    });
  });

  describe('the deadline', () => {
    test('that is over already ends a request before any work', async () => {
      const { url, attempts } = await fixture.store.file(await pngOf(colorful(90, 90)));
      const [place] = await fixture.outputs(1);
      const late = { deadline: inMs(-1_000), references: [{ url }] };
      const { closing } = await fixture.ask(late, [place!]);

      expect(closing).toMatchObject({ event: 'failed', reason: 'deadline' });
      expect(attempts()).toBe(0);
      await expectNothingPut(place!);
    });

    test('ends a request in the middle of its picture once, and then refuses one that has as little time', async () => {
      // No estimate lets this in, but a container tries once whether its estimate is right.
      const { exchange, place, deadlineMs } = await cutShort();

      // It may give up as soon as it sees that its estimate was right.
      const { reason } = exchange.closing as { reason: string };
      expect(['deadline', 'busy']).toContain(reason);
      expect(Math.max(...stepsOf(exchange))).toBeGreaterThan(0);
      if (reason === 'deadline') expect(exchange.times.at(-1)!).toBeGreaterThan(deadlineMs - 100);
      await generateAsMuch();
      await expectNothingPut(place);

      const again = await cutShort();
      expect(again.exchange.events).toMatchObject([{ event: 'failed', reason: 'busy' }]);
      await expectNothingPut(again.place);
    });

    test.each(['a reference image', ...(container.loadsAdapters ? ['its adapter'] : [])])(
      'ends a request that waits for %s',
      async (what) => {
        const [output] = await fixture.outputs(1);
        await endWhileWaiting(async (deadlineMs) => {
          const { trouble, left } = holding();
          const place = await fixture.store.file(trouble);
          const { url } = place;
          const { identity } = fixture.request([]);
          const changes =
            what === 'its adapter'
              ? { identity: { ...identity, adapterUrl: url } }
              : { references: [{ url }] };
          const exchange = await fixture.ask({ ...changes, deadline: inMs(deadlineMs) }, [output!]);
          return { exchange, place, left };
        });
        await expectNothingPut(output!);
      },
    );

    test('ends a request whose image the store does not take', () =>
      endWhileWaiting(async (deadlineMs) => {
        const { trouble, left } = holding();
        const place = await fixture.store.output(trouble);
        const exchange = await fixture.ask({ deadline: inMs(deadlineMs) }, [place]);
        return { exchange, place, left };
      }));
  });

  describe('a caller who hangs up', () => {
    test('in the middle gets nothing put afterwards', async () => {
      const places = await fixture.outputs(2);
      const exchange = await fixture.ask(container.slow, places, {
        onEvent: (event, hangUp) => {
          if (event.event === 'progress' && event.step >= 3) hangUp();
        },
      });

      expect(closings(exchange)).toEqual([]);
      await generateAsMuch();
      for (const place of places) await expectNothingPut(place);
    });

    test('while a reference image is awaited ends that, too', async () => {
      const { trouble, asked, left } = holding();
      const { url } = await fixture.store.file(trouble);
      const [place] = await fixture.outputs(1);
      const exchange = await fixture.ask({ references: [{ url }] }, [place!], {
        onEvent: (_event, hangUp) => void asked.then(hangUp),
      });
      await left;

      expect(closings(exchange)).toEqual([]);
      await complete();
      await expectNothingPut(place!);
    });

    test('takes only its own request out of the queue', async () => {
      const ahead = [fixture.generate({ seed: 1 }), fixture.generate({ seed: 2 })];
      const leaving = fixture.ask({ seed: 3 }, undefined, { onEvent: (_event, hangUp) => hangUp() });
      const behind = fixture.generate({ seed: 4 });

      expect(closings(await leaving)).toEqual([]);
      await Promise.all([...ahead, behind]);
    });
  });

  describe('a request that is cancelled', () => {
    test('ends in the middle once its link answers 200, whatever it answered before, and nothing is put', async () => {
      let isCancelled = false;
      const { url, attempts } = await fixture.store.file((response, attempt) => {
        response.writeHead(isCancelled ? 200 : [403, 404, 500, 302][attempt % 4]!).end();
        return true;
      });
      const places = await fixture.outputs(2);
      const { closing } = await fixture.ask({ ...container.slow, cancelUrl: url }, places, {
        onEvent: ({ event }) => {
          if (event === 'progress' && attempts() > 0) isCancelled = true;
        },
      });

      expect(closing).toMatchObject({ event: 'failed', reason: 'cancelled' });
      await generateAsMuch();
      for (const place of places) await expectNothingPut(place);
    });

    test('while a reference image is awaited ends that, too', async () => {
      const { trouble, left } = holding();
      const [{ url }, cancelled] = await Promise.all([
        fixture.store.file(trouble),
        fixture.store.file(Buffer.from('')),
      ]);
      const { closing } = await fixture.ask({ references: [{ url }], cancelUrl: cancelled.url });
      await left;

      expect(closing).toMatchObject({ event: 'failed', reason: 'cancelled' });
      await complete();
    });
  });

  test('/ping is answered while a picture is made', async () => {
    const statuses: Promise<number>[] = [];
    const exchange = await fixture.ask(container.slow, undefined, {
      onEvent: ({ event }, hangUp) => {
        if (event !== 'progress' || statuses.length > 0) return;
        const ping = fetch(`${fixture.running.url}/ping`).then(({ status }) => status);
        statuses.push(ping.finally(hangUp));
      },
    });

    expect(await statuses[0]).toBe(200);
    expect(closings(exchange)).toEqual([]);
  });
}
