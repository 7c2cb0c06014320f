import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { startSqs, type Sqs } from '../../../local/sqs/engine.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
import { recordingMeter } from '../../../shared/base/meter.ts';
import { acceptGeneration } from '../../../shared/generations/create.ts';
import { enqueue } from '../../../shared/generations/enqueue.ts';
import { runAccepted, type AcceptedRunDeps } from '../../../shared/generations/run-accepted.ts';
import { generationQueue } from '../../../shared/generations/generation-queue.ts';
import { NotYet } from '../../../shared/generations/try-model.ts';
import { tenantOf } from '../../../shared/model/tenant.ts';
import { outputFormats } from '../../../shared/images/image-types.ts';
import type { ModelRequest } from '../../../shared/model/contract.ts';
import { modelServer } from '../../../shared/model/client.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newRunId } from '../../../shared/base/ids.ts';
import { endAbandoned, sweep } from '../../../shared/generations/sweep.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { useEngines } from './use-engines.ts';
import { emit, identity, newCommand, deliver, run, says, stored } from './fixture.ts';

const fixture = useEngines();

test('without a model, a request is refused with SERVICE_UNAVAILABLE and nothing is held, whether it would wait or not', async () => {
  for (const respondAsync of [false, true]) {
    const command = newCommand(fixture, { respondAsync });
    const acceptance = acceptGeneration(command, { ...fixture.deps, model: modelServer(null) });
    await expect(acceptance).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await stored(fixture, command)).generation).toBeNull();
  }
  expect(await modelServer(null).probe()).toBe('unavailable');
});

const extensions = { png: '.png', webp: '.webp', jpeg: '.jpg' };

test.each(outputFormats)('%s images have their own name and Content-Type', async (outputFormat) => {
  const { behaviour } = fixture.container.state;
  let asked: ModelRequest;
  fixture.container.state.behaviour = (request, res) => behaviour((asked = request), res);
  const { body } = newCommand(fixture);
  const command = newCommand(fixture, { body: { ...body, outputFormat } });
  const { outputs } = (await run(command, fixture.deps)) as any;
  expect(asked!.outputFormat).toBe(outputFormat);
  expect((await stored(fixture, command)).generation).toMatchObject({ status: 'COMPLETED', outputFormat });
  expect(new URL(outputs[0]).pathname).toMatch(new RegExp(`/output-0\\${extensions[outputFormat]}$`));
  const file = await fetch(outputs[0]);
  expect([file.status, file.headers.get('content-type')]).toEqual([200, `image/${outputFormat}`]);
});

test('where neither charge nor release can be stored, the sweep gives the credits back after the lease', async () => {
  const { deps } = fixture;
  const away = () => Promise.reject(new Error('the table is away'));
  const command = newCommand(fixture);
  const generations = { ...deps.generations, settle: away, release: away };
  expect(await run(command, { ...deps, generations })).toMatchObject({ code: 'GENERATION_FAILED' });
  const { generation, period } = await stored(fixture, command);
  expect([generation!.status, period.committed]).toEqual(['PROCESSING', 2]);
  const sweepBefore = (leasesBeforeMs: number) => sweep({ ...deps, deletions: null }, leasesBeforeMs);
  const { leaseUntilMs } = generation!;
  expect(await sweepBefore(leaseUntilMs)).toMatchObject({ released: 0, failed: 0 });
  expect(await sweepBefore(leaseUntilMs + 1)).toMatchObject({ released: 1, creditsReleased: 2, failed: 0 });
  expect(await stored(fixture, command)).toMatchObject({
    generation: { status: 'TIMEOUT' },
    period: { used: 0, committed: 0 },
  });
});

/** A request that was accepted, and that nobody runs yet. */
async function accepted(changes: Parameters<typeof newCommand>[1] = {}) {
  const command = newCommand(fixture, { respondAsync: true, ...changes });
  const acceptance = await acceptGeneration(command, fixture.deps);
  if (acceptance.outcome !== 'accepted') throw new Error('it was replayed');
  return { command, generation: acceptance.generation };
}

