import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { onceIdOf } from '../../../shared/store/once-store.ts';
import { readForOrder } from '../../../shared/store/order-reads.ts';
import { acceptGeneration } from '../../../shared/workflow/create-generation.ts';
import { sweep } from '../../../shared/workflow/sweep.ts';
import { onTheLine } from '../../support/on-the-line.ts';
import { newOrder, paint, run, startWorld, stored, type World } from './world.ts';

let world: World;

/** What happens to the n-th transaction from now on: before it is sent, or after it was applied. */
let faults: { at: number; when: 'before' | 'after'; error: Error }[] = [];
let transactions = 0;
/** How long QUEUED → PROCESSING takes, and how often it meets a transaction first. */
let slowStartMs = 0;
let startConflicts = 0;
/** Whether the books can be read: what an answer tells of the usage is. */
let areBooksAway = false;

beforeAll(async () => {
  world = await startWorld();
  // Real calls to the real engine; only what the network might do to them is added.
  onTheLine(world.table, async ({ name, input, send }) => {
    if (name === 'UpdateItemCommand') {
      await new Promise((resolve) => setTimeout(resolve, slowStartMs));
      if (startConflicts-- > 0) throw new TransactionConflictException({ $metadata: {}, message: '' });
    }
    const isOfBooks = JSON.stringify(input).includes('PERIOD#');
    if (areBooksAway && name === 'GetItemCommand' && isOfBooks) throw lost();
    if (name !== 'TransactWriteItemsCommand') return void (await send());
    transactions += 1;
    const fault = faults.find(({ at }) => at === transactions);
    if (fault?.when === 'before') throw fault.error;
    await send();
    if (fault?.when === 'after') throw fault.error;
  });
});

afterAll(() => world.close());

beforeEach(() => {
  faults = [];
  transactions = 0;
  slowStartMs = 0;
  startConflicts = 0;
  areBooksAway = false;
  world.container.state.behaviour = paint;
  world.container.state.calls = 0;
  world.clock.shiftMs = 0;
});

const lost = () => new Error('socket hang up');

function conflict(): Error {
  return new TransactionCanceledException({
    $metadata: {},
    message: 'conflict',
    CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
  });
}

/** Nothing held, and what was used is what was delivered. */
async function expectBooks(order: ReturnType<typeof newOrder>, credits: number): Promise<void> {
  const { period } = await stored(world, order);
  expect(period).toMatchObject({ used: credits, committed: credits });
}

describe('a write whose answer is lost happens once all the same', () => {
  test('the reservation was applied: the request runs and is charged once', async () => {
    faults = [{ at: 1, when: 'after', error: lost() }];
    const order = newOrder(world);
    expect(await run(order, world.deps)).toMatchObject({ usage: { creditsUsed: 2 } });
    await expectBooks(order, 2);
  });

  describe('the reservation was applied, and is tried again: it meets itself', () => {
    // The answer is lost to what looks like a conflict, so that the store itself tries again.
    beforeEach(() => void (faults = [{ at: 1, when: 'after', error: conflict() }]));

    test('and not the credit limit, though it took the last credits', async () => {
      const order = newOrder(world);
      order.license.creditsLimit = 2;
      expect(await run(order, world.deps)).toMatchObject({ usage: { creditsUsed: 2, creditsRemaining: 0 } });
      expect(transactions).toBe(3);
      await expectBooks(order, 2);
    });

    test('and not a request in progress with its Idempotency-Key', async () => {
      const order = newOrder(world, { onceId: onceIdOf('mine') });
      order.license.creditsLimit = 2;
      expect(await run(order, world.deps)).toMatchObject({ usage: { creditsUsed: 2 } });
      await expectBooks(order, 2);
    });
  });

  test('another request has its id: SERVICE_UNAVAILABLE, and the other is left alone', async () => {
    const order = newOrder(world);
    await acceptGeneration(order, world.deps);
    const twin = { ...order, body: { ...order.body, prompt: 'another' } };
    await expect(acceptGeneration(twin, world.deps)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const { generation, period } = await stored(world, order);
    expect([generation!.prompt, period.committed]).toEqual(['x', 2]);
    await sweep(world.deps.generations, world.clock, Number.MAX_SAFE_INTEGER);
  });

  test('the reservation was not applied: SERVICE_UNAVAILABLE, nothing stored, the model never called', async () => {
    faults = [{ at: 1, when: 'before', error: lost() }];
    const order = newOrder(world);
    await expect(run(order, world.deps)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await stored(world, order)).generation).toBeNull();
    expect(world.container.state.calls).toBe(0);
  });

  test.each(['before', 'after'] as const)(
    'the charge broke off %s it was applied: charged once',
    async (when) => {
      faults = [{ at: 2, when, error: lost() }];
      const order = newOrder(world);
      expect(await run(order, world.deps)).toMatchObject({ usage: { creditsUsed: 2, creditsCharged: 2 } });
      expect(world.container.state.calls).toBe(1);
      await expectBooks(order, 2);
    },
  );

  test.each(['before', 'after'] as const)(
    'the release broke off %s it was applied: given back once',
    async (when) => {
      faults = [{ at: 2, when, error: lost() }];
      world.container.state.behaviour = (_request, res) => void res.writeHead(500).end();
      const order = newOrder(world);
      expect(await run(order, world.deps)).toMatchObject({ code: 'GENERATION_FAILED' });
      await expectBooks(order, 0);
    },
  );

  test('the charge can never be stored: the request ends FAILED and nothing is held', async () => {
    faults = [2, 3, 4, 5].map((at) => ({ at, when: 'before', error: lost() }));
    const order = newOrder(world);
    expect(await run(order, world.deps)).toMatchObject({ code: 'GENERATION_FAILED', status: 500 });
    expect((await stored(world, order)).generation?.status).toBe('FAILED');
    await expectBooks(order, 0);
  });

  test('neither charge nor release can be stored: the sweep gives the credits back after the lease', async () => {
    faults = Array.from({ length: 8 }, (_, i) => ({ at: i + 2, when: 'before', error: lost() }));
    const order = newOrder(world);
    expect(await run(order, world.deps)).toMatchObject({ code: 'GENERATION_FAILED' });
    const { generation, period } = await stored(world, order);
    expect([generation!.status, period.committed]).toEqual(['PROCESSING', 2]);
    faults = [];
    expect(await sweep(world.deps.generations, world.clock)).toMatchObject({ released: 0, failed: 0 });
    world.clock.shiftMs = generation!.leaseUntilMs - Date.now() + 1;
    expect(await sweep(world.deps.generations, world.clock)).toEqual({
      released: 1,
      creditsReleased: 2,
      failed: 0,
    });
    expect((await stored(world, order)).generation?.status).toBe('TIMEOUT');
    await expectBooks(order, 0);
  });
});

