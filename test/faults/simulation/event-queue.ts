import { failureRecord } from '../../../local/lambda/event-queue.ts';
import type { GenerationRef } from '../../../shared/generations/queue-contract.ts';
import { jobs } from '../../../shared/routes/jobs.ts';
import { runJob, type EventHandler } from './functions.ts';
import { Run } from './runs.ts';
import type { Simulation } from './simulation.ts';

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
export function createEventQueue(simulation: Simulation) {
  const { scheduler, random, profile, isCalm, checker, functions, skewsMs } = simulation;
  const { events: faults, asyncDeadlineSeconds } = profile;
  const maxAgeMs = asyncDeadlineSeconds * 1000;
  let taken = 0;
  const meets = (chance: number) => !isCalm() && random.chance(chance);

  const note = (what: string, { requestId }: GenerationRef): void =>
    simulation.note('the queue', `${what}: ${requestId}`);

  /** A fault that met an event. The request that it is about may fail for it. */
  function noteFault(what: string, ref: GenerationRef): void {
    note(what, ref);
    checker.runs.excuse(ref.requestId, what);
  }

  /** Brings something once, late, twice or never. */
  function bring(what: string, ref: GenerationRef, arrive: () => void): void {
    if (meets(faults.lost)) return noteFault(`${what} lost`, ref);
    const isLate = meets(faults.late);
    if (isLate) noteFault(`${what} late`, ref);
    const lateMs = () => random.pick([random.int(1000, 180_000), random.int(0, 1.5 * maxAgeMs)]);
    scheduler.after(isLate ? lateMs() : random.int(5, 100), arrive);
    if (!meets(faults.twice)) return;
    // No reason to fail.
    note(`${what} twice`, ref);
    // Mostly before the first one's model has begun.
    const early = () => random.int(0, 400);
    scheduler.after(
      random.pick([early(), early(), random.int(0, 20_000), random.int(2000, 240_000)]),
      arrive,
    );
  }

  /** Lets a function run on a machine that may die or stand still at any moment. @returns whether all went well. */
  async function onMachine(
    kind: 'worker' | 'release',
    { ref, invocationId }: Invocation,
    of: { handler: EventHandler; event: unknown; timeLimitMs: number; environment: number },
  ): Promise<boolean> {
    const { handler, event, timeLimitMs, environment } = of;
    const { requestId } = ref;
    const run = new Run(`${kind} ${requestId.slice(-4)}/${invocationId.slice(0, 8)}`, scheduler.now(), {
      kind,
      invocationId,
      about: ref,
      mayFail: true,
      mayDie: true,
      skewMs: skewsMs[environment]!,
      environment: `${kind} ${environment}`,
    });
    if (kind === 'worker') checker.runs.begin(run);
    scheduler.after(timeLimitMs, () => {
      checker.runs.timeLimitReached(run);
      run.die();
    });
    const isGone = () => run.ended || run.dead;
    if (meets(faults.dies))
      scheduler.after(random.pick([random.int(1, 60), random.int(1, 60_000)]), () => {
        if (isGone()) return;
        noteFault(`${kind} killed at any moment`, ref);
        run.die();
      });
    if (meets(faults.freezes))
      scheduler.after(random.int(1, 20_000), () => {
        if (isGone()) return;
        noteFault(`${kind} frozen`, ref);
        run.stalledUntilMs =
          scheduler.now() + random.pick([random.int(3000, 60_000), random.int(60_000, 300_000)]);
      });
    simulation.note(run.name, `begins ${requestId}`);
    const good = await runJob(run, () => handler(event, { awsRequestId: invocationId }));
    run.failed = good === false;
    simulation.note(run.name, good === null ? '† died' : good ? 'done' : 'failed');
    return good === true;
  }

  async function work(invocation: Invocation): Promise<void> {
    const { ref, takenAtMs } = invocation;
    if (scheduler.now() - takenAtMs > maxAgeMs) {
      noteFault('too old', ref);
      return fail(invocation, 'EventAgeExceeded');
    }
    const environment = random.int(0, functions.run.length - 1);
    const timeLimitMs = (asyncDeadlineSeconds + marginSeconds) * 1000;
    const handler = functions.run[environment]!;
    const good = await onMachine('worker', invocation, { handler, event: ref, timeLimitMs, environment });
    if (!good) fail(invocation, 'RetriesExhausted');
  }

  /** Lambda notifies the destination. */
  function fail(invocation: Invocation, condition: string): void {
    const { ref, invocationId } = invocation;
    const { functionName } = jobs.runGeneration;
    const record: any = failureRecord(functionName, ref, new Error('it failed'), invocationId);
    record.requestContext.condition = condition;
    const of = { handler: functions.release, event: record, timeLimitMs: releaseTimeLimitMs, environment: 0 };
    const release = async (): Promise<void> => {
      for (const pauseMs of [...pausesMs, null]) {
        if ((await onMachine('release', invocation, of)) || pauseMs === null) return;
        await scheduler.pause(pauseMs);
      }
    };
    bring('failure', ref, () => void release());
  }

  function enqueue(ref: GenerationRef): void {
    taken += 1;
    const invocationId = `${String(taken).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const invocation = { invocationId, ref, takenAtMs: scheduler.now() };
    bring('event', ref, () => void work(invocation));
  }

  return {
    /** Lambda has taken an event of `run-generation`. */
    take(ref: GenerationRef): void {
      enqueue(ref);
      if (!meets(faults.takenTwice)) return;
      // It was sent twice, as by a caller that got no answer the first time. Two invocations, and no reason to fail.
      note('event taken twice', ref);
      enqueue(ref);
    },
  };
}
