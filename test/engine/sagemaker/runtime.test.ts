import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { InvokeEndpointAsyncCommand, InvokeEndpointCommand } from '@aws-sdk/client-sagemaker-runtime';
import type { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startSageMakerRuntime } from '../../../local/sagemaker/engine.ts';
import { runtimeClient, startContainer, streamEndpoint } from './support.ts';
import type { Container } from './support.ts';

let container: Container;
let runtime: Awaited<ReturnType<typeof startSageMakerRuntime>>;
let client: SageMakerRuntimeClient;
/** Resolves when the container's connection is closed under it. */
let abandoned: Promise<void>;

beforeAll(async () => {
  container = await startContainer((response, body) => {
    abandoned = once(response, 'close').then(() => undefined);
    void answers[body]?.(response);
  });
  const gone = await startContainer(() => undefined);
  await gone.close();
  runtime = await startSageMakerRuntime({
    endpoints: { painter: container.url, gone: gone.url },
    limits: { bodyBytes: 100_000, invokeMs: 400, streamMs: 900 },
  });
  client = runtimeClient(runtime.url);
});
afterAll(async () => {
  client.destroy();
  await Promise.all([runtime.close(), container.close()]);
});

type Answer = (response: Parameters<Parameters<typeof startContainer>[0]>[0]) => unknown;

/** What the container does, by the request's body. */
const answers: Record<string, Answer> = {
  whole: (response) =>
    response
      .writeHead(200, {
        'content-type': 'application/x-ndjson',
        'x-amzn-sagemaker-custom-attributes': 'kiln=7',
      })
      .end('{"event":"ready"}\n'),
  pieces: async (response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    for (const piece of ['{"event":"sta', 'rted"}\n{"event"', ':"progress"}\n']) {
      response.write(piece);
      await wait(120);
    }
    response.end();
  },
  flood: (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (let i = 0; i < 64; i += 1) response.write(String(i % 10).repeat(65_536));
    response.end();
  },
  broken: async (response) => {
    response.writeHead(200);
    response.write('begun');
    await wait(50);
    response.destroy();
  },
  fails: (response) => response.writeHead(500, { 'content-type': 'text/plain' }).end('out of clay'),
  refuses: (response) => response.writeHead(418).end(),
  drops: (response) => response.destroy(),
  silent: () => undefined,
  stalls: (response) => response.writeHead(200).write('begun'),
  huge: (response) => response.writeHead(200).end('x'.repeat(100_001)),
};

const invoke = (body: string, name = 'painter') =>
  client.send(new InvokeEndpointCommand({ EndpointName: name, Body: body, ContentType: 'application/json' }));

describe('InvokeEndpoint', () => {
  test("answers with the container's body and headers", async () => {
    const answer = await invoke('whole');

    expect(Buffer.from(answer.Body).toString()).toBe('{"event":"ready"}\n');
    expect(answer).toMatchObject({
      ContentType: 'application/x-ndjson',
      CustomAttributes: 'kiln=7',
      InvokedProductionVariant: 'AllTraffic',
    });
    expect(container.requests.at(-1)).toMatchObject({ path: '/invocations', body: 'whole' });
    expect(container.requests.at(-1)!.headers['content-type']).toBe('application/json');
    expect(container.requests.at(-1)!.headers.authorization).toBeUndefined();
  });

  test('waits for all pieces', async () => {
    const answer = await invoke('pieces');

    expect(Buffer.from(answer.Body).toString().split('\n')).toHaveLength(3);
  });

  test.each([
    ['fails', 500, 'out of clay'],
    ['refuses', 418, ''],
  ])('turns a container that %s into a ModelError', async (body, status, message) => {
    await expect(invoke(body)).rejects.toMatchObject({
      name: 'ModelError',
      $metadata: { httpStatusCode: 424 },
      OriginalStatusCode: status,
      OriginalMessage: message,
      message: expect.stringMatching(
        new RegExp(`^Received (server|client) error \\(${status}\\) from primary`),
      ),
    });
  });

  test.each(['drops', 'silent', 'stalls', 'broken', 'huge'])(
    'answers ModelError for a container that is %s',
    async (body) => {
      await expect(invoke(body)).rejects.toMatchObject({
        name: 'ModelError',
        $metadata: { httpStatusCode: 424 },
      });
    },
  );

  test('answers ServiceUnavailable when no container listens', async () => {
    await expect(invoke('whole', 'gone')).rejects.toMatchObject({
      name: 'ServiceUnavailable',
      $metadata: { httpStatusCode: 503 },
    });
  });

  test.each(['nobody', 'constructor', 'a b/ö'])(
    'answers ValidationError for the unknown endpoint %s',
    async (name) => {
      await expect(invoke('whole', name)).rejects.toMatchObject({
        name: 'ValidationError',
        $metadata: { httpStatusCode: 400 },
        message: expect.stringMatching(/^Endpoint .* of account \d{12} not found\.$/),
      });
    },
  );

  test('refuses a body that is too large', async () => {
    await expect(invoke('x'.repeat(100_001))).rejects.toMatchObject({ name: 'ValidationError' });
  });

  test('closes the container connection when the caller hangs up', async () => {
    const hangUp = new AbortController();
    const command = new InvokeEndpointCommand({ EndpointName: 'painter', Body: 'silent' });
    const call = client.send(command, { abortSignal: hangUp.signal });
    const before = container.requests.length;
    while (container.requests.length === before) await wait(5);
    const start = performance.now();
    hangUp.abort();

    await expect(call).rejects.toThrow();
    await abandoned;
    expect(performance.now() - start).toBeLessThan(250);
  });
});

