import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPainter } from '../../../local/painter/server.ts';
import { modelEvent } from '../../../shared/contracts/model-server.ts';
import type { ModelCompleted } from '../../../shared/contracts/model-server.ts';
import { decodePng } from '../../unit/painter/png-decoder.ts';
import { closings, identity, inMs, invoke, modelRequest, startSink } from './support.ts';
import type { Sink } from './support.ts';

let painter: Awaited<ReturnType<typeof startPainter>>;
let sink: Sink;

beforeAll(async () => {
  [painter, sink] = await Promise.all([startPainter(), startSink(refuseByName)]);
});
afterAll(async () => {
  await Promise.all([painter.close(), sink.close()]);
});

/** What a link answers is in its name: `once-500-then-200`, `always-403`. */
function refuseByName(path: string, attempt: number): number {
  const [, how, status] = /(once|always)-(\d+)/.exec(path) ?? [];
  if (how === undefined) return 200;
  return how === 'once' && attempt > 1 ? 200 : Number(status);
}

let names = 0;
const links = (count: number, kind = 'image'): string[] =>
  Array.from({ length: count }, () => sink.link(`${kind}-${(names += 1)}`));
const uploaded = (link: string): Sink['uploads'][number] =>
  sink.uploads.findLast(({ path }) => link.endsWith(path))!;

describe('a request', () => {
  test('starts at once, reports real progress, uploads its images, and completes with what it uploaded', async () => {
    const [first, second] = links(2);
    const exchange = await invoke(painter.url, modelRequest([first!, second!], { width: 576 }));

    expect(exchange).toMatchObject({ status: 200, contentType: 'application/x-ndjson' });
    expect(exchange.events[0]).toEqual({ event: 'started' });
    for (const event of exchange.events) expect(modelEvent.safeParse(event).success).toBe(true);
    const steps = exchange.events.flatMap((event) => (event.event === 'progress' ? [event.step] : []));
    expect(steps.length).toBeGreaterThan(4);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(closings(exchange)).toHaveLength(1);
    const completed = exchange.closing as ModelCompleted;
    expect(completed).toMatchObject({
      event: 'completed',
      referenceImagesUsed: 0,
      modelVersion: 'painter-1',
    });
    for (const [i, link] of [first!, second!].entries()) {
      const { bytes, sha256, contentType } = uploaded(link);
      expect(completed.outputs[i]).toEqual({ bytes: bytes.length, sha256, width: 576, height: 512 });
      expect(contentType).toBe('image/png');
      expect(decodePng(bytes)).toMatchObject({ width: 576, height: 512 });
    }
  });

  test('says so while it paints, not only at the end', async () => {
    const exchange = await invoke(painter.url, modelRequest(links(1), { width: 2048, height: 2048 }));

    const [total] = exchange.times.slice(-1);
    expect(exchange.times[0]!).toBeLessThan(total! / 4);
    expect(exchange.times.filter((time) => time < total! * 0.8).length).toBeGreaterThan(5);
  });

  test('output i is byte for byte the image of a request of its own with seed + i, also past 2^32', async () => {
    const batch = links(3);
    await invoke(painter.url, modelRequest(batch, { seed: 4294967294, requestId: 'a' }));
    for (const [i, seed] of [4294967294, 4294967295, 0].entries()) {
      const [alone] = links(1);
      await invoke(painter.url, modelRequest([alone!], { seed, requestId: 'b', deadline: inMs(50_000) }));
      expect(uploaded(alone!).sha256).toBe(uploaded(batch[i]!).sha256);
    }
  });

  test('that probes is answered with one ready event', async () => {
    expect((await invoke(painter.url, { probe: true })).events).toEqual([
      { event: 'ready', modelVersion: 'painter-1' },
    ]);
  });
});

describe('an upload', () => {
  test('that is refused fails the request without a second try', async () => {
    const [link] = links(1, 'always-403');
    const { closing } = await invoke(painter.url, modelRequest([link!]));

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(JSON.stringify(closing)).not.toContain('always');
    expect(sink.uploads.filter(({ path }) => link!.endsWith(path))).toHaveLength(1);
  });

  test.each(['once-500', 'once-0'])('that meets trouble (%s) is tried again', async (kind) => {
    const [link] = links(1, kind);
    const { closing } = await invoke(painter.url, modelRequest([link!]));

    expect(closing).toMatchObject({ event: 'completed' });
    expect(sink.uploads.filter(({ path }) => link!.endsWith(path))).toHaveLength(2);
  });

  test('that never gets through fails the request', async () => {
    const { closing } = await invoke(painter.url, modelRequest(links(1, 'always-503')));

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
  });
});

describe("an identity's settings", () => {
  test('can make every request fail with a message of their own', async () => {
    const exchange = await invoke(
      painter.url,
      modelRequest(links(1), identity({ failWith: 'The kiln is cold.' })),
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
    const exchange = await invoke(painter.url, modelRequest(links(1), identity({ delaySeconds: 1 })));

    expect(exchange.closing).toMatchObject({ event: 'completed' });
    expect(exchange.times.at(-1)!).toBeGreaterThan(1_000);
    expect(exchange.times.filter((time) => time > 100 && time < 900).length).toBeGreaterThan(3);
  });

  test('can make it hang past its deadline, until the caller hangs up', async () => {
    const request = modelRequest(links(1), { ...identity({ neverFinishes: true }), deadline: inMs(300) });
    const start = performance.now();
    const exchange = await invoke(painter.url, request, {
      onEvent: (event, hangUp) => {
        if (event.event === 'progress') hangUp();
      },
    });

    expect(performance.now() - start).toBeGreaterThan(1_000);
    expect(closings(exchange)).toEqual([]);
  });
});
