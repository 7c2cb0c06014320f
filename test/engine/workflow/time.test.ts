import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { billingPeriod } from '../../../shared/domain/billing-period.ts';
import { newRequestId } from '../../../shared/domain/ids.ts';
import { onceIdOf } from '../../../shared/store/once-store.ts';
import { readForOrder } from '../../../shared/store/order-reads.ts';
import { acceptGeneration } from '../../../shared/workflow/create-generation.ts';
import { sweep } from '../../../shared/workflow/sweep.ts';
import { emit, identity, license, newOrder, paint, run, startWorld, stored, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

beforeEach(() => {
  world.container.state.behaviour = paint;
  world.clock.shiftMs = 0;
});

/** Nothing held, and what was used is what was delivered. */
async function expectBooks(order: ReturnType<typeof newOrder>, credits: number): Promise<void> {
  const { period } = await stored(world, order);
  expect(period).toMatchObject({ used: credits, committed: credits });
}

test('a request that ends in the next period is charged to the period that held it', async () => {
  const { endMs } = billingPeriod(license.periodAnchorMs, Date.now());
  world.clock.shiftMs = endMs - Date.now() - 300;
  world.container.state.behaviour = async (request, res) => {
    emit(res, { event: 'started' });
    world.clock.shiftMs += 1000;
    await paint(request, res);
  };
  const order = newOrder(world);
  expect(await run(order, world.deps)).toMatchObject({
    usage: { creditsUsed: 2, periodResetDate: new Date(endMs).toISOString() },
  });
  const { licenseId } = order.license;
  expect(await world.deps.periods.get(licenseId, endMs)).toMatchObject({ used: 0, committed: 0 });
  await expectBooks(order, 2);
});

test('an idempotency key is free again after 24 hours, though its item is still there', async () => {
  const order = newOrder(world, { onceId: onceIdOf('daily') });
  await run(order, world.deps);
  world.clock.shiftMs = 24 * 3600 * 1000 - 5000;
  const early = await acceptGeneration({ ...order, requestId: newRequestId(Date.now()) }, world.deps);
  expect(early.outcome).toBe('replayed');
  world.clock.shiftMs = 24 * 3600 * 1000 + 5000;
  const next = { ...order, requestId: newRequestId(Date.now()) };
  expect(await run(next, world.deps)).toMatchObject({ requestId: next.requestId });
});

test('what an idempotency key stood for a day ago is not replayed', async () => {
  const onceId = onceIdOf('yesterday');
  const order = newOrder(world, { onceId });
  await run(order, world.deps);
  const { once } = await readForOrder(world.table, { identityId: null, callerId: order.keyId, onceId });
  world.clock.shiftMs = 24 * 3600 * 1000 + 5000;
  const next = { ...order, once, requestId: newRequestId(Date.now()) };
  expect(await run(next, world.deps)).toMatchObject({ requestId: next.requestId });
});

test('releasing leaves an idempotency key alone that a newer request took over', async () => {
  const onceId = onceIdOf('taken over');
  const order = newOrder(world, { onceId });
  await acceptGeneration(order, world.deps);
  world.clock.shiftMs = 25 * 3600 * 1000;
  const newer = { ...order, requestId: newRequestId(Date.now()) };
  expect(await run(newer, world.deps)).toMatchObject({ requestId: newer.requestId });
  await sweep(world.deps.generations, world.clock);
  expect((await stored(world, order)).generation?.status).toBe('TIMEOUT');
  const { once } = await readForOrder(world.table, {
    identityId: identity.identityId,
    callerId: order.keyId,
    onceId,
  });
  expect(once?.requestId).toBe(newer.requestId);
  await expectBooks(newer, 2);
});
