import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPainter } from '../../../local/painter/server.ts';
import { inMs, invoke } from '../model-contract/invocation.ts';
import { identity, modelRequest, startSink } from './support.ts';
import type { Sink } from './support.ts';

let painter: Awaited<ReturnType<typeof startPainter>>;
let sink: Sink;

beforeAll(async () => {
  [painter, sink] = await Promise.all([startPainter({ workers: 1 }), startSink()]);
});
afterAll(async () => {
  await Promise.all([painter.close(), sink.close()]);
});

const large = { width: 2048, height: 2048 };

describe('the deadline', () => {
  test('ends a request that still waits for its turn', async () => {
    const busy = invoke(painter.url, modelRequest([sink.link('busy')], large));
    const waiting = await invoke(painter.url, modelRequest([sink.link('waiting')], { deadline: inMs(150) }));

    expect(waiting.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
    expect((await busy).closing).toMatchObject({ event: 'completed' });
    expect(sink.uploads.some(({ path }) => path === '/waiting')).toBe(false);
  });

  test('ends a delayed request', async () => {
    const delayed = modelRequest([sink.link('d')], { ...identity({ delaySeconds: 5 }), deadline: inMs(200) });

    expect((await invoke(painter.url, delayed)).closing).toMatchObject({ reason: 'deadline' });
  });
});

test('a caller who hangs up leaves the thread free for the next', async () => {
  await invoke(painter.url, modelRequest([sink.link('gone')], large), {
    onEvent: (event, hangUp) => {
      if (event.event === 'progress') hangUp();
    },
  });
  const next = await invoke(painter.url, modelRequest([sink.link('next')]));
  const whole = await invoke(painter.url, modelRequest([sink.link('whole')], large));

  expect(next.closing).toMatchObject({ event: 'completed' });
  // Had the work gone on, it would have waited for nearly all of it, and then been painted itself.
  expect(next.times.at(-1)!).toBeLessThan(whole.times.at(-1)!);
});

test('more than 200 waiting requests are too many', async () => {
  const hangUps: (() => void)[] = [];
  const busy = invoke(painter.url, modelRequest([sink.link('first')], large), {
    onEvent: (_event, hangUp) => hangUps.push(hangUp),
  });
  await wait(50);
  const line = Array.from({ length: 200 }, () =>
    invoke(painter.url, modelRequest([sink.link('line')]), {
      onEvent: (_event, hangUp) => hangUps.push(hangUp),
    }),
  );
  while (hangUps.length < 200) await wait(10);
  await wait(100);
  const refused = await invoke(painter.url, modelRequest([sink.link('last')]));
  for (const hangUp of hangUps) hangUp();
  await Promise.all([busy, ...line]);

  expect(refused.closing).toMatchObject({ event: 'failed', reason: 'busy' });
}, 20_000);

test('it closes promptly with idle and working connections open', async () => {
  const other = await startPainter({ workers: 1 });
  const idle = connect(Number(new URL(other.url).port), '127.0.0.1');
  await once(idle, 'connect');
  const working = invoke(other.url, modelRequest([sink.link('closing')], identity({ neverFinishes: true })));
  working.catch(() => undefined);
  await wait(100);
  const start = performance.now();
  await other.close();

  expect(performance.now() - start).toBeLessThan(1_000);
  idle.destroy();
});
