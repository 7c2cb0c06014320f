import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { startSageMakerRuntime } from '../../../local/sagemaker/engine.ts';
import { scaleToZero, type CopyScaling } from '../../../local/sagemaker/scale-to-zero.ts';
import { modelServer } from '../../../shared/model/client.ts';
import { recordingMeter } from '../../../shared/base/meter.ts';
import { coldStartStore } from '../../../shared/model/cold-start-store.ts';
import { noColdStart } from '../../../shared/model/cold-start.ts';
import { acceptGeneration } from '../../../shared/generations/create.ts';
import { dryRun } from '../../../shared/generations/dry-run.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { runAccepted } from '../../../shared/generations/run-accepted.ts';
import { NotYet } from '../../../shared/generations/try-model.ts';
import { coldStartNotes } from '../../../shared/model/cold-start-notes.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { interceptCommands } from '../../support/intercept-commands.ts';
import { until } from '../../support/until.ts';
import { useEngines } from '../generations/use-engines.ts';
import { identity, newCommand, deliver, run, says, stored } from '../generations/fixture.ts';

const fixture = useEngines();
const isReady = says({ event: 'ready', modelVersion: '1' });
const wakeSeconds = 240;
/** The clock stands still, so that no machine's speed changes what is measured. */
let nowMs = Date.now();
let scaling: CopyScaling;
let runtime: Awaited<ReturnType<typeof startSageMakerRuntime>>;
/** What was sent to the item of the partition MODEL. */
let sent: string[] = [];
/** What happens to it there. */
let fault: (() => Promise<unknown>) | null = null;
let faults: unknown[] = [];