/** A request as its queue brings it until it has ended, with a meter of its own; pauses pass at once. */
function work(generation: Generation, changes: Partial<AcceptedRunDeps> = {}) {
  const meter = recordingMeter();
  const identities = { get: async (): Promise<Identity | null> => identity, version: async () => null };
  const deps: AcceptedRunDeps = { ...fixture.deps, identities, meter, ...changes };
  const { licenseId, requestId } = generation;
  const bring = async (attempt: number): Promise<Generation | null> => {
    try {
      return await runAccepted({ licenseId, requestId }, attempt, deps);
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      fixture.clock.shiftMs += error.pauseMs;
      return bring(attempt + 1);
    }
  };
  return { meter, ended: bring(1) };
}

/** The credits that a run counted. */
const sums = ({ values }: ReturnType<typeof recordingMeter>) =>
  Object.fromEntries(values.filter(([name]) => name.startsWith('credits')));

test('an asynchronous request is accepted with a deadline of its own, and runs as if its caller had waited', async () => {
  const { command, generation } = await accepted();
  expect(generation.deadlineMs - generation.createdAtMs).toBe(800_000);
  expect(generation.leaseUntilMs).toBeGreaterThan(generation.deadlineMs);
  const { ended, meter } = work(generation);
  expect(await ended).toMatchObject({ status: 'COMPLETED', modelVersion: 'test-1' });
  expect(await stored(fixture, command)).toMatchObject({
    generation: { status: 'COMPLETED' },
    period: { used: 2, committed: 2, inFlight: 0 },
  });
  expect(sums(meter)).toEqual({ creditsReserved: 2, creditsSettled: 2 });
  expect(meter.values.map(([name]) => name)).toContain('asyncWait');
});

/** Objects that only note of which requests references are deleted. */
function watchedObjects() {
  const deleted: string[] = [];
  const deleteReferences = async ({ requestId }: { requestId: string }) => void deleted.push(requestId);
  return { deleted, objects: { ...fixture.deps.objects, deleteReferences } };
}

/** A store that reads this request as it was accepted, with a reference image. */
const readingAsAccepted = (generation: Generation) => ({
  ...fixture.deps.generations,
  get: async () => ({ ...generation, referenceImages: 1 }),
});

test('two runs of one request at once generate once and charge once: the one that lost hangs up and touches nothing', async () => {
  let calls = 0;
  const bothCalled = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  fixture.container.state.behaviour = async (request, res) => {
    res.once('close', () => {
      if (!res.writableFinished) hungUp.resolve();
    });
    // Both have called the model before either begins.
    if (++calls === 2) bothCalled.resolve();
    await bothCalled.promise;
    emit(res, { event: 'started' });
    // The run that lost hangs up; the other one goes on only then.
    await hungUp.promise;
    if (!res.destroyed) await deliver(request, res);
  };
  fixture.faults.length = 0;
  const { command, generation } = await accepted();
  const { objects, deleted } = watchedObjects();
  const runs = [1, 2].map(() => work(generation, { objects, generations: readingAsAccepted(generation) }));
  const ends = await Promise.all(runs.map(({ ended }) => ended));
  expect(ends.map((ended) => ended?.status ?? 'lost').toSorted()).toEqual(['COMPLETED', 'lost']);
  expect(await stored(fixture, command)).toMatchObject({
    generation: { status: 'COMPLETED' },
    period: { used: 2, committed: 2, inFlight: 0 },
  });
  const [winner, loser] = ends[0] === null ? runs.toReversed() : runs;
  expect(sums(winner!.meter)).toEqual({ creditsReserved: 2, creditsSettled: 2 });
  expect([loser!.meter.values, fixture.faults]).toEqual([[], []]);
  expect(deleted).toEqual([generation.requestId]);
});

