import { longestWakeSeconds } from '../../../shared/model/cold-start.ts';
import type { Json } from './database.ts';
import type { Run } from './runs.ts';

/** The rules of the item that tells how long the model takes to wake. */
export function createWakingRules(violation: (sentence: string) => void) {
  /** Environments in which somebody found a model without capacity. */
  const foundAsleep = new Set<string>();
  return {
    foundAsleep: (run: Run) => void foundAsleep.add(run.environment),
    /** Reads or writes the item. */
    used(run: Run, purpose: string): void {
      if (!foundAsleep.has(run.environment)) violation(`${run.name}: ${purpose}, though its model was awake`);
    },
    written(before: Json | undefined, item: Json): void {
      const wrong = wrongWaking(before, item);
      if (wrong !== null) violation(`the waking item: ${wrong}`);
    },
  };
}

function wrongWaking(before: Json | undefined, { version, wakeSeconds, wakingSinceMs, refusedAtMs }: Json) {
  if (version !== (before?.version ?? 0) + 1) return `version ${before?.version} became ${version}`;
  if (wakeSeconds !== null && !(wakeSeconds >= 1 && wakeSeconds <= longestWakeSeconds))
    return `waking took ${wakeSeconds} s`;
  return wakingSinceMs !== null && refusedAtMs < wakingSinceMs
    ? 'the last refusal came before the first'
    : null;
}
