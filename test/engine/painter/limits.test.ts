import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { startPainter } from '../../../local/painter/server.ts';
import { closings, identity, inMs, invoke, modelRequest, startSink } from './support.ts';
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
  test('ends the work when it comes while painting', async () => {
    const request = modelRequest([sink.link('late')], { ...large, deadline: inMs(150) });
    const exchange = await invoke(painter.url, request);

    expect(exchange.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
    expect(exchange.times.at(-1)!).toBeLessThan(1_000);
    expect(sink.uploads.some(({ path }) => path === '/late')).toBe(false);
  });

  test('ends a request that still waits for its turn', async () => {
    const busy = invoke(painter.url, modelRequest([sink.link('busy')], large));
    const waiting = await invoke(painter.url, modelRequest([sink.link('waiting')], { deadline: inMs(150) }));

    expect(waiting.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
    expect((await busy).closing).toMatchObject({ event: 'completed' });
    expect(sink.uploads.some(({ path }) => path === '/waiting')).toBe(false);
  });

  test('ends a delayed request, and one that came too late', async () => {
    const delayed = modelRequest([sink.link('d')], { ...identity({ delaySeconds: 5 }), deadline: inMs(200) });
    const past = modelRequest([sink.link('p')], { deadline: inMs(-1_000) });

    expect((await invoke(painter.url, delayed)).closing).toMatchObject({ reason: 'deadline' });
    expect((await invoke(painter.url, past)).closing).toMatchObject({ reason: 'deadline' });
  });
});

describe('a caller who hangs up', () => {
  test('stops the work at once: nothing is uploaded, and the thread is free for the next', async () => {
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
    await wait(200);
    expect(sink.uploads.some(({ path }) => path === '/gone')).toBe(false);
  });

  test('takes only its own request out of the line', async () => {
    const first = invoke(painter.url, modelRequest([sink.link('one')]));
    const second = invoke(painter.url, modelRequest([sink.link('two')]), {
      onEvent: (_event, hangUp) => hangUp(),
    });
    const third = invoke(painter.url, modelRequest([sink.link('three')]));

    expect((await first).closing).toMatchObject({ event: 'completed' });
    expect((await third).closing).toMatchObject({ event: 'completed' });
    expect(closings(await second)).toEqual([]);
  });
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

describe('a body that does not fit the contract', () => {
  test.each<[string, Record<string, unknown>]>([
    ['requestId', { requestId: 5 }],
    ['deadline', { deadline: 'soon' }],
    ['prompt', { prompt: null }],
    ['negativePrompt', { negativePrompt: undefined }],
    ['seed', { seed: 4294967296 }],
    ['seed', { seed: -1 }],
    ['numInferenceSteps', { numInferenceSteps: 19 }],
    ['guidanceScale', { guidanceScale: 21 }],
    ['width', { width: 500 }],
    ['height', { height: 4096 }],
    ['numOutputs', { numOutputs: 0 }],
    ['outputs', { numOutputs: 2 }],
    ['referenceMode', { referenceMode: 'guess' }],
    ['preserveBranding', { preserveBranding: 'yes' }],
    ['references', { references: [{ url: 'file:///etc/passwd' }] }],
    ['identity.id', { identity: { id: '', adapterUrl: null, adapterVersion: null, settings: {} } }],
    ['identity.settings.delaySeconds', identity({ delaySeconds: -1 })],
    ['outputs.0.putUrl', { outputs: [{ putUrl: 'ftp://somewhere/' }] }],
  ])('is refused, naming %s', async (field, changes) => {
    const { status, events } = await invoke(painter.url, modelRequest([sink.link('x')], changes));

    expect(status).toBe(200);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ event: 'failed', reason: 'invalid_request' });
    expect((events[0] as { message: string }).message).toContain(field);
  });

  test.each([
    ['not JSON', '{"prompt": ', 400],
    ['empty', '', 400],
    ['too long', JSON.stringify({ prompt: 'x'.repeat(1_100_000) }), 413],
    ['not an object', '[]', 200],
  ])('that is %s is answered with one failed event', async (_name, body, status) => {
    const exchange = await invoke(painter.url, body);

    expect(exchange.status).toBe(status);
    expect(exchange.events).toMatchObject([{ event: 'failed', reason: 'invalid_request' }]);
  });

  test('never brings the painter down, whatever it is', async () => {
    const field = fc.oneof(
      fc.jsonValue(),
      fc.string(),
      fc.constant(-0),
      fc.double(),
      fc.constant('__proto__'),
    );
    const mutation = fc.tuple(fc.constantFrom(...Object.keys(modelRequest([]))), field);
    const body = fc.oneof(
      fc.array(mutation, { minLength: 1, maxLength: 3 }).map((pairs) => ({
        ...modelRequest([sink.link('fuzz')], { deadline: inMs(0) }),
        ...Object.fromEntries(pairs),
      })),
      fc.jsonValue(),
      fc.string(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(body, async (anything) => {
        const exchange = await invoke(painter.url, anything);
        expect([200, 400]).toContain(exchange.status);
        expect(closings(exchange)).toHaveLength(1);
      }),
      { numRuns: 150 },
    );
    expect((await fetch(`${painter.url}/ping`)).status).toBe(200);
  });
});

describe('HTTP', () => {
  test('knows its two paths and their methods', async () => {
    const ping = await fetch(`${painter.url}/ping`);
    expect([ping.status, await ping.text()]).toEqual([200, '']);
    expect((await fetch(`${painter.url}/invocations`)).status).toBe(405);
    expect((await fetch(`${painter.url}/else`, { method: 'POST' })).status).toBe(404);
  });

  test('closes promptly with idle and working connections open', async () => {
    const other = await startPainter({ workers: 1 });
    const idle = connect(Number(new URL(other.url).port), '127.0.0.1');
    await once(idle, 'connect');
    const working = invoke(
      other.url,
      modelRequest([sink.link('closing')], identity({ neverFinishes: true })),
    );
    working.catch(() => undefined);
    await wait(100);
    const start = performance.now();
    await other.close();

    expect(performance.now() - start).toBeLessThan(1_000);
    idle.destroy();
  });
});