test('a run that fails before its model begins leaves the request to the one that has begun', async () => {
  fixture.container.state.behaviour = (_request, res) => void res.writeHead(400).end('{}');
  const { command, generation } = await accepted();
  await fixture.deps.generations.start(generation, fixture.clock.now(), newRunId());
  const { objects, deleted } = watchedObjects();
  const late = work(generation, { objects, generations: readingAsAccepted(generation) });
  expect([await late.ended, sums(late.meter), deleted]).toEqual([null, {}, []]);
  expect(await stored(fixture, command)).toMatchObject({
    generation: { status: 'PROCESSING' },
    period: { used: 0, committed: 2, inFlight: 1 },
  });
});

test.each(['COMPLETED', 'FAILED', 'unknown'])(
  'a run does nothing for a request that is %s',
  async (status) => {
    const { command, generation } = await accepted();
    const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'No.' } as const;
    if (status === 'COMPLETED') await work(generation).ended;
    if (status === 'FAILED') await fixture.deps.generations.release(generation, failure, fixture.clock.now());
    const ref =
      status === 'unknown'
        ? { ...generation, requestId: generation.requestId.replace(/.$/, 'x') }
        : generation;
    const before = await stored(fixture, command);
    fixture.container.state.calls = 0;
    const { ended, meter } = work(ref);
    expect([await ended, meter.values, fixture.container.state.calls]).toEqual([null, [], 0]);
    expect(await stored(fixture, command)).toEqual(before);
  },
);

test('a request that never gets a model is a TIMEOUT at its deadline, and nothing is held', async () => {
  const { command, generation } = await accepted();
  fixture.container.state.behaviour = says({ event: 'failed', reason: 'busy', message: '' });
  const { ended, meter } = work(generation);
  expect(await ended).toMatchObject({
    status: 'TIMEOUT',
    errorCode: 'TIMEOUT',
    errorMessage: 'The image was not finished within 800 seconds.',
  });
  expect(await stored(fixture, command)).toMatchObject({
    generation: { status: 'TIMEOUT' },
    period: { used: 0, committed: 0, inFlight: 0 },
  });
  expect(sums(meter)).toEqual({ creditsReserved: 2, creditsReleased: 2 });
});

test.each([null, { ...identity, model: null }])(
  'a request is released with a sentence where its identity has no model any more: %j',
  async (found) => {
    const { command, generation } = await accepted();
    const { ended, meter } = work(generation, {
      identities: { get: async () => found, version: async () => null },
    });
    expect(await ended).toMatchObject({
      status: 'FAILED',
      errorCode: 'SERVICE_UNAVAILABLE',
      errorMessage: expect.stringContaining('Aurora Studio has no active model any more.'),
    });
    expect(meter.counts).toEqual([['refusals', 'SERVICE_UNAVAILABLE']]);
    expect((await stored(fixture, command)).period).toMatchObject({ used: 0, committed: 0 });
    expect(fixture.container.state.calls).toBe(0);
  },
);

test('a request that was brought too often ends only where no run has begun it, and so do its references', async () => {
  const begun = await accepted();
  const { objects, deleted } = watchedObjects();
  const depsOf = (one: Generation) => ({ ...fixture.deps, objects, generations: readingAsAccepted(one) });
  const options = { leavesBegun: true, errorMessage: 'It crashed.' };
  await fixture.deps.generations.start(begun.generation, fixture.clock.now(), newRunId());
  expect(await endAbandoned(begun.generation, depsOf(begun.generation), options)).toBeNull();
  expect((await stored(fixture, begun.command)).generation).toMatchObject({ status: 'PROCESSING' });
  expect(deleted).toEqual([]);
  const { command, generation } = await accepted();
  const deps = depsOf(generation);
  const ended = await endAbandoned(generation, deps, options);
  expect(ended).toMatchObject({ status: 'TIMEOUT', errorMessage: 'It crashed.' });
  expect(deleted).toEqual([generation.requestId]);
  expect(await endAbandoned(generation, fixture.deps, { errorMessage: 'Again.' })).toBeNull();
  // The worker comes late.
  expect(await work(generation).ended).toBeNull();
  expect(await stored(fixture, command)).toMatchObject({
    generation: { errorMessage: 'It crashed.' },
    period: { used: 0, committed: 0, inFlight: 0 },
  });
});

