import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { modelServer, type ModelServer } from '../../../shared/adapters/model-server.ts';
import { loggableError } from '../../../shared/http/log.ts';
import type { Breaker } from '../../../shared/domain/breaker.ts';
import { onceIdOf } from '../../../shared/store/once-store.ts';
import { readForOrder } from '../../../shared/store/order-reads.ts';
import { acceptGeneration } from '../../../shared/workflow/create-generation.ts';
import { emit, newOrder, paint, run, startWorld, stored, type Behaviour, type World } from './world.ts';

let world: World;
/** Every state that the breaker entered. */
let states: Breaker[];

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

beforeEach(() => {
  world.clock.shiftMs = 0;
  world.deps.deadlineSeconds = 2;
  useModel('model');
});

function useModel(endpointName: string): ModelServer {
  states = [];
  const onBreaker = (breaker: Breaker) => void states.push(breaker);
  world.deps.model = modelServer(endpointName, { clock: world.clock, onBreaker });
  return world.deps.model;
}

/** Runs an order of a new license. @returns its answer or error, and how often the container was called for it. */
async function request(behaviour: Behaviour = paint, changes: Parameters<typeof newOrder>[1] = {}) {
  Object.assign(world.container.state, { behaviour, calls: 0 });
  const order = newOrder(world, changes);
  const outcome = (await run(order, world.deps).catch((error: unknown) => error)) as any;
  return { order, outcome, calls: world.container.state.calls };
}

/** Several at once: in whatever order they end, they end in a row. */
async function together(times: number, behaviour: Behaviour): Promise<void> {
  world.container.state.behaviour = behaviour;
  const runs = Array.from({ length: times }, () => run(newOrder(world), world.deps));
  await Promise.all(runs);
}

const started = { event: 'started' };
const fails: Behaviour = (_request, res) => void res.writeHead(500).end('{}');
const isBusy: Behaviour = (_request, res) => {
  emit(res, { event: 'failed', reason: 'busy', message: '' });
  res.end();
};
const isReady: Behaviour = (_request, res) => {
  emit(res, { event: 'ready', modelVersion: '1' });
  res.end();
};
const isProbe = (body: object) => 'probe' in body;

/** Opens it, and lets a probe be due. */
async function openUntilProbe(): Promise<void> {
  await together(5, fails);
  world.clock.shiftMs += 10_000;
}

describe('five in a row open it', () => {
  const failures: Record<string, Behaviour> = {
    'an error of the container': fails,
    'a container that hangs up': (_request, res) => void res.destroy(),
    'no answer at all': (_request, res) => void res.end(),
    'no closing event': (_request, res) => {
      emit(res, started);
      res.end();
    },
    'a stream that breaks': (_request, res) => {
      emit(res, started);
      setTimeout(() => res.destroy(), 20);
    },
    'what is not the protocol': (_request, res) => void res.end('nonsense\n'),
    'silence until the deadline': () => {},
  };
  test.each(Object.entries(failures))('%s', async (_what, behaviour) => {
    world.deps.deadlineSeconds = 1;
    await together(4, behaviour);
    expect(states).toEqual([]);
    await together(1, behaviour);
    expect(states).toMatchObject([{ state: 'open', reason: 'failing' }]);
  });

  test.each(['nobody', 'no-such-endpoint'])(
    'an endpoint that can not be called: %s',
    async (endpointName) => {
      useModel(endpointName);
      await together(5, paint);
      expect(states).toMatchObject([{ state: 'open', reason: 'failing' }]);
    },
  );
});

