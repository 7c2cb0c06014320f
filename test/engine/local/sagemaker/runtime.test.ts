import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import { InvokeEndpointCommand, type SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { startSageMakerRuntime } from '../../../../local/sagemaker/engine.ts';
import { runtimeClient, startContainer, streamEndpoint, type Container } from './support.ts';

let container: Container;
let runtime: Awaited<ReturnType<typeof startSageMakerRuntime>>;
let client: SageMakerRuntimeClient;
/** Resolves when the container's connection is closed under it. */
let abandoned: Promise<unknown>;
/** Lets the container write its next piece. */
let goOn = (): void => undefined;

beforeAll(async () => {
  container = await startContainer((response, body) => {
    abandoned = once(response, 'close');
    void answers[body]?.(response);
  });
  const gone = await startContainer(() => undefined);
  await gone.close();
  runtime = await startSageMakerRuntime({ endpoints: { painter: container.url, gone: gone.url } });
  client = runtimeClient(runtime.url);
});
afterEach(() => void jest.useRealTimers());
afterAll(async () => {
  client.destroy();
  await Promise.all([runtime.close(), container.close()]);
});

const pieces = ['{"event":"sta', 'rted"}\n{"event"', ':"progress"}\n'];

/** What the container does, by the request's body. */
const answers: Record<string, (response: ServerResponse) => unknown> = {
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
    for (let i = 0; i < 64; i += 1) response.write(String(i % 10).repeat(65_536));
    response.end();
  },
  broken: (response) => void response.write('begun', () => setTimeout(() => response.destroy(), 50)),
  fails: (response) => response.writeHead(500).end('out of clay'),
  refuses: (response) => response.writeHead(418).end(),
  drops: (response) => response.destroy(),
  silent: () => undefined,
  stalls: (response) => response.write('begun'),
};

/** Stops the timers of this process, the runtime's too. */
function stopTimers(): void {
  const real = [
    'nextTick',
    'setImmediate',
    'clearImmediate',
    'queueMicrotask',
    'Date',
    'performance',
  ] as const;
  jest.useFakeTimers({ doNotFake: [...real] });
}
const pass8Minutes = (): void => void jest.advanceTimersByTime(480_000);

test('pieces are passed on as they come, cut wherever they were cut', async () => {
  // The container writes each piece only once the one before has arrived here.
  const { parts, contentType, error } = await streamEndpoint(client, 'painter', 'pieces', {
    onPart: () => goOn(),
  });
  expect([parts, contentType, error]).toEqual([pieces, 'application/x-ndjson', undefined]);
  const { path, body, headers } = container.requests.at(-1)!;
  expect([path, body, headers.authorization]).toEqual(['/invocations', 'pieces', undefined]);
  expect([headers.accept, headers['content-type']]).toEqual(['application/x-ndjson', 'application/json']);
});

test('more than any buffer holds is passed on', async () => {
  const { parts, error } = await streamEndpoint(client, 'painter', 'flood');
  expect([parts.join('').length, parts.join('').slice(-5), error]).toEqual([64 * 65_536, '33333', undefined]);
});

test.each([
  ['the container goes away', 'broken', (): void => undefined, 'StreamBroken'],
  ['eight minutes are over', 'stalls', pass8Minutes, 'ModelInvocationTimeExceeded'],
] as const)('a stream ends with ModelStreamError when %s', async (_when, body, onPart, ErrorCode) => {
  if (body === 'stalls') stopTimers();
  const { parts, error } = await streamEndpoint(client, 'painter', body, { onPart });
  expect([parts, error]).toMatchObject([['begun'], { name: 'ModelStreamError', ErrorCode }]);
});

test.each([
  ['fails', 500, 'out of clay'],
  ['refuses', 418, ''],
  ['drops', 0, expect.any(String)],
  ['silent', 0, expect.any(String)],
])(
  'a container that answers with an error or not at all is a ModelError: %s',
  async (body, status, message) => {
    if (body === 'silent') stopTimers();
    const before = container.requests.length;
    const refused = expect(streamEndpoint(client, 'painter', body)).rejects.toMatchObject({
      name: 'ModelError',
      $metadata: { httpStatusCode: 424 },
      OriginalStatusCode: status,
      OriginalMessage: message,
      message: expect.stringMatching(
        new RegExp(`^Received (server|client) error \\(${status}\\) from primary`),
      ),
    });
    while (container.requests.length === before) await immediate();
    if (body === 'silent') pass8Minutes();
    await refused;
  },
);

test.each([
  ['no container listens', 'gone', 'pieces', 'ServiceUnavailable', 503],
  ['the endpoint is not known', 'nobody', 'pieces', 'ValidationError', 400],
  ['the endpoint is what every object has', 'constructor', 'pieces', 'ValidationError', 400],
  ['the body is too large', 'painter', 'x'.repeat(25_000_001), 'ValidationError', 400],
])('a call is refused where %s', async (_where, endpoint, body, name, httpStatusCode) => {
  await expect(streamEndpoint(client, endpoint, body)).rejects.toMatchObject({
    name,
    $metadata: { httpStatusCode },
  });
});

test('the container connection is closed when the caller hangs up', async () => {
  const hangUp = new AbortController();
  await streamEndpoint(client, 'painter', 'stalls', { signal: hangUp.signal, onPart: () => hangUp.abort() });
  await abandoned;
});

test('requests must be signed, and other operations are refused by name', async () => {
  const address = `${runtime.url}/endpoints/painter/invocations-response-stream`;
  const { status } = await fetch(address, { method: 'POST', body: 'pieces' });
  expect(status).toBe(403);
  const other = new InvokeEndpointCommand({ EndpointName: 'painter', Body: 'pieces' });
  await expect(client.send(other)).rejects.toMatchObject({ name: 'UnknownOperationException' });
});