describe('enqueued', () => {
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  /** What the worker got. */
  const messages: any[] = [];
  let sqs: Sqs;
  beforeAll(async () => {
    const note = async ({ Records }: { Records: object[] }) => void messages.push(...Records);
    const queues = { worker: { run: note, maxConcurrency: 2, visibilityMs: 60_000 } };
    sqs = await startSqs({ queues, credentials, region: 'us-east-1' });
  });
  afterAll(() => sqs.close());

  const deps = (url: string) => {
    const meter = recordingMeter();
    return { ...fixture.deps, queue: generationQueue(url), meter };
  };

  test('it is a message of its ids alone, one of those of its license', async () => {
    const { generation } = await accepted();
    await enqueue(generation, deps(sqs.urlOf('worker')));
    const { licenseId, requestId } = generation;
    expect(messages.map(({ body }) => JSON.parse(body))).toEqual([{ licenseId, requestId }]);
    expect(messages[0].attributes.MessageGroupId).toBe(tenantOf(licenseId));
  });

  test('in vain, because there is no such queue, it is 503, and nothing is held', async () => {
    const { command, generation } = await accepted();
    const given = deps(sqs.urlOf('nobody'));
    await expect(enqueue(generation, given)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringMatching(/handed over.*Nothing was charged\.$/),
    });
    expect(await stored(fixture, command)).toMatchObject({
      generation: { status: 'FAILED', errorCode: 'SERVICE_UNAVAILABLE' },
      period: { used: 0, committed: 0, inFlight: 0 },
    });
    expect(sums(given.meter)).toEqual({ creditsReserved: 2, creditsReleased: 2 });
  });

  test('in vain, where that can not be stored, is GENERATION_FAILED, by the worker too', async () => {
    const { generation } = await accepted();
    const generations = { ...fixture.deps.generations, release: () => Promise.reject(new Error('away')) };
    const failed = { code: 'GENERATION_FAILED' };
    const given = { ...deps(sqs.urlOf('nobody')), generations };
    await expect(enqueue(generation, given)).rejects.toMatchObject(failed);
    const identities = { get: async () => null, version: async () => null };
    const worker = { ...given, identities };
    await expect(runAccepted(generation, 1, worker)).rejects.toMatchObject(failed);
  });

  test('though its answer was lost, it is not refused when it was already generated', async () => {
    const { generation } = await accepted();
    await work(generation).ended;
    await expect(enqueue(generation, deps('http://127.0.0.1:9/1/queue'))).resolves.toBeUndefined();
  });

  test('in vain, when it was cancelled and deleted meanwhile, is REQUEST_NOT_FOUND, and not 202', async () => {
    const { generation } = await accepted();
    const { documents, name: TableName } = fixture.table;
    const Key = itemKeys.generation(generation.licenseId, generation.requestId);
    await documents.send(new DeleteCommand({ TableName, Key }));
    const { objects, deleted } = watchedObjects();
    const given = { ...deps(sqs.urlOf('nobody')), objects };
    const sent = enqueue({ ...generation, referenceImages: 1 }, given);
    await expect(sent).rejects.toMatchObject({ code: 'REQUEST_NOT_FOUND', requestId: generation.requestId });
    // Who cancelled it counts nothing either, and no run has counted it as reserved.
    expect([deleted, sums(given.meter)]).toEqual([[generation.requestId], {}]);
  });

  test('though its answer was lost, what the worker has begun goes on with its references', async () => {
    const { command, generation } = await accepted();
    await fixture.deps.generations.start(generation, fixture.clock.now(), newRunId());
    const { objects, deleted } = watchedObjects();
    const given = { ...deps('http://127.0.0.1:9/1/queue'), objects };
    await expect(enqueue({ ...generation, referenceImages: 1 }, given)).resolves.toBeUndefined();
    expect(await stored(fixture, command)).toMatchObject({
      generation: { status: 'PROCESSING' },
      period: { used: 0, committed: 2, inFlight: 1 },
    });
    expect([deleted, sums(given.meter)]).toEqual([[], {}]);
  });
});
