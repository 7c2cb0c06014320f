import { beforeEach, describe, expect, test } from '@jest/globals';
import { modelServer } from '../../../shared/model/client.ts';
import type { ModelRequest } from '../../../shared/model/contract.ts';
import type { Breaker } from '../../../shared/model/breaker-states.ts';
import { useEngines } from '../generations/use-engines.ts';
import {
  emit,
  newCommand,
  deliver,
  putOutputs,
  run,
  says,
  stored,
  withDeadline,
  type Behaviour,
} from '../generations/fixture.ts';

const fixture = useEngines();
/** Every state that the breaker entered. */
let states: Breaker[];

function useModel(endpointName: string): void {
  states = [];
  fixture.deps.model = modelServer(endpointName, {
    clock: fixture.clock,
    onBreaker: (breaker) => void states.push(breaker),
  });
}
beforeEach(() => useModel('model'));

/** Runs one command against a container, which must be called once. No credits may stay reserved. */
async function runAgainst(behaviour: Behaviour, deps = fixture.deps, observer = {}) {
  Object.assign(fixture.container.state, { behaviour, calls: 0 });
  const command = newCommand(fixture);
  const outcome = (await run(command, deps, observer)) as any;
  const { generation, period } = await stored(fixture, command);
  expect(fixture.container.state.calls).toBe(1);
  expect(period).toMatchObject({ used: 0, committed: 0, byIdentity: {} });
  // The log names the request.
  expect(fixture.faults.at(-1)!.requestId).toBe(command.requestId);
  return { outcome, generation: generation! };
}

const started = { event: 'started' };
const progress = { event: 'progress', step: 1, steps: 30 };

const broken: Record<string, Behaviour> = {
  'answers 500': (_request, res) => void res.writeHead(500).end('{}'),
  'hangs up': (_request, res) => void res.destroy(),
  'answers nothing at all': says(),
  'ends without a closing event': says(started, progress),
  'dies in mid-stream': (_request, res) => {
    emit(res, started);
    setTimeout(() => res.destroy(), 20);
  },
  'sends what is no JSON': (_request, res) => void res.end('{"event":"started"}\nnonsense\n'),
  'sends an unknown event': says(started, { event: 'dreaming' }),
  'sends bytes that are no UTF-8': (_request, res) => void res.end(Buffer.from([0x22, 0xff, 0xfe, 0x0a])),
  'sends an event without end': (_request, res) => {
    emit(res, started);
    res.end('x'.repeat(100_000));
  },
  // More than a mebibyte, in few lines: blanks are part of JSON.
  'floods its stream': (_request, res) =>
    void res.end(`${JSON.stringify(progress)}${' '.repeat(10_000)}\n`.repeat(150)),
};

describe('a container that breaks the contract is a failed generation that costs nothing', () => {
  test.each(Object.entries(broken))(
    'it %s, and the fifth time opens the breaker',
    async (_what, behaviour) => {
      for (let times = 0; times < 5; times += 1) {
        expect(states).toEqual([]);
        const { outcome, generation } = await runAgainst(behaviour);
        expect([outcome.code, outcome.status]).toEqual(['GENERATION_FAILED', 500]);
        expect(generation).toMatchObject({
          status: 'FAILED',
          errorCode: 'GENERATION_FAILED',
          leaseUntilMs: 0,
        });
        expect(generation.errorMessage).toMatch(/^The model .*\.$/);
      }
      expect(states).toMatchObject([{ state: 'open', reason: 'failing' }]);
    },
  );
});

test.each(['nobody', 'no-such-endpoint'])(
  'no answer of the endpoint %s is SERVICE_UNAVAILABLE, asked once, and the fifth time opens the breaker',
  async (endpointName) => {
    useModel(endpointName);
    for (let times = 0; times < 5; times += 1) {
      expect(states).toEqual([]);
      const command = newCommand(fixture);
      const outcome = (await run(command, fixture.deps)) as any;
      expect([outcome.code, outcome.status]).toEqual(['SERVICE_UNAVAILABLE', 503]);
      // A second call could generate, and cost, a second time.
      expect(fixture.faults.at(-1)!.error.cause.$metadata.attempts).toBe(1);
      const { generation, period } = await stored(fixture, command);
      expect(generation).toMatchObject({ status: 'FAILED', startedAtMs: null });
      expect(period).toMatchObject({ used: 0, committed: 0 });
    }
    expect(states).toMatchObject([{ state: 'open', reason: 'failing' }]);
  },
);

describe('the deadline', () => {
  test('hangs up on the container, whose images may come after all, and change nothing', async () => {
    const asked = Promise.withResolvers<ModelRequest>();
    const hungUp = Promise.withResolvers<void>();
    const { deps, pass } = withDeadline(fixture.deps);
    const hangs: Behaviour = (request, res) => {
      asked.resolve(request);
      res.once('close', hungUp.resolve);
      emit(res, started);
    };
    const { outcome, generation } = await runAgainst(hangs, deps, { started: pass });
    expect([outcome.code, generation.status]).toEqual(['TIMEOUT', 'TIMEOUT']);
    await hungUp.promise;
    expect(await putOutputs(await asked.promise)).toHaveLength(2);
    const { generations } = fixture.deps;
    expect(await generations.get(generation.licenseId, generation.requestId)).toEqual(generation);
  });

  test.each([
    ['counts against a container that has said nothing', false, [{ state: 'open', reason: 'failing' }]],
    ['does not count against a container that began', true, []],
  ])('%s', async (_what, begins, expected) => {
    for (let times = 0; times < 5; times += 1) {
      const { deps, pass } = withDeadline(fixture.deps);
      const hangs: Behaviour = (_request, res) => (begins ? emit(res, started) : pass());
      const { outcome } = await runAgainst(hangs, deps, { started: pass });
      expect(outcome.code).toBe('TIMEOUT');
    }
    expect(states).toMatchObject(expected);
  });
});

test('runs that end because the service stops, or that we could not begin to store, say nothing of the container', async () => {
  const start = () => Promise.reject(new Error('the table is away'));
  const unstored = { ...fixture.deps, generations: { ...fixture.deps.generations, start } };
  for (let times = 0; times < 6; times += 1) {
    const stopper = new AbortController();
    const stopping = { ...fixture.deps, stopping: stopper.signal };
    const { outcome } = await runAgainst(() => stopper.abort(), stopping);
    expect(outcome.code).toBe('SERVICE_UNAVAILABLE');
    expect((await runAgainst(deliver, unstored)).outcome.status).toBe(500);
  }
  expect(states).toEqual([]);
});
