import { longestColdStartSeconds } from '../../../shared/model/cold-start.ts';
import type { StoredRecord } from './invariants.ts';
import type { Run } from './runs.ts';
import type { Json } from './table-calls.ts';

export interface RunRulesDeps {
  now: () => number;
  record: (requestId: string) => StoredRecord | undefined;
  violation: (sentence: string) => void;
}

/** How long a model that is awake needs at most for a request that asks again and again. */
const paintedWithinMs = 120_000;
/** A worker asks a model that sleeps at least as often. */
const asksWithinMs = 45_000;
/** Two clocks differ by no more. */
const clocksDifferMs = 4000;

/**
 * Whether the run that has begun goes on, and is of another invocation than the one whose failure is told. Runs of one
 * event that Lambda brought twice can't be told apart by that.
 */
function goesOn(startedBy: Run, release: Run): boolean {
  return !startedBy.dead && !startedBy.ended && startedBy.invocationId !== release.invocationId;
}

/** The rules of requests that nobody waits for, each of which several runs may run. */
export function createRunRules({ now, record, violation }: RunRulesDeps) {
  /** Why a request may have failed that is none of its runs' own: what met its events. */
  const excused = new Map<string, string>();
  /** By request: those that ran it. */
  const runsOf = new Map<string, Run[]>();
  /** By environment of `run-generation`: all that ran there. A breaker remembers what others met. */
  const runsIn = new Map<number, Run[]>();
  const environments = new Map<Run, number>();
  /** What each run read of the request that it was told of. */
  const found = new Map<Run, string>();
  const handedOver = new Map<string, Run>();
  let identityWasAway = false;

  const wrong = (run: Run, what: string) => violation(`${run.name}: ${what}`);

  /** Whether a run that begins and goes on was taken its request away. */
  function wrongEnd(
    before: StoredRecord['item'],
    { startedBy, item }: StoredRecord,
    run: Run,
  ): string | null {
    if (run.kind === 'sweep' && now() + clocksDifferMs < before.deadlineMs)
      return `${item.status} by the sweep before its deadline`;
    if (startedBy === null || startedBy === run) return null;
    if (run.kind === 'worker' || run.kind === 'caller')
      return `${item.status} by ${run.name}, which had not begun it`;
    return run.kind === 'release' && goesOn(startedBy, run) && now() < before.leaseUntilMs
      ? `${item.status} by ${run.name} while ${startedBy.name} went on`
      : null;
  }

  function excuseOf(
    { requestId, item, endedAtMs, modelAwakeSinceMs }: StoredRecord,
    accepted: Run,
  ): string | null {
    const workers = runsOf.get(requestId) ?? [];
    const sharing = workers.flatMap((run) => runsIn.get(environments.get(run)!)!);
    const spoilt = [accepted, ...workers, ...sharing].find(({ faults }) =>
      faults.some(({ fault }) => fault !== 'asleep'),
    );
    if (identityWasAway) return 'its identity had no model';
    if (excused.has(requestId)) return excused.get(requestId)!;
    if (spoilt !== undefined) return `what met ${spoilt.name}`;
    // A sleeping model is a reason to wait, and to fail only once the deadline is there.
    const waited = endedAtMs! + clocksDifferMs >= item.deadlineMs;
    const slept = modelAwakeSinceMs === null || modelAwakeSinceMs + paintedWithinMs > item.deadlineMs;
    return waited && slept ? 'the model slept' : null;
  }

  /** Whether it could do what it wanted when it wanted, but for what its model did. */
  function ranFreely({ faults, stalledUntilMs }: Run): boolean {
    return stalledUntilMs === 0 && faults.every(({ call }) => call.includes('the model'));
  }

  /** Whether a worker gave up on a model that sleeps long after it had last asked it. */
  function stoppedAsking(run: Run): boolean {
    const { kind, foundAsleepAtMs } = run;
    if (kind !== 'worker' || foundAsleepAtMs === null || !ranFreely(run)) return false;
    const others = runsIn.get(environments.get(run)!)!;
    const onlySlept = others.every(({ faults }) =>
      faults.every(({ call, fault }) => fault === 'asleep' || !call.includes('the model')),
    );
    return onlySlept && now() - foundAsleepAtMs > asksWithinMs;
  }

  return {
    /** The request may fail for this. */
    excuse: (requestId: string, why: string) => void excused.set(requestId, why),
    excuseAll: () => void (identityWasAway = true),
    handedOver: (requestId: string, by: Run) => void handedOver.set(requestId, by),
    begin(run: Run, environment: number): void {
      const { requestId } = run.about!;
      runsOf.set(requestId, [...(runsOf.get(requestId) ?? []), run]);
      runsIn.set(environment, [...(runsIn.get(environment) ?? []), run]);
      environments.set(run, environment);
    },
    /** A run reads its request. */
    read(run: Run): void {
      if (run.kind === 'worker') found.set(run, record(run.about!.requestId)?.item.status);
    },
    /** A record reached a final state. */
    ended(before: StoredRecord['item'], stored: StoredRecord, run: Run): void {
      const why = wrongEnd(before, stored, run);
      if (why !== null) violation(`request ${stored.requestId}: ${why}`);
      if (stored.startedBy === null && stoppedAsking(run)) wrong(run, 'stopped asking a model that slept');
    },
    /** Lambda ends a run. A worker that ran freely has ended by itself, soon after the deadline. */
    timeLimitReached(run: Run): void {
      if (run.kind === 'worker' && !run.ended && !run.dead && ranFreely(run))
        wrong(run, 'goes on until Lambda ends it');
    },
    /** A run looks at an image or charges: only the one that has begun the request may. */
    finishes(run: Run, what: string): void {
      if (run.kind !== 'worker' || record(run.about!.requestId)?.startedBy === run) return;
      wrong(run, `${what} of what it has not begun`);
    },
    callsModel(run: Run): void {
      if (run.kind !== 'worker') return;
      const status = found.get(run);
      if (status !== 'QUEUED') wrong(run, `asks the model for what it found ${status}`);
      if (run.calls.includes('start')) wrong(run, 'asks the model again for what has begun');
      const { deadlineMs } = record(run.about!.requestId)!.item;
      if (now() + run.skewMs >= deadlineMs) wrong(run, 'asks the model after the deadline');
    },
    /** References belong to the run that goes on. */
    deletesCopies(run: Run, requestId: string): void {
      const stored = record(requestId);
      if (stored === undefined || stored.endedAtMs !== null) return;
      const isTold = run.kind === 'caller' && handedOver.get(requestId) === run && stored.startedBy !== null;
      const { startedBy } = stored;
      const isOfOther = run.kind === 'release' && startedBy !== null && goesOn(startedBy, run);
      if (run.kind === 'worker' || isTold || isOfOther)
        wrong(run, `deletes references of what is ${stored.item.status}`);
    },
    /** Once nothing runs: whatever no fault met is painted, however long the model slept within its deadline. */
    atRest(): void {
      for (const [requestId, accepted] of handedOver) {
        const stored = record(requestId);
        if (stored === undefined || stored.item.status === 'COMPLETED') continue;
        if (excuseOf(stored, accepted) !== null) continue;
        violation(
          `request ${requestId} is ${stored.item.status} though nothing was wrong (${stored.item.errorMessage})`,
        );
      }
    },
  };
}

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
  if (wakeSeconds !== null && !(wakeSeconds >= 1 && wakeSeconds <= longestColdStartSeconds))
    return `waking took ${wakeSeconds} s`;
  return wakingSinceMs !== null && refusedAtMs < wakingSinceMs
    ? 'the last refusal came before the first'
    : null;
}
