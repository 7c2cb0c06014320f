import { InvokeEndpointWithResponseStreamCommand } from '@aws-sdk/client-sagemaker-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startSageMakerRuntime } from '../../../../local/sagemaker/engine.ts';
import { sleeper } from '../../../../local/sagemaker/sleeper.ts';
import { componentStatus } from '../../../../shared/model/component-status.ts';
import { credentials, region, signHeaders } from '../s3/support.ts';
import { runtimeClient, startContainer, type Container } from './support.ts';

const startMs = Date.UTC(2026, 10, 24);
let nowMs = startMs;
let container: Container;
let runtime: Awaited<ReturnType<typeof startSageMakerRuntime>>;
let client: ReturnType<typeof runtimeClient>;

beforeAll(async () => {
  container = await startContainer((response) => void response.writeHead(200).end('{"event":"started"}\n'));
  const model = sleeper({ sleepMs: 60_000, wakeMs: 20_000, now: () => nowMs });
  runtime = await startSageMakerRuntime({
    endpoints: { painter: container.url, other: container.url },
    component: { name: 'c', endpointName: 'painter', sleeper: model, signing: { credentials, region } },
  });
  client = runtimeClient(runtime.url);
  Object.assign(process.env, {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
});
afterAll(async () => {
  client.destroy();
  await Promise.all([runtime.close(), container.close()]);
});
/** Each test begins long after the one before, and so with a model that sleeps. */
beforeEach(() => {
  nowMs += 3_600_000;
  container.requests.length = 0;
});

/** The status of the answer, or the error. */
async function call(InferenceComponentName?: string, EndpointName = 'painter') {
  const command = new InvokeEndpointWithResponseStreamCommand({
    EndpointName,
    ...(InferenceComponentName === undefined ? {} : { InferenceComponentName }),
    Body: '{}',
  });
  try {
    const answer = await client.send(command);
    for await (const _ of answer.Body!);
    return answer.$metadata.httpStatusCode;
  } catch (error) {
    return error;
  }
}

const noCapacity = {
  name: 'ValidationError',
  message: expect.stringContaining('Inference Component has no capacity to process this request.'),
  $metadata: { httpStatusCode: 400 },
};
const describeIt = (name = 'c') => componentStatus(name, `${runtime.url}/`).get();
const state = async (name?: string) => (await describeIt(name)).state;

test('a call finds no capacity while it sleeps, which wakes it, and while it wakes; then it is taken', async () => {
  expect(await call('c')).toMatchObject(noCapacity);
  nowMs += 19_999;
  expect(await call('c')).toMatchObject(noCapacity);
  expect(container.requests).toEqual([]);
  nowMs += 1;
  expect(await call('c')).toBe(200);
  expect(container.requests).toHaveLength(1);
});

test('describing it tells asleep, waking and ready, and wakes nothing', async () => {
  expect(await state()).toBe('asleep');
  nowMs += 20_000;
  expect(await state()).toBe('asleep');
  await call('c');
  expect(await state()).toBe('waking');
  nowMs += 20_000;
  expect(await state()).toBe('ready');
  expect(await call('c')).toBe(200);
  nowMs += 70_000;
  expect(await describeIt()).toEqual({ state: 'asleep', changedAtMs: nowMs - 10_000 });
  expect(container.requests).toHaveLength(1);
});

test('its endpoint wants its name, and another endpoint never sleeps', async () => {
  const missing = expect.stringContaining('Inference Component Name header is required');
  expect(await call()).toMatchObject({ name: 'ValidationError', message: missing });
  expect(await call('d')).toMatchObject({ name: 'ValidationError', message: expect.stringContaining('d') });
  expect(await state()).toBe('asleep');
  expect(await call(undefined, 'other')).toBe(200);
});

describe('the control plane', () => {
  const target = 'SageMaker.DescribeInferenceComponent';
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };

  /** @returns the status and the body. */
  async function ask(body: string, changes: { sent?: string; secret?: string; target?: string } = {}) {
    const { sent = body, secret = credentials.secretAccessKey } = changes;
    const asked = { ...headers, 'x-amz-target': changes.target ?? target };
    const signer = { service: 'sagemaker', credentials: { ...credentials, secretAccessKey: secret } };
    const signed = await signHeaders(
      runtime.url,
      { method: 'POST', path: '/', headers: asked, body },
      signer,
    );
    const answer = await fetch(runtime.url, { method: 'POST', headers: signed, body: sent });
    return [answer.status, await answer.json()];
  }

  const named = (name: string) => JSON.stringify({ InferenceComponentName: name });

  test('answers as SageMaker does', async () => {
    expect(await ask(named('c'))).toEqual([
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
    ['a wrong secret', { secret: 'wrong' }],
    ['a body that was not signed', { sent: named('d') }],
  ])('refuses %s', async (_what, changes) => {
    expect(await ask(named('c'), changes)).toMatchObject([403, { __type: 'InvalidSignatureException' }]);
  });

  test.each([
    [named('d'), 'ValidationException'],
    ['{"InferenceComponentName":', 'ValidationException'],
  ])('knows no other component: %s', async (body, type) => {
    expect(await ask(body)).toMatchObject([400, { __type: type }]);
  });

  test('refuses other operations by name', async () => {
    const answer = await ask('{}', { target: 'SageMaker.DeleteEndpoint' });
    expect(answer).toMatchObject([400, { __type: 'UnknownOperationException' }]);
  });

  test('what it refuses is an error for who asks how the component is', async () => {
    await expect(state('d')).rejects.toThrow('SageMaker answered with status 400');
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
    try {
      await expect(state()).rejects.toThrow('SageMaker answered with status 403');
    } finally {
      process.env['AWS_SECRET_ACCESS_KEY'] = credentials.secretAccessKey;
    }
  });
});
