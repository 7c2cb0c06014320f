import { createServer } from 'node:http';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { listen } from '../../../local/http/server.ts';
import { modelServer } from '../../../shared/model/client.ts';
import { loggableError } from '../../../shared/base/log.ts';
import type { Breaker } from '../../../shared/model/breaker-states.ts';
import { acceptGeneration } from '../../../shared/generations/create.ts';
import { useEngines } from '../generations/use-engines.ts';
import { newCommand, deliver, run, says, stored, type Behaviour } from '../generations/fixture.ts';

const fixture = useEngines();
/** The clock stands still, because on a slow machine time would run out between two calls. */
let nowMs: number;
/** Every state that the breaker entered. */
let states: Breaker[];

beforeEach(() => {
  nowMs = Date.now();
  fixture.clock.now = () => nowMs;
  useModel();
});

/** A model server with a closed breaker. */
function useModel(): void {
  states = [];
  const onBreaker = (breaker: Breaker) => void states.push(breaker);
  fixture.deps.model = modelServer('model', { clock: fixture.clock, onBreaker });
}

/** Runs a command of a new license. @returns its answer or error, and how often the container was called for it. */
async function request(behaviour: Behaviour = deliver, changes: Parameters<typeof newCommand>[1] = {}) {
  Object.assign(fixture.container.state, { behaviour, calls: 0 });
  const command = newCommand(fixture, changes);
  const outcome = (await run(command, fixture.deps).catch((error: unknown) => error)) as any;
  return { command, outcome, calls: fixture.container.state.calls };
}

/** Runs several at once. Whatever the order of their ends, they count as failures in a row. */
async function together(times: number, behaviour: Behaviour): Promise<void> {
  fixture.container.state.behaviour = behaviour;
  await Promise.all(Array.from({ length: times }, () => run(newCommand(fixture), fixture.deps)));
}

const fails: Behaviour = (_request, res) => void res.writeHead(500).end('{}');
const refuses: Behaviour = (_request, res) => void res.writeHead(400).end('{}');
const isBusy = says({ event: 'failed', reason: 'busy', message: '' });
const failsItself = says({ event: 'started' }, { event: 'failed', reason: 'model_error', message: 'no' });
const isRestarted = says({ event: 'failed', reason: 'unavailable', message: '' });
const isReady = says({ event: 'ready', modelVersion: '1' });
const isProbe = (body: object) => 'probe' in body;

test.each<[string, string, Behaviour, number]>([
  ['a good one', 'leave it closed', deliver, 0],
  ['one that fails for a reason of its own', 'leave it closed', failsItself, 0],
  ['one that finds it busy', 'open it', isBusy, 1],
  ['one that the container refuses', 'open it', refuses, 1],
])('four failures, %s and another failure %s', async (_what, _effect, between, opened) => {
  await together(4, fails);
  await together(2, between);
  expect(states).toEqual([]);
  await request(fails);
  expect(states).toHaveLength(opened);
});

test('a server that is restarting fails, to calls and to probes', async () => {
  await together(4, fails);
  await request(isRestarted);
  expect(states).toMatchObject([{ state: 'open', reason: 'failing' }]);
  expect(await fixture.deps.model.probe()).toBe('unavailable');
});

test('while it is open a request is 503 with the seconds until a probe, before anything is held and without a call', async () => {
  await together(5, fails);
  const { command, outcome, calls } = await request();
  expect(outcome).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503, retryAfterSeconds: 10 });
  expect(outcome.message).toBe('Image generation is not available right now. Try again shortly.');
  expect(loggableError(outcome.cause)).toMatchObject([
    { message: 'model server: not called while it is failing' },
  ]);
  expect(calls).toBe(0);
  expect(await stored(fixture, command)).toMatchObject({ generation: null, period: { committed: 0 } });
  // Health still asks the model.
  fixture.container.state.behaviour = isReady;
  expect([await fixture.deps.model.probe(), states.length]).toEqual(['ready', 1]);
});

describe('once its time is over', () => {
  beforeEach(async () => {
    await together(5, fails);
    nowMs += 10_000;
  });

  test('one request probes, and goes on once it is answered; others wait', async () => {
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const bodies: object[] = [];
    const first = request(async (body, res) => {
      bodies.push(body);
      if (!isProbe(body)) return deliver(body, res);
      asked.resolve();
      await goOn.promise;
      return isReady(body, res);
    });
    await asked.promise;
    await expect(run(newCommand(fixture), fixture.deps)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 5,
    });
    goOn.resolve();
    expect((await first).outcome).toMatchObject({ usage: { creditsUsed: 2 } });
    expect(bodies.map(isProbe)).toEqual([true, false]);
    expect(states.map(({ state }) => state)).toEqual(['open', 'half_open', 'closed']);
  });

  test('a container that knows no probes is not locked out', async () => {
    const { outcome } = await request((body, res) => (isProbe(body) ? refuses : deliver)(body, res));
    expect(outcome).toMatchObject({ usage: { creditsUsed: 2 } });
  });
});

test('a model that is starting is called by nobody for five seconds, and callers read to wait for thirty', async () => {
  let asked = 0;
  const runtime = await listen(
    createServer((_req, res) => {
      asked += 1;
      const headers = { 'content-type': 'application/json', 'x-amzn-errortype': 'ModelNotReadyException' };
      res.writeHead(429, headers).end('{"Message":"Model is not ready."}');
    }),
  );
  const url = process.env['AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME'];
  process.env['AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME'] = runtime.url;
  useModel();
  // The client reads the address when it first calls.
  expect(await fixture.deps.model.probe()).toBe('waking');
  process.env['AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME'] = url;

  const { command, outcome } = await request();
  const sentence = 'The model is starting, which may take a few minutes. Try again shortly.';
  expect(outcome).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 30 });
  expect(outcome.message).toBe(`${sentence} Nothing was charged.`);
  expect(loggableError(fixture.faults.at(-1)!.error)).toMatchObject([
    { code: 'SERVICE_UNAVAILABLE' },
    { message: 'model server: warming' },
    { name: 'ModelNotReadyException' },
  ]);
  const { generation, period } = await stored(fixture, command);
  expect([generation!.status, period.committed]).toEqual(['FAILED', 0]);
  expect(states).toMatchObject([{ state: 'open', reason: 'warming' }]);
  nowMs += 4999;
  const next = await request();
  expect(next.outcome).toMatchObject({ message: sentence, retryAfterSeconds: 30 });
  const notCalled = [{ message: 'model server: not called while it is warming' }];
  expect(loggableError(next.outcome.cause)).toMatchObject(notCalled);
  expect((await stored(fixture, next.command)).generation).toBeNull();
  const waiting = newCommand(fixture, { respondAsync: true });
  expect(await acceptGeneration(waiting, fixture.deps)).toMatchObject({ outcome: 'accepted' });
  nowMs += 1;
  // Its probe found it still starting.
  expect(loggableError((await request()).outcome.cause)).toMatchObject([
    { message: 'model server: warming' },
    { name: 'ModelNotReadyException' },
  ]);
  expect(states.at(-1)).toMatchObject({ state: 'open', reason: 'warming' });
  expect(asked).toBe(3);
  await runtime.close();
});
