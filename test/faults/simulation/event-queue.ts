import { failureRecord } from '../../../local/lambda/event-queue.ts';
import type { GenerationRef } from '../../../shared/generations/worker-contract.ts';
import { jobs } from '../../../shared/routes/jobs.ts';
import { runJob, type EventHandler, type Functions } from './functions.ts';
import { die, newRun, type Run, type RunKind } from './runs.ts';
import type { World } from './world.ts';

export type EventQueue = ReturnType<typeof createEventQueue>;

/** An event of `run-generation`, as Lambda has it. */
interface Invocation {
  invocationId: string;
  ref: GenerationRef;
  takenAtMs: number;
}

/** How long the function may run beyond the deadline of the requests that it runs. */
const marginSeconds = 30;
/** Lambda tries a function that fails again, twice, after a minute and after two more. */
const pausesMs = [60_000, 120_000];
const releaseTimeLimitMs = 60_000;

/** Lambda's queue for events that nobody waits for, and all that may happen to them. */
export function createEventQueue(
  { scheduler, random, profile, counts, history, isCalm, checker }: World,
  functions: Pick<Functions, 'run' | 'release'>,
  skewsMs: number[],
) {
  const { events: faults, asyncDeadlineSeconds } = profile;
  const maxAgeMs = asyncDeadlineSeconds * 1000;
  let taken = 0;
  const meets = (chance: number) => !isCalm() && random.chance(chance);

  function note(what: string, { requestId }: GenerationRef): void {
    counts.add(`event: ${what}`);
    history.note('the queue', `${what}: ${requestId}`);
  }

  /** A fault that met an event. The request that it is about may fail for it. */
  function tell(what: string, ref: GenerationRef): void {
    note(what, ref);
    checker.runs.excuse(ref.requestId, what);
  }

  /** Brings something once, late, twice or never. */
  function bring(what: string, ref: GenerationRef, arrive: () => void): void {
    if (meets(faults.lost)) return tell(`${what} lost`, ref);
    const isLate = meets(faults.late);
    if (isLate) tell(`${what} late`, ref);
    const lateMs = () => random.pick([random.int(1000, 180_000), random.int(0, 1.5 * maxAgeMs)]);
    scheduler.after(isLate ? lateMs() : random.int(5, 100), arrive);
    if (!meets(faults.twice)) return;
    // No reason to fail.
    note(`${what} twice`, ref);
    // Mostly before the first one's model has begun.
    const laterMs = [
      random.int(0, 400),
      random.int(0, 400),
      random.int(0, 20_000),
      random.int(2000, 240_000),
    ];
    scheduler.after(random.pick(laterMs), arrive);
  }

  function newMachine(
    kind: RunKind,
    { requestId, invocationId }: { requestId: string; invocationId: string },
    environment: number,
  ): Run {
    const name = `${kind} ${requestId.slice(-4)}/${invocationId.slice(0, 8)}`;
    const skewMs = skewsMs[environment]!;
    return newRun(name, scheduler.now(), {
      kind,
      invocationId,
      mayFail: true,
      mayDie: true,
      skewMs,
      environment: `${kind} ${environment}`,
    });
  }

  /** Lets a function run on a machine that may die or stand still at any moment. @returns whether all went well. */
  async function onMachine(
    run: Run,
    { handler, event, timeLimitMs }: { handler: EventHandler; event: unknown; timeLimitMs: number },
  ): Promise<boolean> {
    const { requestId } = run.about!;
    scheduler.after(timeLimitMs, () => {
      checker.runs.timeLimitReached(run);
      die(run);
    });
    if (meets(faults.dies))
      scheduler.after(random.pick([random.int(1, 60), random.int(1, 60_000)]), () => {
        if (run.ended || run.dead) return;
        tell(`${run.kind} killed at any moment`, run.about!);
        die(run);
      });
    if (meets(faults.freezes))
      scheduler.after(random.int(1, 20_000), () => {
        if (run.ended || run.dead) return;
        tell(`${run.kind} frozen`, run.about!);
        run.stalledUntilMs =
          scheduler.now() + random.pick([random.int(3000, 60_000), random.int(60_000, 300_000)]);
      });
    history.note(run.name, `begins ${requestId}`);
    const good = await runJob(run, () => handler(event, { awsRequestId: run.invocationId! }));
    run.ended = good !== null;
    run.failed = good === false;
    if (good === null) counts.add(`event: ${run.kind} died`);
    history.note(run.name, good === null ? '† died' : good ? 'done' : 'failed');
    return good === true;
  }

  async function work(invocation: Invocation): Promise<void> {
    const { ref, invocationId, takenAtMs } = invocation;
    if (scheduler.now() - takenAtMs > maxAgeMs) {
      tell('too old', ref);
      return fail(invocation, 'EventAgeExceeded');
    }
    const environment = random.int(0, functions.run.length - 1);
    const run = newMachine('worker', { ...ref, invocationId }, environment);
    run.about = ref;
    checker.runs.begin(run, environment);
    counts.add('event: worker runs');
    const timeLimitMs = (asyncDeadlineSeconds + marginSeconds) * 1000;
    const good = await onMachine(run, { handler: functions.run[environment]!, event: ref, timeLimitMs });
    if (!good) fail(invocation, 'RetriesExhausted');
  }

  /** Lambda tells the destination. */
  function fail({ ref, invocationId }: Invocation, condition: string): void {
    const told = failureRecord(
      jobs.runGeneration.functionName,
      ref,
      new Error('it failed'),
      invocationId,
    ) as Record<string, any>;
    const record = { ...told, requestContext: { ...told.requestContext, condition } };
    const release = async (pauses: number[]): Promise<void> => {
      const run = newMachine('release', { ...ref, invocationId }, 0);
      run.about = ref;
      counts.add('event: release runs');
      const good = await onMachine(run, {
        handler: functions.release,
        event: record,
        timeLimitMs: releaseTimeLimitMs,
      });
      if (good || pauses.length === 0) return;
      await scheduler.pause(pauses[0]!);
      counts.add('event: release tried again');
      await release(pauses.slice(1));
    };
    bring('failure', ref, () => void release(pausesMs));
  }

  function enqueue(ref: GenerationRef): void {
    taken += 1;
    const invocationId = `${String(taken).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const invocation = { invocationId, ref, takenAtMs: scheduler.now() };
    counts.add('event: taken');
    bring('event', ref, () => void work(invocation));
  }

  return {
    /** Lambda has taken an event of `run-generation`. */
    take(ref: GenerationRef): void {
      enqueue(ref);
      if (!meets(faults.takenTwice)) return;
      // It was told twice, as by a caller that heard nothing the first time. Two invocations, and no reason to fail.
      note('event taken twice', ref);
      enqueue(ref);
    },
  };
}
