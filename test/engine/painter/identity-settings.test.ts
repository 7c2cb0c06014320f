import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPainter } from '../../../local/painter/server.ts';
import { closings, inMs, invoke } from '../model-contract/invocation.ts';
import { identity, modelRequest, startSink } from './support.ts';
import type { Sink } from './support.ts';

let painter: Awaited<ReturnType<typeof startPainter>>;
let sink: Sink;

beforeAll(async () => {
  [painter, sink] = await Promise.all([startPainter(), startSink()]);
});
afterAll(async () => {
  await Promise.all([painter.close(), sink.close()]);
});

describe("an identity's settings", () => {
  test('can make every request fail with a message of their own', async () => {
    const exchange = await invoke(
      painter.url,
      modelRequest([sink.link('image')], identity({ failWith: 'The kiln is cold.' })),
    );

    expect(exchange.events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['started', 'progress']),
    );
    expect(exchange.closing).toEqual({
      event: 'failed',
      reason: 'model_error',
      message: 'The kiln is cold.',
    });
  });

  test('can delay the answer, with progress meanwhile', async () => {
    const exchange = await invoke(
      painter.url,
      modelRequest([sink.link('image')], identity({ delaySeconds: 1 })),
    );

    expect(exchange.closing).toMatchObject({ event: 'completed' });
    expect(exchange.times.at(-1)!).toBeGreaterThan(1_000);
    expect(exchange.times.filter((time) => time > 100 && time < 900).length).toBeGreaterThan(3);
  });

  test('can make it hang past its deadline, until the caller hangs up', async () => {
    const request = modelRequest([sink.link('image')], {
      ...identity({ neverFinishes: true }),
      deadline: inMs(300),
    });
    const start = performance.now();
    const exchange = await invoke(painter.url, request, {
      onEvent: (event, hangUp) => {
        if (event.event === 'progress') hangUp();
      },
    });

    expect(performance.now() - start).toBeGreaterThan(1_000);
    expect(closings(exchange)).toEqual([]);
  });

  test('that do not fit fail the request by their name', async () => {
    const request = modelRequest([sink.link('image')], identity({ delaySeconds: -1 }));
    const { closing } = await invoke(painter.url, request);

    expect(closing).toMatchObject({ event: 'failed', reason: 'invalid_request' });
    expect((closing as { message: string }).message).toContain('identity.settings.delaySeconds');
  });
});