describe('InvokeEndpointWithResponseStream', () => {
  test('passes pieces on as they come, cut wherever they were cut', async () => {
    const { parts, times, contentType, error } = await streamEndpoint(client, 'painter', 'pieces');

    expect(error).toBeUndefined();
    expect(contentType).toBe('application/x-ndjson');
    expect(parts).toEqual(['{"event":"sta', 'rted"}\n{"event"', ':"progress"}\n']);
    expect(times[2]! - times[0]!).toBeGreaterThan(180);
    expect(container.requests.at(-1)!.headers.accept).toBe('application/x-ndjson');
  });

  test('passes on more than any buffer holds', async () => {
    const { parts, error } = await streamEndpoint(client, 'painter', 'flood');

    expect(error).toBeUndefined();
    expect(parts.join('').length).toBe(64 * 65_536);
    expect(parts.join('').slice(-65_536)).toBe('3'.repeat(65_536));
  });

  test('ends with ModelStreamError when the container goes away in the middle', async () => {
    const { parts, error } = await streamEndpoint(client, 'painter', 'broken');

    expect(parts).toEqual(['begun']);
    expect(error).toMatchObject({ name: 'ModelStreamError', ErrorCode: 'StreamBroken' });
  });

  test('ends with ModelStreamError when time runs out in the middle', async () => {
    const { parts, error } = await streamEndpoint(client, 'painter', 'stalls');

    expect(parts).toEqual(['begun']);
    expect(error).toMatchObject({ name: 'ModelStreamError', ErrorCode: 'ModelInvocationTimeExceeded' });
  });

  test.each([
    ['fails', 'painter', 'ModelError'],
    ['silent', 'painter', 'ModelError'],
    ['whole', 'gone', 'ServiceUnavailable'],
    ['whole', 'nobody', 'ValidationError'],
  ])('answers %s at %s with %s before any stream', async (body, name, error) => {
    await expect(streamEndpoint(client, name, body)).rejects.toMatchObject({ name: error });
  });

  test('closes the container connection when the caller hangs up', async () => {
    const hangUp = new AbortController();
    let start = 0;
    await streamEndpoint(client, 'painter', 'stalls', hangUp.signal, () => {
      start = performance.now();
      hangUp.abort();
    });
    await abandoned;

    expect(performance.now() - start).toBeLessThan(250);
  });
});

describe('HTTP', () => {
  test('requests must be signed', async () => {
    const response = await fetch(`${runtime.url}/endpoints/painter/invocations`, {
      method: 'POST',
      body: 'whole',
    });

    expect(response.status).toBe(403);
    expect(response.headers.get('x-amzn-errortype')).toBe('MissingAuthenticationTokenException');
  });

  test('other operations are refused by name', async () => {
    const command = new InvokeEndpointAsyncCommand({ EndpointName: 'painter', InputLocation: 's3://a/b' });

    await expect(client.send(command)).rejects.toMatchObject({ name: 'UnknownOperationException' });
  });

  test('closes promptly with idle and streaming connections open', async () => {
    const other = await startSageMakerRuntime({ endpoints: { painter: container.url } });
    const idle = connect(Number(new URL(other.url).port), '127.0.0.1');
    await once(idle, 'connect');
    const otherClient = runtimeClient(other.url);
    let begun = (): void => undefined;
    const begins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const streaming = streamEndpoint(otherClient, 'painter', 'stalls', undefined, () => begun());
    await begins;
    const start = performance.now();
    await other.close();
    await abandoned;

    expect(performance.now() - start).toBeLessThan(500);
    expect((await streaming).error).toBeDefined();
    idle.destroy();
    otherClient.destroy();
  });
});
