import { createChecker } from './checker.ts';
import { coldStart, prepareEnvironment } from './functions.ts';
import { createJudge } from './judge.ts';
import { createOutside } from './outside.ts';
import { createScheduler, useScheduler } from './process.ts';
import { seededRandom } from './random.ts';
import { drawSetup, drawStart } from './setup.ts';
import { openDatabase } from './table-calls.ts';

/** The service and everything around it, with those who check what it does. */
export type Simulation = Awaited<ReturnType<typeof createSimulation>>;

export async function createSimulation(seed: number) {
  const random = seededRandom(seed);
  const startMs = drawStart(random);
  const scheduler = createScheduler(random, startMs);
  const database = await openDatabase(scheduler.now);
  const outside = createOutside(seed, { scheduler, random, database, startMs });
  const { maxSkewMs } = outside.profile;
  prepareEnvironment(database.tableName, outside.profile);
  const functions = await coldStart(random.int(1, 3));
  /** By how much each environment's clock is wrong. */
  const skewsMs = functions.generate.map(() => random.int(-maxSkewMs, maxSkewMs));
  useScheduler(scheduler);
  const setup = drawSetup(outside);
  const checker = createChecker(outside, setup);
  const judge = createJudge(outside, setup, checker);
  return { ...outside, ...setup, functions, skewsMs, checker, judge };
}
