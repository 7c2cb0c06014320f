import { createCounts, createHistory, type Counts, type History } from './history.ts';
import { createBucket, type Bucket } from './bucket.ts';
import { createChecker, type Checker } from './checker.ts';
import { drawProfile, type CallFault, type ModelBehavior, type Profile } from './faults.ts';
import { createSleep, type Sleep } from './model.ts';
import type { Random } from './random.ts';
import type { Database } from './table-calls.ts';
import type { Scheduler } from './time.ts';

/** One seed's world: its time, its weather and everything outside of the service. */
export interface World {
  seed: number;
  scheduler: Scheduler;
  random: Random;
  profile: Profile;
  history: History;
  database: Database;
  bucket: Bucket;
  checker: Checker;
  counts: Counts;
  violations: string[];
  /** Counts up: which of two things came first, however short the time between. */
  moment(): number;
  /** What everything of a kind suffers for a while. */
  outage: { calls: CallFault | null; model: ModelBehavior | null };
  sleep: Sleep;
  /** Whether faults are over, so that what they left can come to rest. */
  isCalm(): boolean;
  calmDown(): void;
}

export function createWorld(
  seed: number,
  {
    scheduler,
    random,
    database,
    startMs,
  }: { scheduler: Scheduler; random: Random; database: Database; startMs: number },
): World {
  const bucket = createBucket();
  const history = createHistory(scheduler.now, startMs);
  const violations: string[] = [];
  const violation = (sentence: string) => {
    violations.push(sentence);
    history.note('!!', sentence);
  };
  const profile = drawProfile(random);
  const counts = createCounts();
  const sleep = createSleep(profile.sleep, { now: scheduler.now, counts, history });
  let calm = false;
  let moments = 0;
  return {
    seed,
    scheduler,
    random,
    profile,
    history,
    database,
    bucket,
    checker: createChecker(database, bucket, { now: scheduler.now, violation, sleep }),
    counts,
    violations,
    moment: () => (moments += 1),
    outage: { calls: null, model: null },
    sleep,
    isCalm: () => calm,
    calmDown: () => void (calm = true),
  };
}
