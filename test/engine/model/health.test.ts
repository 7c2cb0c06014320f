import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { startSageMakerRuntime } from '../../../local/sagemaker/engine.ts';
import { scaleToZero } from '../../../local/sagemaker/scale-to-zero.ts';
import { modelServer } from '../../../shared/model/client.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import { coldStartStore } from '../../../shared/model/cold-start-store.ts';
import { coldStartNotes } from '../../../shared/model/cold-start-notes.ts';
import { useEngines } from '../generations/use-engines.ts';
import { newCommand, run } from '../generations/fixture.ts';

const fixture = useEngines();
const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
let nowMs = Date.now();
let runtime: Awaited<ReturnType<typeof startSageMakerRuntime>>;
let handler: (event: object, context: object) => Promise<{ body: string }>;
const lines: string[] = [];

beforeAll(async () => {
  const model = scaleToZero({ idleMs: 900_000, coldStartMs: 240_000, now: () => nowMs });
  const component = {
    name: 'c',
    endpointName: 'model',
    scaling: model,
    signing: { credentials, region: 'us-east-1' },
  };
  runtime = await startSageMakerRuntime({ endpoints: { model: fixture.container.url }, component });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: runtime.url,
    AWS_ENDPOINT_URL_SAGEMAKER: runtime.url,
    TABLE_NAME: fixture.table.name,
    MODEL_ENDPOINT_NAME: 'model',
    MODEL_COMPONENT_NAME: 'c',
  });
  fixture.clock.now = () => nowMs;
  jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  setLogSink((line) => lines.push(line));
  ({ handler } = (await import('../../../functions/get-health.ts')) as never);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await runtime.close();
});
beforeEach(() => void (lines.length = 0));

async function health(): Promise<any> {
  const answer = await handler({ httpMethod: 'GET', multiValueHeaders: {}, path: '/health' }, {});
  return JSON.parse(answer.body);
}

/** The same once what was last seen is old. */
function healthNow(): Promise<any> {
  nowMs += 10_000;
  return health();
}

const up = (model: string, modelReadyInSeconds: number | null = null) => {
  return { status: 'ok', api: 'up', inference: 'up', model, modelReadyInSeconds };
};

test('a model is scaled to zero and starts again: health says so, and the time, and never calls it', async () => {
  expect(await health()).toEqual(up('ready'));
  nowMs += 900_000;
  expect(await healthNow()).toEqual(up('asleep'));
  nowMs += 900_000;
  expect(await healthNow()).toEqual(up('asleep'));
  expect(fixture.container.state.calls).toBe(0);

  const { clock } = fixture;
  const notes = coldStartNotes({ store: coldStartStore(fixture.table), clock, onFault: () => {} });
  const model = modelServer('model', { clock, component: { name: 'c', notes } });
  const failed = await run(newCommand(fixture), { ...fixture.deps, model });
  expect(failed).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 300 });
  // What was seen is kept for ten seconds.
  expect(await health()).toEqual(up('asleep'));
  expect(await healthNow()).toEqual(up('waking', 290));
  nowMs += 5000;
  expect(await health()).toEqual(up('waking', 285));
  nowMs += 225_000;
  expect(await healthNow()).toEqual(up('ready'));
  expect(fixture.container.state.calls).toBe(0);
});

test('a control plane that gives no answer is a model that can not be had, and the log says why', async () => {
  process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
  await runtime.close();
  expect(await healthNow()).toEqual({ ...up('unavailable'), status: 'degraded', inference: 'down' });
  expect(lines.join('\n')).toContain('model not described');
});
