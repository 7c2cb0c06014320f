import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import {
  InvokeEndpointAsyncCommand,
  InvokeEndpointCommand,
  type SageMakerRuntimeClient,
} from '@aws-sdk/client-sagemaker-runtime';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { startSageMakerRuntime } from '../../../../local/sagemaker/engine.ts';
import { runtimeClient, startContainer, streamEndpoint, type Container } from './support.ts';

let container: Container;
let runtime: Awaited<ReturnType<typeof startSageMakerRuntime>>;
let client: SageMakerRuntimeClient;
/** Resolves when the container's connection is closed under it. */
let abandoned: Promise<void>;
/** Lets the container write its next piece. */
let goOn = (): void => undefined;

beforeAll(async () => {
  container = await startContainer((response, body) => {
    abandoned = once(response, 'close').then(() => undefined);
    void answers[body]?.(response);
  });
  const gone = await startContainer(() => undefined);
  await gone.close();
  const endpoints = { painter: container.url, gone: gone.url };
  runtime = await startSageMakerRuntime({ endpoints });
  client = runtimeClient(runtime.url);
});
afterAll(async () => {
  client.destroy();
  await Promise.all([runtime.close(), container.close()]);
});

type Answer = (response: Parameters<Parameters<typeof startContainer>[0]>[0]) => unknown;

const pieces = ['{"event":"sta', 'rted"}\n{"event"', ':"progress"}\n'];

/** What the container does, by the request's body. */
const answers: Record<string, Answer> = {
  pieces: async (response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    for (const piece of pieces) {
      const allowed = new Promise<void>((resolve) => void (goOn = resolve));
      response.write(piece);
      await allowed;
    }
    response.end();
  },
  flood: (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (let i = 0; i < 64; i += 1) response.write(String(i % 10).repeat(65_536));
    response.end();
  },
  broken: (response) => {
    response.writeHead(200);
    response.write('begun', () => setTimeout(() => response.destroy(), 50));
  },
  fails: (response) => response.writeHead(500, { 'content-type': 'text/plain' }).end('out of clay'),
  refuses: (response) => response.writeHead(418).end(),
  drops: (response) => response.destroy(),
  silent: () => undefined,
  stalls: (response) => response.writeHead(200).write('begun'),
};

/** Stops the timers of this process, the runtime's too, and sets them forward. */
function stopTimers(): { advance(ms: number): void; goOn(): void } {
  const real = [
    'nextTick',
    'setImmediate',
    'clearImmediate',
    'queueMicrotask',
    'Date',
    'performance',
  ] as const;
  jest.useFakeTimers({ doNotFake: [...real] });
  return { advance: (ms) => void jest.advanceTimersByTime(ms), goOn: () => void jest.useRealTimers() };
}

const modelError = { name: 'ModelError', $metadata: { httpStatusCode: 424 } };