describe('however many there are, they say nothing of the backend', () => {
  test.each<[string, Behaviour]>([
    ['containers that are busy', isBusy],
    ['requests that the container refuses', (_request, res) => void res.writeHead(400).end('{}')],
    ['deadlines after the beginning', (_request, res) => emit(res, started)],
  ])('%s', async (_what, behaviour) => {
    world.deps.deadlineSeconds = 1;
    await together(6, behaviour);
    expect(states).toEqual([]);
  });

  test('beginnings that we could not store', async () => {
    const { deps } = world;
    const broken = { ...deps.generations, start: () => Promise.reject(new Error('the table is away')) };
    world.container.state.behaviour = paint;
    const runs = Array.from({ length: 6 }, () => run(newOrder(world), { ...deps, generations: broken }));
    for (const outcome of await Promise.all(runs)) expect(outcome).toMatchObject({ status: 500 });
    expect(states).toEqual([]);
  });

  test('runs that were ended because the service stops', async () => {
    const stopper = new AbortController();
    const called = Promise.withResolvers<void>();
    world.container.state.behaviour = () => called.resolve();
    const deps = { ...world.deps, stopping: stopper.signal };
    const runs = Array.from({ length: 6 }, () => run(newOrder(world), deps));
    await called.promise;
    stopper.abort();
    for (const outcome of await Promise.all(runs)) expect(outcome).toMatchObject({ status: 503 });
    expect(states).toEqual([]);
  });
});

test.each<[string, Behaviour, boolean]>([
  ['a good one', paint, true],
  [
    'one that fails for a reason of its own',
    (_request, res) => {
      emit(res, started, { event: 'failed', reason: 'model_error', message: 'no' });
      res.end();
    },
    true,
  ],
  ['one that finds it busy', isBusy, false],
])('four failures, %s and another failure', async (_what, between, startsAnew) => {
  await together(4, fails);
  await request(between);
  await request(fails);
  expect(states.length).toBe(startsAnew ? 0 : 1);
});

