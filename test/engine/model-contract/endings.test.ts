import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { colorful, pngOf } from '../painter/shelf.ts';
import { closings, inMs, invoke, stepsOf } from './invocation.ts';
import type { OutputPlace, Trouble } from './store.ts';
import { describeContainer } from './world.ts';

/** Later than a deadline by what a busy machine needs to say so. */
const slackMs = 2_000;

/** Keeps whoever asks waiting until `answer` is called, and tells when they ask and when they are gone. */
function holding(): {
  trouble: Trouble;
  asked: Promise<void>;
  left: Promise<void>;
  answer: (file: Uint8Array) => void;
} {
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

describeContainer((world, container) => {
  /** Work that had gone on in silence would be ready before this: it is as much, and was begun later. */
  const paintAsMuch = async (): Promise<void> => {
    expect((await world().ask(container.slow)).closing).toMatchObject({ event: 'completed' });
  };
  /** Asks for a picture in half of its time. One that was ready all the same, on a machine that grew quicker, is asked anew. */
  const cutShort = async () => {
    let deadlineMs = (await world().ask(container.slow)).times.at(-1)!;
    for (let attempt = 1; ; attempt++) {
      deadlineMs /= 2;
      const [place] = await world().outputs(1);
      const exchange = await world().ask({ ...container.slow, deadline: inMs(deadlineMs) }, [place!]);
      if (exchange.closing?.event === 'failed' || attempt === 3)
        return { exchange, place: place!, deadlineMs };
    }
  };
  const expectNothingPut = async (place: OutputPlace): Promise<void> => {
    expect(place.attempts()).toBe(0);
    expect(await place.read()).toBeNull();
  };

  describe('a request says at once that it has started, and something every few seconds', () => {
    test('while it waits for a reference image', async () => {
      const [file, { trouble, answer }] = [await pngOf(colorful(90, 90)), holding()];
      const { url } = await world().store.file(trouble);
      const exchange = await world().ask({ references: [{ url }] }, undefined, {
        onEvent: ({ event }) => {
          if (event === 'started') setTimeout(() => answer(file), 11_000);
        },
      });

      expect(exchange.closing).toMatchObject({ event: 'completed', referenceImagesUsed: 1 });
      const pauses = exchange.times.map((time, i) => time - (exchange.times[i - 1] ?? 0));
      expect(Math.max(...pauses)).toBeLessThan(10_000);
    });
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
      expectAt(exchange.times, deadlineMs);
      await paintAsMuch();
      await expectNothingPut(place);
    });

    test.each(['a reference image', ...(container.loadsAdapters ? ['its adapter'] : [])])(
      'ends a request that waits for %s',
      async (what) => {
        const { trouble, left } = holding();
        const { url } = await world().store.file(trouble);
        const [place] = await world().outputs(1);
        const { identity } = world().request([]);
        const changes =
          what === 'its adapter' ? { identity: { ...identity, adapterUrl: url } } : { references: [{ url }] };
        const exchange = await world().ask({ ...changes, deadline: inMs(1_000) }, [place!]);

        expect(exchange.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
        expectAt(exchange.times, 1_000);
        await left;
        await expectNothingPut(place!);
      },
    );

    test('ends a request whose image the store does not take', async () => {
      const { trouble, left } = holding();
      const place = await world().store.output(trouble);
      const exchange = await world().ask({ deadline: inMs(4_000) }, [place]);

      expect(exchange.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
      expectAt(exchange.times, 4_000);
      expect(place.attempts()).toBe(1);
      await left;
    });
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
    // SageMaker gives a container two seconds.
    const ping = await fetch(`${world().running.url}/ping`, { signal: AbortSignal.timeout(2_000) });
    leave.resolve();

    expect(ping.status).toBe(200);
    expect(closings(await working)).toEqual([]);
  });
});

/** The last event came at its time, or as soon as a busy machine could. */
function expectAt(times: number[], expectedMs: number): void {
  expect(times.at(-1)!).toBeGreaterThan(expectedMs - 100);
  expect(times.at(-1)!).toBeLessThan(expectedMs + slackMs);
}