describe('InvokeEndpointWithResponseStream', () => {
  test('passes pieces on as they come, cut wherever they were cut', async () => {
    // The container writes each piece only once the one before has arrived here.
    const streamed = streamEndpoint(client, 'painter', 'pieces', undefined, () => goOn());
    const { parts, contentType, error } = await streamed;

    expect(error).toBeUndefined();
    expect(contentType).toBe('application/x-ndjson');
    expect(parts).toEqual(pieces);
    expect(container.requests.at(-1)).toMatchObject({ path: '/invocations', body: 'pieces' });
    expect(container.requests.at(-1)!.headers.accept).toBe('application/x-ndjson');
    expect(container.requests.at(-1)!.headers['content-type']).toBe('application/json');
    expect(container.requests.at(-1)!.headers.authorization).toBeUndefined();
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

  test('ends with ModelStreamError when eight minutes are over in the middle', async () => {
    const clock = stopTimers();
    try {
      const eightMinutes = (): void => clock.advance(480_000);
      const { parts, error } = await streamEndpoint(client, 'painter', 'stalls', undefined, eightMinutes);
      expect(parts).toEqual(['begun']);
      expect(error).toMatchObject({ name: 'ModelStreamError', ErrorCode: 'ModelInvocationTimeExceeded' });
    } finally {
      clock.goOn();
    }
  });

  test.each([
    ['fails', 500, 'out of clay'],
    ['refuses', 418, ''],
  ])('turns a container that %s into a ModelError', async (body, status, message) => {
    await expect(streamEndpoint(client, 'painter', body)).rejects.toMatchObject({
      name: 'ModelError',
      $metadata: { httpStatusCode: 424 },
      OriginalStatusCode: status,
      OriginalMessage: message,
      message: expect.stringMatching(
        new RegExp(`^Received (server|client) error \\(${status}\\) from primary`),
      ),
    });
  });

  test('answers ModelError for a container that drops the connection', async () => {
    await expect(streamEndpoint(client, 'painter', 'drops')).rejects.toMatchObject(modelError);
  });

  test('answers ModelError when a container has not answered after eight minutes', async () => {
    const clock = stopTimers();
    try {
      const before = container.requests.length;
      const refused = expect(streamEndpoint(client, 'painter', 'silent')).rejects.toMatchObject(modelError);
      while (container.requests.length === before) await immediate();
      clock.advance(480_000);
      await refused;
    } finally {
      clock.goOn();
    }
  });

  test('answers ServiceUnavailable when no container listens', async () => {
    await expect(streamEndpoint(client, 'gone', 'pieces')).rejects.toMatchObject({
      name: 'ServiceUnavailable',
      $metadata: { httpStatusCode: 503 },
    });
  });

  test.each(['nobody', 'constructor', 'a b/ö'])(
    'answers ValidationError for the unknown endpoint %s',
    async (name) => {
      await expect(streamEndpoint(client, name, 'pieces')).rejects.toMatchObject({
        name: 'ValidationError',
        $metadata: { httpStatusCode: 400 },
        message: expect.stringMatching(/^Endpoint .* of account \d{12} not found\.$/),
      });
    },
  );

  test('refuses a body that is too large', async () => {
    const body = 'x'.repeat(25_000_001);
    await expect(streamEndpoint(client, 'painter', body)).rejects.toMatchObject({ name: 'ValidationError' });
  });

  test('closes the container connection when the caller hangs up', async () => {
    const hangUp = new AbortController();
    await streamEndpoint(client, 'painter', 'stalls', hangUp.signal, () => hangUp.abort());
    await abandoned;
  });
});

describe('HTTP', () => {
  test('requests must be signed', async () => {
    const address = `${runtime.url}/endpoints/painter/invocations-response-stream`;
    const response = await fetch(address, { method: 'POST', body: 'pieces' });

    expect(response.status).toBe(403);
    expect(response.headers.get('x-amzn-errortype')).toBe('MissingAuthenticationTokenException');
  });

  test('other operations are refused by name', async () => {
    for (const command of [
      new InvokeEndpointCommand({ EndpointName: 'painter', Body: 'pieces' }),
      new InvokeEndpointAsyncCommand({ EndpointName: 'painter', InputLocation: 's3://a/b' }),
    ]) {
      await expect(client.send(command as InvokeEndpointCommand)).rejects.toMatchObject({
        name: 'UnknownOperationException',
      });
    }
  });

  test('closes with idle and streaming connections open', async () => {
    const other = await startSageMakerRuntime({ endpoints: { painter: container.url } });
    const idle = connect(Number(new URL(other.url).port), '127.0.0.1');
    await once(idle, 'connect');
    const otherClient = runtimeClient(other.url);
    const begins = Promise.withResolvers<void>();
    const streaming = streamEndpoint(otherClient, 'painter', 'stalls', undefined, () => begins.resolve());
    await begins.promise;
    await other.close();
    await abandoned;

    expect((await streaming).error).toBeDefined();
    idle.destroy();
    otherClient.destroy();
  });
});
