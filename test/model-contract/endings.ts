import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import type { ModelContainer } from './container.ts';
import { colorful, pngOf } from './images.ts';
import { closings, inMs, invoke, stepsOf } from './invocation.ts';
import type { Exchange } from './invocation.ts';
import type { OutputPlace, Place, Trouble } from './store.ts';
import type { World } from './world.ts';

interface Holding {
  trouble: Trouble;
  asked: Promise<void>;
  left: Promise<void>;
  answer: (file: Uint8Array) => void;
}

/** Keeps whoever asks waiting until `answer` is called, and tells when they ask and when they are gone. */
function holding(): Holding {
  const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held: ServerResponse[] = [];
  let file: Uint8Array | undefined;
  return {
    trouble: (response) => {
      if (file) response.end(file);
      else held.push(response);
      asked.resolve();
      response.on('close', left.resolve);
      return true;
    },
    asked: asked.promise,
    left: left.promise,
    answer: (given) => {
      file = given;
      for (const response of held) response.end(file);
    },
  };
}

export function endingCases(world: () => World, container: ModelContainer): void {
  /** A request that was ended may still keep the model busy for a step, and a short deadline would then be refused. */
  const untilIdle = async (): Promise<void> => {
    expect((await world().ask()).closing).toMatchObject({ event: 'completed' });
  };
  /** Work that had secretly gone on would end before this, because this is as much work and begins later. */
  const paintAsMuch = async (): Promise<void> => {
    expect((await world().ask(container.slow)).closing).toMatchObject({ event: 'completed' });
  };
  /** Asks for a picture in half of the time that it takes. If it was ready all the same, asks again with half of that. */
  const cutShort = async () => {
    let deadlineMs = (await world().ask(container.slow)).times.at(-1)!;
    for (let attempt = 1; ; attempt++) {
      deadlineMs /= 2;
      await untilIdle();
      const [place] = await world().outputs(1);
      const exchange = await world().ask({ ...container.slow, deadline: inMs(deadlineMs) }, [place!]);
      if (exchange.closing?.event === 'failed' || attempt === 3)
        return { exchange, place: place!, deadlineMs };
    }
  };
  /** Asks with more time each time, until the deadline comes after the container has asked for what is held back. */
  const endWhileWaiting = async (
    ask: (deadlineMs: number) => Promise<{ exchange: Exchange; place: Place; left: Promise<void> }>,
  ): Promise<void> => {
    for (let deadlineMs = 1_000; deadlineMs < 120_000; deadlineMs *= 2) {
      await untilIdle();
      const { exchange, place, left } = await ask(deadlineMs);
      expect(exchange.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
      expect(exchange.times.at(-1)!).toBeGreaterThan(deadlineMs - 100);
      if (place.attempts() > 0) return left;
    }
    throw new Error('the container never asked');
  };
  const expectNothingPut = async (place: OutputPlace): Promise<void> => {
    expect(place.attempts()).toBe(0);
    expect(await place.read()).toBeNull();
  };

  test('a request says at once that it has started, and goes on to report while it waits', async () => {
    const [file, { trouble, answer }] = [await pngOf(colorful(90, 90)), holding()];
    const { url } = await world().store.file(trouble);
    let reports = 0;
    const { closing, events } = await world().ask({ references: [{ url }] }, undefined, {
      onEvent: ({ event }) => {
        if (event === 'progress' && (reports += 1) === 2) answer(file);
      },
    });

    expect(events.slice(0, 3)).toMatchObject([{ event: 'started' }, { step: 0 }, { step: 0 }]);
    expect(closing).toMatchObject({ event: 'completed', referenceImagesUsed: 1 });
  });

  describe('the deadline', () => {
    test('that is over already ends a request before any work', async () => {
      const { url, attempts } = await world().store.file(await pngOf(colorful(90, 90)));
      const [place] = await world().outputs(1);
      const late = { deadline: inMs(-1_000), references: [{ url }] };
      const { closing } = await world().ask(late, [place!]);

      expect(closing).toMatchObject({ event: 'failed', reason: 'deadline' });
      expect(attempts()).toBe(0);
      await expectNothingPut(place!);
    });

    test('ends a request in the middle of its picture, and nothing is put afterwards', async () => {
      const { exchange, place, deadlineMs } = await cutShort();

      expect(exchange.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
      expect(Math.max(...stepsOf(exchange))).toBeGreaterThan(0);
      expect(exchange.times.at(-1)!).toBeGreaterThan(deadlineMs - 100);
      await paintAsMuch();
      await expectNothingPut(place);
    });

    test.each(['a reference image', ...(container.loadsAdapters ? ['its adapter'] : [])])(
      'ends a request that waits for %s',
      async (what) => {
        const [output] = await world().outputs(1);
        await endWhileWaiting(async (deadlineMs) => {
          const { trouble, left } = holding();
          const place = await world().store.file(trouble);
          const { url } = place;
          const { identity } = world().request([]);
          const changes =
            what === 'its adapter'
              ? { identity: { ...identity, adapterUrl: url } }
              : { references: [{ url }] };
          const exchange = await world().ask({ ...changes, deadline: inMs(deadlineMs) }, [output!]);
          return { exchange, place, left };
        });
        await expectNothingPut(output!);
      },
    );

    test('ends a request whose image the store does not take', () =>
      endWhileWaiting(async (deadlineMs) => {
        const { trouble, left } = holding();
        const place = await world().store.output(trouble);
        const exchange = await world().ask({ deadline: inMs(deadlineMs) }, [place]);
        return { exchange, place, left };
      }));
  });

  describe('a caller who hangs up', () => {
    test('in the middle gets nothing put afterwards', async () => {
      const places = await world().outputs(2);
      const exchange = await world().ask(container.slow, places, {
        onEvent: (event, hangUp) => {
          if (event.event === 'progress' && event.step >= 3) hangUp();
        },
      });

      expect(closings(exchange)).toEqual([]);
      await paintAsMuch();
      for (const place of places) await expectNothingPut(place);
    });

    test('while a reference image is awaited ends that, too', async () => {
      const { trouble, asked, left } = holding();
      const { url } = await world().store.file(trouble);
      const [place] = await world().outputs(1);
      const exchange = await world().ask({ references: [{ url }] }, [place!], {
        onEvent: (_event, hangUp) => void asked.then(hangUp),
      });
      await left;

      expect(closings(exchange)).toEqual([]);
      expect((await world().ask()).closing).toMatchObject({ event: 'completed' });
      await expectNothingPut(place!);
    });

    test('takes only its own request out of the line', async () => {
      const ahead = [world().paint({ seed: 1 }), world().paint({ seed: 2 })];
      const leaving = world().ask({ seed: 3 }, undefined, { onEvent: (_event, hangUp) => hangUp() });
      const behind = world().paint({ seed: 4 });

      expect(closings(await leaving)).toEqual([]);
      await Promise.all([...ahead, behind]);
    });
  });

  test('/ping is answered while a picture is painted', async () => {
    const [painting, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const request = world().request(await world().outputs(1), container.slow);
    const working = invoke(world().running.url, request, {
      onEvent: ({ event }, hangUp) => {
        if (event === 'progress') painting.resolve();
        void leave.promise.then(hangUp);
      },
    });
    await painting.promise;
    const ping = await fetch(`${world().running.url}/ping`);
    leave.resolve();

    expect(ping.status).toBe(200);
    expect(closings(await working)).toEqual([]);
  });
}
