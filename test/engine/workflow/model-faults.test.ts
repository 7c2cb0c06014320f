import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { modelServer } from '../../../shared/adapters/model-server.ts';
import { objectStore } from '../../../shared/adapters/object-store.ts';
import type { ModelRequest } from '../../../shared/contracts/model-server.ts';
import {
  emit,
  newOrder,
  paint,
  putOutputs,
  run,
  startWorld,
  stored,
  type Behaviour,
  type World,
} from './world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

beforeEach(() => {
  world.container.state.behaviour = paint;
  world.container.state.calls = 0;
  world.deps.model = modelServer('model');
});

/** Runs one order against a container. Whatever it does, it is called once and nothing stays held. */
async function runAgainst(behaviour: Behaviour) {
  world.container.state.behaviour = behaviour;
  const order = newOrder(world);
  const outcome = (await run(order, world.deps)) as any;
  const { generation, period } = await stored(world, order);
  expect(world.container.state.calls).toBe(1);
  expect(period).toMatchObject({ used: 0, committed: 0, byIdentity: {} });
  // Whoever reads the log must find the request that it is about.
  expect(world.faults.at(-1)!.requestId).toBe(order.requestId);
  return { outcome, generation: generation! };
}

const started = { event: 'started' };
const output = { bytes: 5, sha256: 'a'.repeat(64), width: 512, height: 512 };
const completed = {
  event: 'completed',
  outputs: [output, output],
  referenceImagesUsed: 0,
  modelVersion: '1',
};

const broken: Record<string, Behaviour> = {
  'answers 500': (_request, res) => void res.writeHead(500).end('{}'),
  'answers nothing at all': (_request, res) => void res.end(),
  'ends without a closing event': (_request, res) => {
    emit(res, started, { event: 'progress', step: 1, steps: 30 });
    res.end();
  },
  'dies in mid-stream': (_request, res) => {
    emit(res, started);
    setTimeout(() => res.destroy(), 50);
  },
  'sends what is no JSON': (_request, res) => void res.end('{"event":"started"}\nnonsense\n'),
  'sends an unknown event': (_request, res) => {
    emit(res, started, { event: 'dreaming' });
    res.end();
  },
  'sends bytes that are no UTF-8': (_request, res) => void res.end(Buffer.from([0x22, 0xff, 0xfe, 0x0a])),
  'sends an event without end': (_request, res) => {
    emit(res, started);
    res.end('x'.repeat(100_000));
  },
  'floods its stream': (_request, res) => {
    const progress = `${JSON.stringify({ event: 'progress', step: 1, steps: 30 })}\n`;
    res.end(progress.repeat(40_000));
  },
  'completes without having stored its images': (_request, res) => {
    emit(res, started, completed);
    res.end();
  },
  'stored other bytes than it says': async (request, res) => {
    const outputs = (await putOutputs(request)).map((image) => ({ ...image, bytes: image.bytes + 1 }));
    emit(res, started, { ...completed, outputs });
    res.end();
  },
  'delivers one image too few': async (request, res) => {
    const outputs = (await putOutputs(request)).slice(1);
    emit(res, started, { ...completed, outputs });
    res.end();
  },
  'delivers another size': async (request, res) => {
    const outputs = (await putOutputs(request)).map((image) => ({ ...image, width: 64 }));
    emit(res, started, { ...completed, outputs });
    res.end();
  },
};

describe('a container that breaks the contract is a failed generation that costs nothing', () => {
  test.each(Object.entries(broken))('it %s', async (_what, behaviour) => {
    const { outcome, generation } = await runAgainst(behaviour);
    expect([outcome.code, outcome.status]).toEqual(['GENERATION_FAILED', 500]);
    expect(generation).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_FAILED', leaseUntilMs: 0 });
    expect(generation.errorMessage).toMatch(/^The model .*\.$/);
  });
});

describe('what a container says of its failure', () => {
  const failing =
    (reason: string, message: string): Behaviour =>
    (_request, res) => {
      emit(res, started, { event: 'failed', reason, message });
      res.end();
    };

  test('its own words about the picture reach the customer, as one clean sentence', async () => {
    const { generation } = await runAgainst(failing('model_error', 'The\u0007 stone\nbroke'));
    expect(generation.errorMessage).toBe('The  stone broke.');
  });

  test('its words about anything else do not', async () => {
    const { outcome, generation } = await runAgainst(
      failing('upload_failed', 'https://secret?X-Amz-Signature=1'),
    );
    expect(generation.errorMessage).toBe('The model could not finish the image.');
    expect(outcome.message).not.toContain('secret');
  });

  test('busy is SERVICE_UNAVAILABLE with the time to wait', async () => {
    const { outcome, generation } = await runAgainst(failing('busy', ''));
    expect([outcome.code, outcome.retryAfterSeconds]).toEqual(['SERVICE_UNAVAILABLE', 5]);
    expect(generation.status).toBe('FAILED');
  });

  test('its own deadline is a TIMEOUT', async () => {
    const { outcome, generation } = await runAgainst(failing('deadline', ''));
    expect([outcome.code, generation.status]).toEqual(['TIMEOUT', 'TIMEOUT']);
  });
});