test('the charge is stored and its answer can not be put together: nobody is told to send the request again', async () => {
  areBooksAway = true;
  const order = newOrder(world);
  const outcome = (await run(order, world.deps)) as any;
  expect([outcome.code, outcome.status, outcome.retryAfterSeconds]).toEqual([
    'GENERATION_FAILED',
    500,
    undefined,
  ]);
  expect(outcome.message).toMatch(/is finished and was charged.* Re-fetch the request\.$/);
  areBooksAway = false;
  expect((await stored(world, order)).generation?.status).toBe('COMPLETED');
  await expectBooks(order, 2);
});

test('a model that is faster than the table: the charge waits until the start is stored', async () => {
  slowStartMs = 300;
  const order = newOrder(world);
  expect(await run(order, world.deps)).toMatchObject({ usage: { creditsUsed: 2 } });
  expect(transactions).toBe(2);
});

describe('a conflict between transactions', () => {
  test('is tried again and is never a credit limit', async () => {
    faults = [1, 2, 4, 5].map((at) => ({ at, when: 'before', error: conflict() }));
    const order = newOrder(world);
    expect(await run(order, world.deps)).toMatchObject({ usage: { creditsUsed: 2 } });
    await expectBooks(order, 2);
  });

  test('that the write of the beginning meets is tried again', async () => {
    startConflicts = 3;
    const order = newOrder(world);
    expect(await run(order, world.deps)).toMatchObject({ usage: { creditsUsed: 2 } });
    expect(world.container.state.calls).toBe(1);
    await expectBooks(order, 2);
  });

  test('that the write of the beginning meets without an end: nothing is charged, nothing stays held', async () => {
    startConflicts = 100;
    const order = newOrder(world);
    expect(await run(order, world.deps)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await stored(world, order)).generation).toMatchObject({ status: 'FAILED', startedAtMs: null });
    await expectBooks(order, 0);
  });

  test('without an end is SERVICE_UNAVAILABLE and holds nothing', async () => {
    faults = Array.from({ length: 20 }, (_, i) => ({ at: i + 1, when: 'before', error: conflict() }));
    const order = newOrder(world);
    await expect(run(order, world.deps)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await stored(world, order)).generation).toBeNull();
  });

  test('without an end, after a reservation whose answer got lost: it is found, and the request runs', async () => {
    faults = Array.from({ length: 13 }, (_, i) => ({ at: i + 1, when: 'before', error: conflict() }));
    faults[2] = { at: 3, when: 'after', error: conflict() };
    const order = newOrder(world);
    // The attempts take longer than the other tests' deadline.
    const deps = { ...world.deps, deadlineSeconds: 30 };
    expect(await run(order, deps)).toMatchObject({ usage: { creditsUsed: 2 } });
    await expectBooks(order, 2);
  });
});

describe('sweeping', () => {
  async function abandon(): Promise<ReturnType<typeof newOrder>> {
    const order = newOrder(world);
    await acceptGeneration(order, world.deps);
    return order;
  }

  test('twice at once, a request is released once', async () => {
    const orders = await Promise.all([abandon(), abandon(), abandon()]);
    world.clock.shiftMs = 60_000;
    const results = await Promise.all([1, 2, 3].map(() => sweep(world.deps.generations, world.clock)));
    expect(results.every(({ failed }) => failed === 0)).toBe(true);
    for (const order of orders) {
      expect((await stored(world, order)).generation?.status).toBe('TIMEOUT');
      await expectBooks(order, 0);
    }
  });

  test('leaves a request alone whose lease still runs', async () => {
    const order = await abandon();
    await sweep(world.deps.generations, world.clock);
    expect((await stored(world, order)).generation?.status).toBe('QUEUED');
    world.clock.shiftMs = 60_000;
    await sweep(world.deps.generations, world.clock);
  });

  test('before a late handler: the handler finds the request ended and charges nothing', async () => {
    world.container.state.behaviour = async (request, res) => {
      world.clock.shiftMs = 60_000;
      await sweep(world.deps.generations, world.clock);
      await paint(request, res);
    };
    const order = newOrder(world);
    expect(await run(order, world.deps)).toMatchObject({ code: 'TIMEOUT', status: 504 });
    await expectBooks(order, 0);
  });

  test('frees the idempotency key too', async () => {
    const onceId = onceIdOf('abandoned');
    const order = newOrder(world, { onceId });
    await acceptGeneration(order, world.deps);
    world.clock.shiftMs = 60_000;
    await sweep(world.deps.generations, world.clock);
    const { once } = await readForOrder(world.table, { identityId: null, callerId: order.keyId, onceId });
    expect(once).toBeNull();
  });
});
