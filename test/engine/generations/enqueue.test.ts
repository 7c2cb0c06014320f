import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { invocationPath, startLambda, type Lambda } from '../../../local/lambda/engine.ts';
import { generationWorkerClient } from '../../../shared/generations/worker-client.ts';
import { newRunId } from '../../../shared/base/ids.ts';
import { recordingMeter } from '../../../shared/base/meter.ts';
import { enqueue } from '../../../shared/generations/enqueue.ts';
import { acceptedRuns, sums } from './accepted-runs.ts';
import { useEngines } from './use-engines.ts';
import { stored } from './fixture.ts';

const fixture = useEngines();
const { accepted, work } = acceptedRuns(fixture);
const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
/** What the worker's engine was told. */
let events: unknown[] = [];
let lambda: Lambda;

beforeAll(async () => {
  const functions = { worker: async (event: unknown) => void events.push(event) };
  lambda = await startLambda({ functions, credentials, region: 'us-east-1' });
});
beforeEach(() => void (events = []));
afterAll(() => lambda.close());

describe('handed over', () => {
  const deps = (url: string) => {
    const meter = recordingMeter();
    return { ...fixture.deps, worker: generationWorkerClient(url), meter };
  };

  test('it is an event of its ids alone', async () => {
    const { generation } = await accepted();
    await enqueue(generation, deps(lambda.url + invocationPath('worker')));
    const { licenseId, requestId } = generation;
    expect(events).toEqual([{ licenseId, requestId }]);
  });

  test.each([
    ['there is no such worker', () => lambda.url + invocationPath('nobody')],
    ['nobody answers', () => `http://127.0.0.1:9${invocationPath('worker')}`],
  ])('in vain, because %s, it is 503, and nothing is held', async (_what, url) => {
    const { command, generation } = await accepted();
    const given = deps(url());
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

  test('though its answer was lost, it is not refused when it was already painted', async () => {
    const { generation } = await accepted();
    await work(generation).ended;
    const given = { ...deps('http://127.0.0.1:9/'), meter: recordingMeter() };
    await expect(enqueue(generation, given)).resolves.toBeUndefined();
  });

  test('though its answer was lost, what the worker has begun goes on with its references', async () => {
    const { command, generation } = await accepted();
    await fixture.deps.generations.start(generation, fixture.clock.now(), newRunId());
    const { objects, deleted } = watchedObjects();
    const given = { ...deps('http://127.0.0.1:9/'), objects };
    await expect(enqueue({ ...generation, referenceImages: 1 }, given)).resolves.toBeUndefined();
    expect(await stored(fixture, command)).toMatchObject({
      generation: { status: 'PROCESSING' },
      period: { used: 0, committed: 2, inFlight: 1 },
    });
    expect(deleted).toEqual([]);
    expect(sums(given.meter)).toEqual({});
  });
});

/** Who deletes references of which request. */
function watchedObjects() {
  const deleted: string[] = [];
  const deleteReferences = async ({ requestId }: { requestId: string }) => void deleted.push(requestId);
  return { deleted, objects: { ...fixture.deps.objects, deleteReferences } };
}
