import { longestColdStartSeconds, shortestIdleSeconds } from '../../../shared/model/cold-start.ts';
import type { StoredRecord } from './invariants.ts';
import type { Outside } from './outside.ts';
import type { Run } from './runs.ts';
import type { Json } from './table-calls.ts';

/** How long a model with capacity needs at most for a request that asks again and again. */
const generatedWithinMs = 120_000;
/** A request may be given up so long before its deadline, because its next try would come later. */
const longestPauseMs = 16_000;
/** The shortest pause between two tries is longer. */
const noPauseMs = 900;
/** A slow call may come between the decision to come back and its being sent. */
const decidesWithinMs = 4000;
/** Two clocks differ by no more. */
const clocksDifferMs = 4000;

/** Whether it could do what it wanted when it wanted, but for what its model did. */
function ranFreely({ faults, stalledUntilMs }: Run): boolean {
  return stalledUntilMs === 0 && faults.every(({ call }) => call.includes('the model'));
}

/** Whether no fault met it but its model. */
const metNothing = (run: Run): boolean => ranFreely(run) && !run.missesNotes;

/** The rules of requests that nobody waits for, each of which several runs may run. */
export function createRunRules(
  { scheduler: { now }, complain, must, violation }: Outside,
  recordOf: (requestId: string) => StoredRecord | undefined,
) {
  /** Why a request may have failed that is none of its runs' own: what met its messages. */
  const excused = new Map<string, string>();
  const workers: Run[] = [];
  /** Those that have asked the model. */
  const asked = new Set<Run>();
  /** By request: the caller's run that enqueued it. */
  const enqueuedBy = new Map<string, Run>();
  const sent = new Set<string>();
  let identityWasAway = false;

  const wrong = (run: Run, what: string) => violation(`${run.name}: ${what}`);
  const workersOf = (requestId: string) => workers.filter(({ about }) => about!.requestId === requestId);
  /** A breaker remembers what others met. */
  const workersBeside = ({ environment }: Run) => workers.filter((run) => run.environment === environment);

  /** Whether a run that begins and goes on lost its request to another. */
  function wrongEnd(before: Json, { startedBy, item }: StoredRecord, run: Run): string | null {
    if (run.kind === 'sweep' && now() + clocksDifferMs < before.deadlineMs)
      return `${item.status} by the sweep before its deadline`;
    if ((item.errorCode === 'CANCELLED') !== (run.kind === 'cancel'))
      return `${item.errorCode} by ${run.name}, which nobody asked for`;
    const mayEnd = startedBy === null || startedBy === run || ['sweep', 'cancel', 'other'].includes(run.kind);
    return mayEnd ? null : `${item.status} by ${run.name}, which had not begun it`;
  }

  function isExcused({ requestId, item, endedAtMs, capacitySinceMs }: StoredRecord, accepted: Run): boolean {
    if (identityWasAway || excused.has(requestId) || item.errorCode === 'CANCELLED') return true;
    const own = workersOf(requestId);
    const met = [accepted, ...own, ...own.flatMap(workersBeside)].flatMap(({ faults }) => faults);
    if (met.some(({ fault }) => fault !== 'scaled to zero')) return true;
    // A model that is scaled to zero is a reason to wait, and to fail only once the deadline is there.
    const waited = endedAtMs! + longestPauseMs + clocksDifferMs >= item.deadlineMs;
    return waited && (capacitySinceMs === null || capacitySinceMs + generatedWithinMs > item.deadlineMs);
  }

  /** Whether a worker whose model refused it waits for anything but answers. */
  function pauses(run: Run): boolean {
    const isQuiet = run.kind === 'worker' && run.isRefused && run.waitsForAnswers === 0;
    return isQuiet && metNothing(run) && now() - run.answeredAtMs > noPauseMs;
  }

  return {
    /** The request may fail for this. */
    excuse: (requestId: string, why: string) => void excused.set(requestId, why),
    excuseAll: () => void (identityWasAway = true),
    enqueues: (requestId: string, by: Run) => void enqueuedBy.set(requestId, by),
    /** The queue has taken its message. */
    sent: (requestId: string) => void sent.add(requestId),
    isSent: (requestId: string): boolean => sent.has(requestId),
    begin(run: Run): void {
      if (run.kind === 'worker') workers.push(run);
    },
    /** A run sends a call or ends. */
    goesOn: (run: Run) => must(!pauses(run), `${run.name}: pauses in its execution`),
    /** A run has come to its end. @param isDone whether its message is */
    ends(run: Run, isDone: boolean): void {
      this.goesOn(run);
      must(isDone || run.calls.includes('bring back'), `${run.name}: comes again only after its time limit`);
      const item = recordOf(run.about!.requestId)?.item;
      if (run.kind !== 'worker' || item?.status !== 'QUEUED') return;
      must(!isDone, `${run.name}: leaves what nobody has begun`);
      const isNoted = item.beganColdStart === true || !run.beganColdStart || !metNothing(run);
      must(isNoted, `${run.name}: did not note that its request began a cold start`);
    },
    /** What a run failed at must not cost its request all of its time. */
    fails(run: Run): void {
      const comesInTime = run.kind !== 'worker' || run.calls.includes('bring back');
      must(comesInTime, `${run.name}: fails, and its message comes again only after its time limit`);
    },
    /** A run has its message come back. */
    bringsBack(run: Run, seconds: number): void {
      const { startedBy, item } = recordOf(run.about!.requestId)!;
      // Whatever failed, it comes again: what has begun is left alone then.
      must(startedBy !== run || !metNothing(run), `${run.name}: brings back what it has begun`);
      const comesInTime = now() + run.skewMs + seconds * 1000 <= item.deadlineMs + decidesWithinMs;
      // A run that fails at what another has ended or deleted meanwhile costs nobody anything.
      const isOver = item.status !== 'QUEUED';
      must(
        comesInTime || isOver || !metNothing(run),
        `${run.name}: brings back a request for after its deadline`,
      );
    },
    /** A run reads its request: a worker first of all, and once more where the answer did not come. */
    read(run: Run): void {
      const isFirst = run.calls.every((call) => call === 'read gen');
      if (run.kind === 'worker' && isFirst) run.found = recordOf(run.about!.requestId)?.item ?? null;
    },
    /** A record reached a final state. */
    ended(before: Json, stored: StoredRecord, run: Run): void {
      complain(`request ${stored.requestId}`, wrongEnd(before, stored, run));
    },
    /** Lambda ends a run. A worker that ran freely has ended by itself. */
    timeLimitReached(run: Run): void {
      if (run.kind === 'worker' && !run.ended && !run.dead && ranFreely(run))
        wrong(run, 'goes on until Lambda ends it');
    },
    /** A run looks at an image or charges: only the one that has begun the request may. */
    finishes(run: Run, what: string): void {
      if (run.kind !== 'worker' || recordOf(run.about!.requestId)?.startedBy === run) return;
      wrong(run, `${what} of what it has not begun`);
    },
    callsModel(run: Run): void {
      if (run.kind !== 'worker') return;
      const { deadlineMs } = recordOf(run.about!.requestId)!.item;
      const status = run.found?.status;
      must(status === 'QUEUED', `${run.name}: asks the model for what it found ${status}`);
      must(!asked.has(run), `${run.name}: asks the model twice`);
      asked.add(run);
      must(now() + run.skewMs < deadlineMs, `${run.name}: asks the model after the deadline`);
    },
    /** References belong to the run that goes on. */
    deletesCopies(run: Run, requestId: string): void {
      const stored = recordOf(requestId);
      if (stored === undefined || stored.endedAtMs !== null) return;
      const { startedBy, item } = stored;
      const isOfWorker = startedBy !== null && run.kind === 'caller' && enqueuedBy.get(requestId) === run;
      if (run.kind === 'worker' || run.kind === 'release' || isOfWorker)
        wrong(run, `deletes references of what is ${item.status}`);
    },
    /** Once nothing runs: whatever no fault met is generated, however long a cold start took within its deadline. */
    atRest(): void {
      for (const [requestId, accepted] of enqueuedBy) {
        const stored = recordOf(requestId);
        if (stored === undefined || stored.item.status === 'COMPLETED' || isExcused(stored, accepted))
          continue;
        const { status, errorMessage } = stored.item;
        violation(`request ${requestId} is ${status} though nothing was wrong (${errorMessage})`);
      }
    },
  };
}