beforeAll(async () => {
  scaling = scaleToZero({ idleMs: 900_000, coldStartMs: wakeSeconds * 1000, now: () => nowMs });
  runtime = await startSageMakerRuntime({
    endpoints: { model: fixture.container.url },
    component: {
      name: 'component',
      endpointName: 'model',
      scaling,
      signing: { credentials: { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' }, region: 'us-east-1' },
    },
  });
  process.env['AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME'] = runtime.url;
  fixture.clock.now = () => nowMs;
  interceptCommands(fixture.table, async ({ name, input, send }) => {
    if (JSON.stringify(input.Key ?? input.Item ?? {}).includes('"MODEL"')) {
      sent.push(name);
      await fault?.();
    }
    await send();
  });
});
afterAll(() => runtime.close());

/** Each test begins long after the one before, with a model that is scaled to zero and of which nothing is known. */
beforeEach(async () => {
  nowMs += 7_200_000;
  [fault, faults, sent] = [null, [], []];
  const { version } = await store().get();
  if (version > 0) await store().put(noColdStart, version);
  sent = [];
  fixture.deps.model = newServer();
  fixture.container.state.behaviour = (body, res) => ('probe' in body ? isReady : deliver)(body, res);
});

const store = () => coldStartStore(fixture.table);
const known = async () => (await store().get()).coldStart;

/** The model as one function sees it, which knows nothing yet. */
function newServer() {
  const onFault = (error: unknown) => void faults.push(error);
  const notes = coldStartNotes({ store: store(), clock: fixture.clock, onFault });
  return modelServer('model', { clock: fixture.clock, component: { name: 'component', notes } });
}

/** Runs a command of a new license in one function. */
async function request(model = fixture.deps.model) {
  const command = newCommand(fixture);
  const outcome = (await run(command, { ...fixture.deps, model }).catch((error: unknown) => error)) as any;
  return { command, outcome };
}

describe('a synchronous request', () => {
  test('that finds it scaled to zero is 503 at once, starts it, and leaves nothing held', async () => {
    const { command, outcome } = await request();
    expect(outcome).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      status: 503,
      retryAfterSeconds: 300,
      message: 'The model was asleep and is starting. Try again in about 5 minutes. Nothing was charged.',
    });
    const { generation, period } = await stored(fixture, command);
    expect([generation!.status, period.committed, period.inFlight]).toEqual(['FAILED', 0, 0]);
    expect(period.unpaidRuns).toEqual([{ atMs: nowMs, reason: 'wake' }]);
    expect(fixture.container.state.calls).toBe(0);
    expect(await known()).toEqual({
      sinceMs: nowMs,
      refusedAtMs: nowMs,
      begunAtMs: nowMs,
      wakeSeconds: null,
    });
  });

  test('that finds it scaled to zero again begins its cold start itself, and is counted: no probe and no dry run does', async () => {
    const { command } = await request();
    for (const unpaidRuns of [2, 3]) {
      nowMs += 3_600_000;
      await dryRun({ ...newCommand(fixture), license: command.license }, fixture.deps);
      expect(scaling.copies().desired).toBe(0);
      const again = { ...newCommand(fixture), license: command.license };
      expect(await run(again, fixture.deps)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(scaling.copies().desired).toBe(1);
      expect((await stored(fixture, command)).period.unpaidRuns).toHaveLength(unpaidRuns);
    }
  });

  test('of a function whose model failed long ago begins the cold start itself as well', async () => {
    await request();
    nowMs += wakeSeconds * 1000;
    fixture.container.state.behaviour = (_body, res) => void res.writeHead(500).end('{}');
    for (let i = 0; i < 5; i++) await request();
    nowMs += 3_600_000;
    expect(scaling.copies().desired).toBe(0);
    const { command } = await request();
    expect(scaling.copies().desired).toBe(1);
    expect((await stored(fixture, command)).period.unpaidRuns).toEqual([{ atMs: nowMs, reason: 'wake' }]);
  });

  test('is refused before anything is held while it starts, with the time that is left, by other functions too', async () => {
    await request();
    nowMs += 60_000;
    const { command, outcome } = await request();
    expect([outcome.code, outcome.retryAfterSeconds]).toEqual(['SERVICE_UNAVAILABLE', 240]);
    expect((await stored(fixture, command)).generation).toBeNull();
    nowMs += 40_000;
    expect((await request(newServer())).outcome.retryAfterSeconds).toBe(200);
    nowMs += 120_000;
    expect((await request(newServer())).outcome.message).toContain('Try again in 80 seconds.');
  });

  test('is run at most five seconds after it is ready, whenever others asked, and others learn what it took', async () => {
    await request();
    nowMs += wakeSeconds * 1000 - 1;
    expect((await request()).outcome.retryAfterSeconds).toBe(61);
    nowMs += 5000;
    expect((await request()).outcome).toMatchObject({ usage: { creditsUsed: 2 } });
    await until('its cold start is over by the notes', async () => (await known()).sinceMs === null);
    // It was refused a moment before 240 s, and answered a moment before 245 s.
    expect((await known()).wakeSeconds).toBe(245);
    nowMs += 900_000;
    const next = await request(newServer());
    expect(next.outcome.retryAfterSeconds).toBe(245);
    expect(next.outcome.message).toContain('in about 4 minutes.');
  });

  test('of a function that learns from another that it is ready waits for its next probe only', async () => {
    const late = newServer();
    await request();
    nowMs += wakeSeconds * 1000 - 1000;
    await request(late);
    nowMs += 1000;
    for (const model of [newServer(), fixture.deps.model])
      expect((await request(model)).outcome).toMatchObject({ usage: { creditsUsed: 2 } });
    await until('its cold start is over by the notes', async () => (await known()).sinceMs === null);
    expect((await request(late)).outcome.retryAfterSeconds).toBe(4);
  });
});

test('an asynchronous request comes again until it is ready, names when that may be, and notes what the cold start took', async () => {
  await request();
  const command = newCommand(fixture, { respondAsync: true });
  const acceptance = await acceptGeneration(command, fixture.deps);
  if (acceptance.outcome !== 'accepted') throw new Error('it was replayed');
  expect(await fixture.deps.model.secondsUntilReady()).toBe(300);
  const { licenseId } = command.license;
  const deps = {
    ...fixture.deps,
    model: newServer(),
    identities: { get: async () => identity, version: async () => null },
  };
  const ref = { licenseId, requestId: command.requestId };
  const startedMs = nowMs;
  const bring = (attempt: number): Promise<Generation | null> =>
    runAccepted(ref, attempt, { ...deps, meter: recordingMeter() }).catch((error: unknown) => {
      if (!(error instanceof NotYet)) throw error;
      nowMs += error.pauseMs;
      return bring(attempt + 1);
    });
  expect(await bring(1)).toMatchObject({ status: 'COMPLETED' });
  await until('its cold start is over by the notes', async () => (await known()).sinceMs === null);
  const noted = (await known()).wakeSeconds;
  expect(noted).toBeGreaterThanOrEqual(wakeSeconds);
  expect(noted).toBeLessThanOrEqual(wakeSeconds + 15);
  expect(noted).toBeLessThanOrEqual(Math.ceil((nowMs - startedMs) / 1000));
  // What this function saw is old, but it asks before it says so.
  expect(await fixture.deps.model.secondsUntilReady()).toBeNull();
});

test('an asynchronous request that began its cold start says so, and counts for its license at its deadline', async () => {
  const command = newCommand(fixture, { respondAsync: true });
  await acceptGeneration(command, fixture.deps);
  const deps = {
    ...fixture.deps,
    identities: { get: async () => identity, version: async () => null },
    meter: recordingMeter(),
  };
  const ref = { licenseId: command.license.licenseId, requestId: command.requestId };
  await expect(runAccepted(ref, 1, deps)).rejects.toBeInstanceOf(NotYet);
  const { generation, period } = await stored(fixture, command);
  expect(generation).toMatchObject({ status: 'QUEUED', beganColdStart: true });
  expect(period.unpaidRuns).toEqual([]);
  nowMs = generation!.deadlineMs;
  expect(await runAccepted(ref, 2, deps)).toMatchObject({ status: 'TIMEOUT' });
  expect((await stored(fixture, command)).period.unpaidRuns).toEqual([{ atMs: nowMs, reason: 'wake' }]);
});

test('while it is ready, nothing is read or written of it', async () => {
  await request();
  nowMs += wakeSeconds * 1000;
  await request();
  await until('its cold start is over by the notes', async () => (await known()).sinceMs === null);
  sent = [];
  await request();
  await request(newServer());
  expect(await fixture.deps.model.secondsUntilReady()).toBeNull();
  expect(sent).toEqual([]);
});

test('functions that find it scaled to zero at the same moment, and ready, note one cold start, which one license began', async () => {
  const servers = Array.from({ length: 8 }, newServer);
  const requests = await Promise.all(servers.map((model) => request(model)));
  expect(requests.map(({ outcome }) => outcome.retryAfterSeconds)).toEqual(servers.map(() => 300));
  const periods = await Promise.all(
    requests.map(async ({ command }) => (await stored(fixture, command)).period),
  );
  expect(periods.flatMap(({ unpaidRuns }) => unpaidRuns)).toHaveLength(1);
  expect(sent.filter((name) => name === 'PutItemCommand').length).toBeLessThanOrEqual(servers.length);
  nowMs += wakeSeconds * 1000;
  await Promise.all(servers.map((model) => request(model)));
  await until('its cold start is over by the notes', async () => (await known()).sinceMs === null);
  expect((await known()).wakeSeconds).toBe(wakeSeconds);
});

test('what an earlier version noted goes on', async () => {
  const noted = { sinceMs: nowMs, refusedAtMs: nowMs, wakeSeconds: 240 };
  const Item = {
    ...itemKeys.coldStart(),
    wakingSinceMs: nowMs,
    refusedAtMs: nowMs,
    wakeSeconds: 240,
    version: 1,
  };
  await fixture.table.documents.send(new PutCommand({ TableName: fixture.table.name, Item }));
  expect(await known()).toEqual({ ...noted, begunAtMs: 0 });
  nowMs += 60_000;
  expect((await request()).outcome.retryAfterSeconds).toBe(180);
  expect(faults).toEqual([]);
});

test('what another function noted meanwhile is not written over, and after three tries it is left so', async () => {
  const noted = { sinceMs: nowMs, refusedAtMs: nowMs, begunAtMs: nowMs, wakeSeconds: null };
  const { version } = await store().get();
  expect(await store().put(noted, version)).toBe(true);
  expect(await store().put({ ...noted, wakeSeconds: 7 }, version)).toBe(false);
  expect(await store().get()).toEqual({ coldStart: noted, version: version + 1 });
  nowMs += 60_000;
  let tries = 0;
  const put = () => Promise.resolve(++tries > 5);
  const onFault = (error: unknown) => void faults.push(error);
  await coldStartNotes({ store: { ...store(), put }, clock: fixture.clock, onFault }).refused();
  expect([tries, faults]).toEqual([3, []]);
});

describe('a table that is away', () => {
  test('fails no request: what this function saw counts', async () => {
    fault = () => Promise.reject(new Error('no table'));
    const { command, outcome } = await request();
    expect([outcome.code, outcome.retryAfterSeconds]).toEqual(['SERVICE_UNAVAILABLE', 300]);
    expect((await stored(fixture, command)).period.committed).toBe(0);
    nowMs += wakeSeconds * 1000;
    expect((await request()).outcome).toMatchObject({ usage: { creditsUsed: 2 } });
    await until('both faults are known', () => faults.length >= 2);
  });

  test('that never answers is waited for no longer than a second', async () => {
    fault = () => new Promise(() => {});
    const waits: number[] = [];
    const clock = {
      now: () => nowMs,
      timeout(ms: number) {
        waits.push(ms);
        return AbortSignal.timeout(1);
      },
    };
    const notes = coldStartNotes({ store: store(), clock, onFault: () => {} });
    expect(await notes.refused()).toEqual({ secondsUntilReady: 300, hasBegunIt: false });
    nowMs += 10_000;
    expect(await notes.secondsLeft()).toBe(290);
    expect(waits).toEqual([1000, 1000]);
  });
});