test('a store of images that is away is a failed generation, by a fault of ours, that costs nothing', async () => {
  const s3Url = process.env['AWS_ENDPOINT_URL_S3'];
  const { objects } = world.deps;
  process.env['AWS_ENDPOINT_URL_S3'] = 'http://127.0.0.1:9';
  world.deps.objects = objectStore('image-generation');
  try {
    const { outcome, generation } = await runAgainst((_request, res) => {
      emit(res, started, completed);
      res.end();
    });
    expect([outcome.code, outcome.status]).toEqual(['GENERATION_FAILED', 500]);
    expect(generation.errorMessage).toBe('The image could not be finished because of a fault of ours.');
  } finally {
    process.env['AWS_ENDPOINT_URL_S3'] = s3Url;
    world.deps.objects = objects;
  }
});

test('no container, or no endpoint, is SERVICE_UNAVAILABLE', async () => {
  for (const endpoint of ['nobody', 'no-such-endpoint']) {
    world.deps.model = modelServer(endpoint);
    const order = newOrder(world);
    const outcome = (await run(order, world.deps)) as any;
    expect([outcome.code, outcome.status]).toEqual(['SERVICE_UNAVAILABLE', 503]);
    // Asked once: a second call could paint, and cost, a second time.
    expect(world.faults.at(-1)!.error.cause.$metadata.attempts).toBe(1);
    const { generation, period } = await stored(world, order);
    expect(generation).toMatchObject({ status: 'FAILED', startedAtMs: null });
    expect(period).toMatchObject({ used: 0, committed: 0 });
  }
});

test('the deadline hangs up on the container, and its late answer changes nothing', async () => {
  let hungUp = false;
  const late: { request?: ModelRequest } = {};
  const { outcome, generation } = await runAgainst((request, res) => {
    late.request = request;
    res.once('close', () => (hungUp = true));
    emit(res, started);
  });
  expect([outcome.code, generation.status]).toEqual(['TIMEOUT', 'TIMEOUT']);
  const lateMs = generation.completedAtMs! - generation.deadlineMs;
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(lateMs).toBeLessThan(1000);
  // The picture arrives after all: the links still take it, and the record does not.
  const outputs = await putOutputs(late.request!);
  const ended = await world.deps.generations.settle(
    { ...generation, status: 'PROCESSING' },
    { completedAtMs: Date.now(), referenceImagesUsed: 0, modelVersion: '1' },
  );
  expect(outputs).toHaveLength(2);
  expect(ended.status).toBe('TIMEOUT');
  const period = await world.deps.periods.get(generation.licenseId, generation.periodStartMs);
  expect(period).toMatchObject({ used: 0, committed: 0 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(hungUp).toBe(true);
});

test('a container that hangs up without an answer is not asked a second time', async () => {
  const { outcome } = await runAgainst((_request, res) => void res.destroy());
  expect(outcome.status).toBeGreaterThanOrEqual(500);
});

test('a container that forgets to say that it started is believed when it completes', async () => {
  world.container.state.behaviour = async (request, res) => {
    emit(res, { ...completed, outputs: await putOutputs(request) });
    res.end();
  };
  const order = newOrder(world);
  expect(await run(order, world.deps)).toMatchObject({ usage: { creditsUsed: 2 } });
  const { generation } = await stored(world, order);
  expect(generation!.startedAtMs).not.toBeNull();
});

test.each([
  ['at once with the beginning', [{ event: 'started' }]],
  ['without a word of the beginning', []],
])('progress that comes %s is told after the beginning', async (_how, first) => {
  world.container.state.behaviour = async (request, res) => {
    emit(res, ...first, { event: 'progress', step: 1, steps: 2 }, { event: 'progress', step: 2, steps: 2 });
    emit(res, { ...completed, outputs: await putOutputs(request) });
    res.end();
  };
  const told: (string | number)[] = [];
  const observer = {
    started: () => void told.push('started'),
    progress: (step: number) => void told.push(step),
  };
  expect(await run(newOrder(world), world.deps, observer)).toHaveProperty('outputs');
  expect(told).toEqual(['started', 1, 2]);
});

test('a good answer is charged once, with its statistics', async () => {
  const order = newOrder(world);
  const answer = (await run(order, world.deps)) as any;
  expect(answer.usage).toMatchObject({ creditsUsed: 2, creditsCharged: 2, creditsRemaining: 98 });
  const { generation, period } = await stored(world, order);
  expect(generation).toMatchObject({ status: 'COMPLETED', modelVersion: 'test-1', leaseUntilMs: 0 });
  const tally = { requests: 1, credits: 2 };
  expect(period).toMatchObject({
    used: 2,
    committed: 2,
    byType: { text_to_image: tally },
    byIdentity: { idn_test: tally },
  });
});
