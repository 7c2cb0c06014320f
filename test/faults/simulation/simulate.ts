import { createHash } from 'node:crypto';
import { openStores } from '../../../bin/common/stores.ts';
import { subscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { openTable } from '../../../shared/table/table.ts';
import { runClient, serveAgain } from './clients.ts';
import { drawDeletionFaults } from './deleter.ts';
import { createEventQueue } from './event-queue.ts';
import { coldStart, prepareEnvironment } from './functions.ts';
import { createJudge, type Cast } from './judge.ts';
import { createNetwork } from './network.ts';
import { changeBudgets, drawBudgets, runOperator, runSweeps, runWeather } from './operators.ts';
import { seededRandom } from './random.ts';
import { currentRun, newRun } from './runs.ts';
import { drawSetup, drawStart, storeSetup } from './setup.ts';
import { openDatabase } from './table-calls.ts';
import {
  createScheduler,
  installVirtualTime,
  patientTurns,
  turn,
  useScheduler,
  type Scheduler,
} from './time.ts';
import { installNetwork, useNetwork } from './transport.ts';
import { createWorld, type World } from './world.ts';

export interface SimulationResult {
  seed: number;
  violations: string[];
  history: readonly string[];
  /** Of the history: the same seed, the same history. */
  fingerprint: string;
  counts: Record<string, number>;
}

/**
 * Once a process, before the first simulation. The SDK reads files and imports modules when it is first used, for
 * which no event waits; so a first world is played patiently.
 */
export async function installSimulation(): Promise<void> {
  installVirtualTime();
  installNetwork();
  await simulate(0, patientTurns(150));
}

/**
 * Plays one seed's world to its end.
 * @param letRun lets everything run that waits for no event
 */
export async function simulate(seed: number, letRun = turn): Promise<SimulationResult> {
  const random = seededRandom(seed);
  const startMs = drawStart(random);
  const scheduler = createScheduler(random, startMs, letRun);
  const database = await openDatabase(scheduler.now);
  const world = createWorld(seed, { scheduler, random, database, startMs });
  prepareEnvironment(database.tableName, world.profile);
  const functions = await coldStart(random.int(1, 3));
  const { maxSkewMs } = world.profile;
  const skewsMs = functions.generate.map(() => random.int(-maxSkewMs, maxSkewMs));
  const events = createEventQueue(world, functions, skewsMs);
  try {
    useScheduler(scheduler);
    useNetwork(createNetwork(world, events));
    const stores = openStores(database.tableName);
    const subscriptions = subscriptionStore(openTable(database.tableName));
    const setup = drawSetup(random, startMs, { stores, subscriptions }, world.moment);
    drawBudgets(seed, setup);
    drawDeletionFaults(world);
    for (const { license, subscription } of setup.tenants) {
      if (subscription !== null) world.checker.followSubscription(license.licenseId, subscription);
    }
    let numbers = 0;
    const cast: Cast = {
      world,
      setup,
      functions,
      judge: createJudge(world, setup),
      skewsMs,
      nextNumber: () => (numbers += 1),
    };
    await drive(
      world,
      currentRun.run(newRun('set-up', startMs), () => storeSetup(setup)),
    );
    await play(cast);
  } finally {
    useScheduler(null);
    useNetwork(null);
    await database.close();
  }
  return resultOf(world);
}

async function play(cast: Cast): Promise<void> {
  const { world, setup } = cast;
  const { random, scheduler, checker } = world;
  const clients = Array.from({ length: random.int(2, 5) }, () => runClient(cast, random.pick(setup.keys)));
  const actors = Promise.all([
    ...clients,
    runOperator(cast),
    changeBudgets(cast),
    random.chance(0.4) ? runWeather(cast) : null,
  ]);
  let over = false;
  const sweeping = runSweeps(cast, () => over);
  if (!(await drive(world, actors))) return;
  world.calmDown();
  // The longest lease, which also what was stored late has, and time for the sweep.
  const restMs = (world.profile.asyncDeadlineSeconds + 10 * 60) * 1000;
  const rest = scheduler.pause(restMs).then(() => (over = true));
  if (!(await drive(world, Promise.all([rest, sweeping])))) return;
  if (!(await drive(world, serveAgain(cast)))) return;
  await checker.atRest(setup.tenants);
  cast.judge.atRest();
}

/** Far more than any world needs that comes to an end. */
const maxSteps = 100_000;

/** Lets time pass until something is done. @returns false when an invariant broke on the way. */
async function drive(world: World, work: Promise<unknown>): Promise<boolean> {
  const { scheduler, violations, history } = world;
  const goesOn = () => violations.length === 0;
  const ending: { done: boolean; failure?: unknown } = { done: false };
  work.then(
    () => (ending.done = true),
    (failure: unknown) => Object.assign(ending, { done: true, failure }),
  );
  await scheduler.turn();
  for (let steps = 0; !ending.done && goesOn(); steps++) {
    if (steps > maxSteps) throw new Error(`no end in sight:\n${history.lines().slice(-30).join('\n')}`);
    await mustStep(scheduler);
  }
  if ('failure' in ending) throw ending.failure;
  return goesOn();
}

async function mustStep(scheduler: Scheduler): Promise<void> {
  for (let turns = 0; turns < 1000; turns++) {
    if (await scheduler.step()) return;
    await scheduler.turn();
  }
  throw new Error('somebody waits for what will never happen');
}

function resultOf({ seed, violations, history, counts, checker, bucket }: World): SimulationResult {
  for (const status of ['COMPLETED', 'FAILED', 'TIMEOUT'])
    counts.add(`generations: ${status}`, checker.count(status));
  counts.add('images', bucket.images);
  counts.add('previews', bucket.previews);
  for (const { wasAskedToGo, cameLate } of bucket.copies()) {
    const why = wasAskedToGo ? 'its deletion was lost' : cameLate ? 'it came late' : 'its machine died';
    counts.add(`copy left to the bucket's own rule: ${why}`);
  }
  counts.add('copies', bucket.copied);
  const lines = history.lines();
  const fingerprint = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
  return { seed, violations, history: lines, fingerprint, counts: counts.totals };
}
