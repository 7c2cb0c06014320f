import { createBucket } from './bucket.ts';
import { drawProfile, type CallFault } from './faults.ts';
import { createCapacity, type ModelBehavior } from './model.ts';
import type { Random } from './random.ts';
import type { Database } from './table-calls.ts';
import type { Scheduler } from './process.ts';

export type Outside = ReturnType<typeof createOutside>;

const particulars = /[0-9a-f]{8}-[\w-]+|once-\d+|lic_\w+|key-\d+|\d+ credits|of \d+$|\(env \d\)/g;

/** What a line of the history is about, without names and numbers. */
function kindOf(who: string, what: string): string {
  const fault = /✗.*/.exec(what);
  return fault?.[0] ?? `${who.split(/[ #]/)[0]} ${what.replaceAll(particulars, '')}`.trim();
}

/** Everything of a simulation that is outside of the service, and what is noted of it. */
export function createOutside(
  seed: number,
  from: { scheduler: Scheduler; random: Random; database: Database; startMs: number },
) {
  const { now } = from.scheduler;
  /** What happened, in order, as a person reads it. */
  const history: string[] = [];
  /** How often which kind of thing happened. */
  const counts: Record<string, number> = {};
  const violations: string[] = [];
  let calm = false;
  let moments = 0;
  let numbers = 0;
  const note = (who: string, what: string): void => {
    const kind = kindOf(who, what);
    counts[kind] = (counts[kind] ?? 0) + 1;
    const seconds = ((now() - from.startMs) / 1000).toFixed(3).padStart(10);
    history.push(`${seconds}s  ${who.padEnd(18)} ${what}`);
  };
  const violation = (sentence: string): void => {
    violations.push(sentence);
    note('!!', sentence);
  };
  const profile = drawProfile(from.random, seed);
  return {
    seed,
    ...from,
    history,
    counts,
    violations,
    note,
    violation,
    /** A check that says what is wrong, or null. */
    complain(who: string, wrong: string | null): void {
      if (wrong !== null) violation(`${who}: ${wrong}`);
    },
    /** An invariant: the sentence says what is wrong where it does not hold. */
    must(holds: boolean, sentence: string): void {
      if (!holds) violation(sentence);
    },
    profile,
    bucket: createBucket(),
    capacity: createCapacity(profile.scaling, { now, note: (what) => note('the model', what) }),
    /** What everything of a kind suffers for a while. */
    outage: { calls: null as CallFault | null, model: null as ModelBehavior | null },
    /** Whether faults are over, so that what they left can come to rest. */
    isCalm: () => calm,
    calmDown: () => void (calm = true),
    /** Is told of each request that was stored or has begun or is about to, and whose image is looked at. */
    watch: { touched: (_requestId: string): void => {} },
    /** Counts up: which of two things came first, however short the time between. */
    moment: () => (moments += 1),
    nextNumber: () => (numbers += 1),
  };
}
