import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startPainter } from '../../../local/painter/server.ts';
import { startSageMakerRuntime } from '../../../local/sagemaker/engine.ts';
import { modelRequest, startSink } from '../painter/support.ts';
import type { Sink } from '../painter/support.ts';
import { runtimeClient, streamEndpoint } from './support.ts';

const main = fileURLToPath(new URL('../../../local/painter/main.ts', import.meta.url));
let painter: Awaited<ReturnType<typeof startPainter>>;
let mortal: ChildProcess;
let runtime: Awaited<ReturnType<typeof startSageMakerRuntime>>;
let client: SageMakerRuntimeClient;
let sink: Sink;

beforeAll(async () => {
  [painter, sink] = await Promise.all([startPainter(), startSink()]);
  mortal = fork(main, ['--port', '0'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [line] = (await once(mortal.stdout!, 'data')) as [Buffer];
  const mortalUrl = /http:\S+/.exec(line.toString())![0];
  runtime = await startSageMakerRuntime({ endpoints: { painter: painter.url, mortal: mortalUrl } });
  client = runtimeClient(runtime.url);
});
afterAll(async () => {
  mortal.kill('SIGKILL');
  client.destroy();
  await Promise.all([runtime.close(), painter.close(), sink.close()]);
});

test("the painter's events arrive through the SDK while it paints", async () => {
  const request = modelRequest([sink.link('a')], { width: 2048, height: 2048 });
  const { parts, times, error } = await streamEndpoint(client, 'painter', JSON.stringify(request));

  expect(error).toBeUndefined();
  const events = parts
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string });
  expect(events[0]!.event).toBe('started');
  expect(events.at(-1)!.event).toBe('completed');
  expect(times[0]!).toBeLessThan(times.at(-1)! / 4);
});

test('hanging up stops the painter: its thread is free, and nothing is uploaded', async () => {
  const hangUp = new AbortController();
  const request = modelRequest([sink.link('gone')], { width: 2048, height: 2048 });
  await streamEndpoint(client, 'painter', JSON.stringify(request), hangUp.signal, (text) => {
    if (text.includes('progress')) hangUp.abort();
  });
  const start = performance.now();
  await streamEndpoint(client, 'painter', JSON.stringify(modelRequest([sink.link('next')])));

  expect(performance.now() - start).toBeLessThan(1_500);
  expect(sink.uploads.some(({ path }) => path === '/gone')).toBe(false);
});

test('a painter that is killed in the middle ends the stream with ModelStreamError', async () => {
  const request = modelRequest([sink.link('dead')], { width: 2048, height: 2048 });
  const { parts, error } = await streamEndpoint(
    client,
    'mortal',
    JSON.stringify(request),
    undefined,
    (text) => {
      if (text.includes('progress')) mortal.kill('SIGKILL');
    },
  );

  expect(parts.join('')).toContain('started');
  expect(error).toMatchObject({ name: 'ModelStreamError', ErrorCode: 'StreamBroken' });
});