describe('while it is open', () => {
  test('503 with the seconds until a probe, before anything is held and without a call', async () => {
    await together(5, fails);
    const { order, outcome, calls } = await request();
    expect([outcome.code, outcome.status]).toEqual(['SERVICE_UNAVAILABLE', 503]);
    expect(outcome.message).toBe('Image generation is not available right now. Try again shortly.');
    expect(outcome.retryAfterSeconds).toBeGreaterThanOrEqual(8);
    expect(outcome.retryAfterSeconds).toBeLessThanOrEqual(10);
    expect(loggableError(outcome.cause)).toMatchObject([
      { message: 'model server: not called while it is failing' },
    ]);
    expect(calls).toBe(0);
    expect(await stored(world, order)).toMatchObject({ generation: null, period: { committed: 0 } });
  });

  test('what is wrong with the request itself is told first', async () => {
    const done = newOrder(world, { onceId: onceIdOf('done') });
    await run(done, world.deps);
    await together(5, fails);
    const refusal = async (changes: Parameters<typeof newOrder>[1]) =>
      (await request(paint, changes)).outcome;
    const { body, identity, license } = newOrder(world);
    expect(await refusal({ body: { ...body, prompt: 7 } })).toMatchObject({ code: 'INVALID_PARAMETERS' });
    const starter = { ...license, tier: 'starter' } as const;
    expect(await refusal({ license: starter })).toMatchObject({ code: 'TIER_LIMIT' });
    const poor = { ...license, creditsLimit: 1 };
    expect(await refusal({ license: poor })).toMatchObject({ code: 'CREDIT_LIMIT_EXCEEDED' });
    const bare = { ...identity!, model: null };
    expect(await refusal({ identity: bare })).toMatchObject({ code: 'IDENTITY_UNAVAILABLE' });
    // And what is finished is told again.
    const { keyId: callerId, onceId } = done;
    const { once } = await readForOrder(world.table, { identityId: null, callerId, onceId });
    expect(await acceptGeneration({ ...done, once }, world.deps)).toMatchObject({
      outcome: 'replayed',
      answer: { requestId: done.requestId },
    });
  });

  test('when its time is over one request probes, and goes on once it is answered; others wait', async () => {
    await openUntilProbe();
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const bodies: object[] = [];
    const first = request(async (body, res) => {
      bodies.push(body);
      if (!isProbe(body)) return paint(body, res);
      asked.resolve();
      await goOn.promise;
      return isReady(body, res);
    });
    await asked.promise;
    for (let i = 0; i < 3; i++) {
      const other = (await run(newOrder(world), world.deps).catch((error: unknown) => error)) as any;
      expect(other.code).toBe('SERVICE_UNAVAILABLE');
      expect(other.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    }
    goOn.resolve();
    expect((await first).outcome).toMatchObject({ usage: { creditsUsed: 2 } });
    expect(bodies.map(isProbe)).toEqual([true, false]);
    expect(states.map(({ state }) => state)).toEqual(['open', 'half_open', 'closed']);
  });

  test('a probe that fails leaves it open for as long again, and its request held nothing', async () => {
    await openUntilProbe();
    const { order, outcome, calls } = await request(fails);
    expect([outcome.code, outcome.retryAfterSeconds, calls]).toEqual(['SERVICE_UNAVAILABLE', 10, 1]);
    expect((await stored(world, order)).generation).toBeNull();
    expect((await request()).calls).toBe(0);
  });

  test('after a probe one failure is enough', async () => {
    await openUntilProbe();
    const probed: Behaviour = (body, res) => (isProbe(body) ? isReady : fails)(body, res);
    const { outcome, calls } = await request(probed);
    expect([outcome.code, calls]).toEqual(['GENERATION_FAILED', 2]);
    expect(states.map(({ state }) => state)).toEqual(['open', 'half_open', 'open']);
  });

  test('a container that knows no probes is not locked out', async () => {
    await openUntilProbe();
    const { outcome } = await request((body, res) =>
      isProbe(body) ? void res.writeHead(404).end('{}') : paint(body, res),
    );
    expect(outcome).toMatchObject({ usage: { creditsUsed: 2 } });
  });

  test('health still asks the model', async () => {
    await together(5, fails);
    world.container.state.behaviour = isReady;
    expect(await world.deps.model.probe()).toBe(true);
    expect(states).toHaveLength(1);
  });
});

describe('a model that is starting', () => {
  let server: Server;
  afterEach(() => void server.close());

  /** A SageMaker runtime that answers everything with one error. */
  async function useRuntime(name: string, status: number, Message: string): Promise<void> {
    server = createServer((_req, res) => {
      res.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': name });
      res.end(JSON.stringify({ Message }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = process.env['AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME'];
    process.env['AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME'] =
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      await useModel('model').probe();
    } finally {
      process.env['AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME'] = url;
    }
  }
  test.each([
    [
      'ValidationError',
      400,
      'Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress ' +
        '(if configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API.',
    ],
    ['ModelNotReadyException', 429, 'Model is not ready.'],
  ])('is known by %s: nobody calls it for 30 seconds', async (name, status, message) => {
    await useRuntime(name, status, message);
    const { order, outcome } = await request();
    const sentence = 'The model is starting, which may take a few minutes. Try again shortly.';
    expect([outcome.code, outcome.retryAfterSeconds]).toEqual(['SERVICE_UNAVAILABLE', 30]);
    expect(outcome.message).toBe(`${sentence} Nothing was charged.`);
    expect(loggableError(world.faults.at(-1)!.error)).toMatchObject([
      { code: 'SERVICE_UNAVAILABLE' },
      { message: 'model server: warming' },
      { name },
    ]);
    const { generation, period } = await stored(world, order);
    expect([generation!.status, period.committed]).toEqual(['FAILED', 0]);
    expect(states).toMatchObject([{ state: 'open', reason: 'warming' }]);
    world.clock.shiftMs = 28_000;
    const next = await request();
    expect(next.outcome.message).toBe(sentence);
    expect(loggableError(next.outcome.cause)).toMatchObject([
      { message: 'model server: not called while it is warming' },
    ]);
    expect((await stored(world, next.order)).generation).toBeNull();
    // Its probe hears the same.
    world.clock.shiftMs = 31_000;
    expect((await request()).outcome.retryAfterSeconds).toBe(30);
  });
});
