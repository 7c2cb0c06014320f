import { InvokeEndpointWithResponseStreamCommand } from '@aws-sdk/client-sagemaker-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startSageMakerRuntime } from '../../../../local/sagemaker/engine.ts';
import { scaleToZero } from '../../../../local/sagemaker/scale-to-zero.ts';
import { componentStatus } from '../../../../shared/model/component-status.ts';
import { credentials, region, setCredentials, signHeaders } from '../s3/support.ts';
import { runtimeClient, startContainer, type Container } from './support.ts';

let nowMs = Date.UTC(2026, 10, 24);
let container: Container;
let runtime: Awaited<ReturnType<typeof startSageMakerRuntime>>;
let client: ReturnType<typeof runtimeClient>;

beforeAll(async () => {
  container = await startContainer((response) => void response.writeHead(200).end('{"event":"started"}\n'));
  const scaling = scaleToZero({ idleMs: 60_000, coldStartMs: 20_000, now: () => nowMs });
  runtime = await startSageMakerRuntime({
    endpoints: { painter: container.url, other: container.url },
    component: { name: 'c', endpointName: 'painter', scaling, signing: { credentials, region } },
  });
  client = runtimeClient(runtime.url);
  setCredentials();
});
afterAll(async () => {
  client.destroy();
  await Promise.all([runtime.close(), container.close()]);
});
/** Each test begins long after the one before, and so with a model that is scaled to zero. */
beforeEach(() => {
  nowMs += 3_600_000;
  container.requests.length = 0;
});

/** @returns the status of the answer. */
async function call(InferenceComponentName?: string, EndpointName = 'painter') {
  const input = { EndpointName, InferenceComponentName, Body: '{}' };
  const answer = await client.send(new InvokeEndpointWithResponseStreamCommand(input));
  for await (const _ of answer.Body!);
  return answer.$metadata.httpStatusCode;
}

const refusal = (message: string) => ({
  name: 'ValidationError',
  message: expect.stringContaining(message),
  $metadata: { httpStatusCode: 400 },
});
const noCapacity = refusal('Inference Component has no capacity to process this request.');
const statusOf = (name = 'c') => componentStatus(name, `${runtime.url}/`).get();

test('a call finds no capacity at zero, which starts a copy, and in the cold start; then it is taken', async () => {
  await expect(call('c')).rejects.toMatchObject(noCapacity);
  nowMs += 19_999;
  await expect(call('c')).rejects.toMatchObject(noCapacity);
  expect(container.requests).toEqual([]);
  nowMs += 1;
  expect(await call('c')).toBe(200);
});

test('who describes it finds it asleep, waking and ready, and starts nothing', async () => {
  expect((await statusOf()).state).toBe('asleep');
  nowMs += 20_000;
  expect((await statusOf()).state).toBe('asleep');
  await expect(call('c')).rejects.toMatchObject(noCapacity);
  expect((await statusOf()).state).toBe('waking');
  nowMs += 20_000;
  expect((await statusOf()).state).toBe('ready');
  nowMs += 70_000;
  expect(await statusOf()).toEqual({ state: 'asleep', changedAtMs: nowMs - 10_000 });
});

test('its endpoint wants its name, and another endpoint is never scaled to zero', async () => {
  const missing = refusal('Inference Component Name header is required');
  await expect(call()).rejects.toMatchObject(missing);
  await expect(call('d')).rejects.toMatchObject(refusal('Inference Component d of account'));
  expect(await call(undefined, 'other')).toBe(200);
});

describe('the control plane', () => {
  const named = (name: string) => JSON.stringify({ InferenceComponentName: name });

  /** @returns the status and the body. */
  async function ask(changes: { body?: string; sent?: string; secret?: string; target?: string } = {}) {
    const { body = named('c'), sent = body, secret = credentials.secretAccessKey } = changes;
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': changes.target ?? 'SageMaker.DescribeInferenceComponent',
    };
    const signer = { service: 'sagemaker', credentials: { ...credentials, secretAccessKey: secret } };
    const signed = await signHeaders(runtime.url, { method: 'POST', path: '/', headers, body }, signer);
    const answer = await fetch(runtime.url, { method: 'POST', headers: signed, body: sent });
    return [answer.status, await answer.json()];
  }

  test('answers as SageMaker does', async () => {
    expect(await ask()).toEqual([
      200,
      {
        InferenceComponentName: 'c',
        InferenceComponentArn: `arn:aws:sagemaker:${region}:000000000000:inference-component/c`,
        EndpointName: 'painter',
        EndpointArn: `arn:aws:sagemaker:${region}:000000000000:endpoint/painter`,
        VariantName: 'AllTraffic',
        InferenceComponentStatus: 'InService',
        RuntimeConfig: { CurrentCopyCount: 0, DesiredCopyCount: 0 },
        LastModifiedTime: expect.any(Number),
      },
    ]);
  });

  test.each([
    ['a wrong secret', { secret: 'wrong' }, 403, 'InvalidSignatureException'],
    ['a body that was not signed', { sent: named('d') }, 403, 'InvalidSignatureException'],
    ['another component', { body: named('d') }, 400, 'ValidationException'],
    ['half a body', { body: '{"InferenceComponentName":' }, 400, 'ValidationException'],
    ['another operation', { target: 'SageMaker.DeleteEndpoint' }, 400, 'UnknownOperationException'],
  ])('refuses %s', async (_what, changes, status, type) => {
    expect(await ask(changes)).toMatchObject([status, { __type: type }]);
  });

  test('refuses by an error for who asks how the component is', async () => {
    await expect(statusOf('d')).rejects.toThrow('SageMaker answered with status 400');
  });
});
