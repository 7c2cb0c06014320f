/** Counts in a process of its own, because a function keeps the addresses that it first read. Prints one line of JSON. */
import { setTimeout as sleep } from 'node:timers/promises';
import { emit, putOutputs, type Behaviour } from '../engine/generations/world.ts';
import { identity, startCountingWorld, type Counted, type CountingWorld } from '../infra/costs/counting.ts';
import { prompt } from './overhead/stub-world.ts';
import { startSlowProxy } from './slow-proxy.ts';
import { sequentialTrips, splitAt } from './trips.ts';

export interface TableUse {
  /** DynamoDB calls that waited for each other. */
  tripsBeforeModel: number;
  /** The same when the function did not read the identity within the last ten seconds. */
  tripsBeforeModelWithCatalog: number;
  tripsDuringModel: number;
  tripsAfterModel: number;
  /** In order of their beginning. */
  calls: string[];
  usual: Units;
  longPrompt: Units;
  /** Requests for a picture's bytes, in or out, that the function made itself. */
  imageTransfersByFunction: number;
}

export interface Units {
  readUnits: number;
  tableWriteUnits: number;
  indexWriteUnits: number;
}

/** Long beside what a call of the engine takes, and short beside the SDK's patience. */
const slowMs = 150;

/** Generations on the local engines, counted: one as it is, one with 1,000 characters, one with slow calls. */
async function measureTableUse(): Promise<TableUse> {
  const world = await startCountingWorld();
  const slow = await startSlowProxy(process.env.AWS_ENDPOINT_URL_DYNAMODB!);
  // Before the function is called for the first time, when it reads this.
  process.env.AWS_ENDPOINT_URL_DYNAMODB = slow.url;
  try {
    const body = { identityId: identity.identityId, prompt, width: 1024, height: 1024 };
    // The first makes the caller's rate log and the period's item.
    await world.generate(body);
    const usual = await world.generate(body);
    const long = await world.generate({ ...body, prompt: prompt.repeat(10) });
    const trips = await measureTrips(world, slow, body);
    world.forgetCatalog();
    const { tripsBeforeModel: tripsBeforeModelWithCatalog } = await measureTrips(world, slow, body);
    return {
      ...trips,
      tripsBeforeModelWithCatalog,
      usual: unitsOf(usual),
      longPrompt: unitsOf(long),
      imageTransfersByFunction:
        (usual.objectRequests.GET ?? 0) + (usual.objectRequests.PUT ?? 0) - putsByModel,
    };
  } finally {
    await slow.close();
    await world.close();
  }
}

/** One image and its preview, by links that the function signed. */
const putsByModel = 2;
type SlowProxy = Awaited<ReturnType<typeof startSlowProxy>>;

/** The model takes its time as well, so that what is written while it works is not taken for what comes after it. */
async function measureTrips(world: CountingWorld, slow: SlowProxy, body: object) {
  let calledMs = Number.NaN;
  let completedMs = Number.NaN;
  const paintSlowly: Behaviour = async (request, res) => {
    calledMs = performance.now();
    emit(res, { event: 'started' });
    const outputs = await putOutputs(request);
    await sleep(4 * slowMs);
    completedMs = performance.now();
    emit(res, { event: 'completed', outputs, referenceImagesUsed: 0, modelVersion: 'bench-1' });
    res.end();
  };
  const { state } = world.container;
  const usually = state.behaviour;
  slow.take();
  slow.delay(slowMs);
  state.behaviour = paintSlowly;
  try {
    await world.generate(body);
  } finally {
    slow.delay(0);
    state.behaviour = usually;
  }
  const calls = slow.take().sort((a, b) => a.beginMs - b.beginMs);
  const { before, during, after } = splitAt(calls, calledMs, completedMs);
  return {
    tripsBeforeModel: sequentialTrips(before),
    tripsDuringModel: sequentialTrips(during),
    tripsAfterModel: sequentialTrips(after),
    calls: calls.map(({ operation }) => operation),
  };
}

const unitsOf = ({ readUnits, tableWriteUnits, indexWriteUnits }: Counted): Units => ({
  readUnits,
  tableWriteUnits,
  indexWriteUnits,
});

process.stdout.write(`${JSON.stringify(await measureTableUse())}\n`);