/** The rules of the item that says how long a cold start takes. */
export function createColdStartRules({ must, scheduler: { now } }: Outside) {
  /** Environments in which somebody found a model without capacity. */
  const environments = new Set<string>();
  /** When each called the model last: one that failed may have been scaled to zero since. */
  const calledAtMs = new Map<string, number>();
  const isLongAgo = (run: Run) =>
    now() - (calledAtMs.get(run.environment) ?? Infinity) >= shortestIdleSeconds * 1000;
  /** Runs that might read it before they called the model: others may call it before they have done so. */
  const mayUse = new Set<Run>();
  return {
    called: (run: Run) => void calledAtMs.set(run.environment, now()),
    found: (run: Run) => void environments.add(run.environment),
    /** Reads or writes the item. */
    used(run: Run, purpose: string): void {
      if (environments.has(run.environment) || isLongAgo(run)) mayUse.add(run);
      must(mayUse.has(run), `${run.name}: ${purpose}, though its model had capacity`);
    },
    written(before: Json | undefined, item: Json, by: Run): void {
      const { version, wakeSeconds, wakingSinceMs, refusedAtMs, begunAtMs } = item;
      if (begunAtMs !== (before?.begunAtMs ?? 0)) by.beganColdStart = true;
      const next = (before?.version ?? 0) + 1;
      must(version === next, `cold starts: version ${before?.version} became ${version}`);
      must(
        wakeSeconds === null || (wakeSeconds >= 1 && wakeSeconds <= longestColdStartSeconds),
        `cold starts: one took ${wakeSeconds} s`,
      );
      const isOrdered = wakingSinceMs === null || !(refusedAtMs < wakingSinceMs);
      must(isOrdered, 'cold starts: the last refusal came before the first');
    },
  };
}
