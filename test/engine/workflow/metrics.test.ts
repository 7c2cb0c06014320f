import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { modelServer } from '../../../shared/adapters/model-server.ts';
import { recordingMeter } from '../../../shared/http/meter.ts';
import { acceptGeneration } from '../../../shared/workflow/create-generation.ts';
import { sweep } from '../../../shared/workflow/sweep.ts';
import { emit, newOrder, paint, run, startWorld, stored, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

beforeEach(() => {
  world.container.state.behaviour = paint;
});

/** Runs one order and adds up what it measured. */
async function measured(order = newOrder(world), model = world.deps.model) {
  const meter = recordingMeter();
  const outcome = await run(order, { ...world.deps, model, meter }).catch((error: unknown) => error);
  const sums: Record<string, number> = {};
  for (const [metric, value] of meter.values) sums[metric] = (sums[metric] ?? 0) + value;
  return { outcome: outcome as any, sums };
}

test('a completed request measures its credits, its images and each phase', async () => {
  const { outcome, sums } = await measured();
  expect(outcome.outputs).toHaveLength(2);
  expect(Object.keys(sums).sort()).toEqual([
    'creditsReserved',
    'creditsSettled',
    'imageBytes',
    'imagesDelivered',
    'paintTime',
    'queueWait',
    'settleTime',
  ]);
  expect(sums).toMatchObject({ creditsReserved: 2, creditsSettled: 2, imagesDelivered: 2 });
  for (const phase of ['queueWait', 'paintTime', 'settleTime']) expect(sums[phase]).toBeGreaterThanOrEqual(0);
  expect(sums.imageBytes).toBeGreaterThan(0);
});

test('a request that fails measures that its credits were given back, and delivers nothing', async () => {
  world.container.state.behaviour = (_request, res) => {
    emit(res, { event: 'started' }, { event: 'failed', reason: 'model_error', message: 'no' });
    res.end();
  };
  const { sums } = await measured();
  expect(sums).toMatchObject({ creditsReserved: 2, creditsReleased: 2 });
  expect(sums).not.toHaveProperty('creditsSettled');
  expect(sums).not.toHaveProperty('imagesDelivered');
});

test('without a model, a request is refused with SERVICE_UNAVAILABLE and holds nothing afterwards', async () => {
  const order = newOrder(world);
  const { outcome, sums } = await measured(order, modelServer(null));
  expect(outcome).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(sums).toEqual({ creditsReserved: 2, creditsReleased: 2 });
  expect((await stored(world, order)).period).toMatchObject({ used: 0, committed: 0 });
  expect(await modelServer(null).probe()).toBe(false);
});

test('the sweep tells how many credits it gave back', async () => {
  const order = newOrder(world);
  await acceptGeneration(order, world.deps);
  const swept = await sweep(world.deps.generations, world.deps.clock, Number.MAX_SAFE_INTEGER);
  expect(swept).toEqual({ released: 1, creditsReleased: 2, failed: 0 });
  expect(await sweep(world.deps.generations, world.deps.clock, Number.MAX_SAFE_INTEGER)).toEqual({
    released: 0,
    creditsReleased: 0,
    failed: 0,
  });
});
