import type { GenerationRef } from '../../../shared/generations/queue-contract.ts';
import { runJob, type QueueHandler } from './functions.ts';
import { Run } from './runs.ts';
import type { Simulation } from './simulation.ts';

export type Queues = ReturnType<typeof createQueues>;
type Queue = ReturnType<typeof createQueue>;

interface Message {
  messageId: string;
  ref: GenerationRef;
  received: number;
  /** When it may be received again. */
  visibleAtMs: number;
  isGone: boolean;
}

/** A queue, and the function that Lambda brings its messages to. */
interface QueueOptions {
  kind: 'worker' | 'release';
  /** The function in each of its environments. */
  handlers: QueueHandler[];
  timeLimitMs: number;
  /** No shorter than the time limit, which Lambda insists on. */
  visibilityMs: number;
  maxReceiveCount: number;
  deadLetters: Queue | null;
}

/** The queue of the requests that nobody waits for, and that of its dead letters. */
export function createQueues(simulation: Simulation) {
  const { functions, profile } = simulation;
  const released = createQueue(simulation, {
    kind: 'release',
    handlers: [functions.release],
    timeLimitMs: 60_000,
    visibilityMs: 90_000,
    maxReceiveCount: Infinity,
    deadLetters: null,
  });
  return createQueue(simulation, {
    kind: 'worker',
    handlers: functions.run,
    timeLimitMs: 480_000,
    visibilityMs: 510_000,
    maxReceiveCount: profile.maxReceiveCount,
    deadLetters: released,
  });
}

/** Redeliveries are many, and some of them have to come to something. */
const redeliveryFaults = 0.4;

/** A standard queue of SQS, and all that may happen to its messages. */
function createQueue(simulation: Simulation, options: QueueOptions) {
  const { scheduler, random, profile, isCalm, checker } = simulation;
  const { kind, visibilityMs, maxReceiveCount, deadLetters } = options;
  const { messages: faults } = profile;
  const messages = new Map<string, Message>();
  const meets = (chance: number) => !isCalm() && random.chance(chance);
  const note = (what: string, { ref }: Message) =>
    simulation.note('the queue', `${kind}'s message ${what}: ${ref.requestId}`);

  /** A fault that met a message. The request that it is about may fail for it. */
  function noteFault(what: string, message: Message): void {
    note(what, message);
    checker.runs.excuse(message.ref.requestId, what);
  }

  /** From then on it may be received. */
  function showAfter(delayMs: number, message: Message): void {
    message.visibleAtMs = scheduler.now() + delayMs;
    scheduler.after(delayMs + random.int(5, 100), () => {
      // Another one received it, or had it stay away for longer.
      if (!message.isGone && scheduler.now() >= message.visibleAtMs) show(message);
    });
  }

  /** It is received at once or late, once or twice. */
  function show(message: Message): void {
    const rarity = message.received === 0 ? 1 : redeliveryFaults;
    if (meets(faults.late * rarity)) {
      noteFault('late', message);
      const withinMs = 1.5 * profile.asyncDeadlineSeconds * 1000;
      const lateMs = random.pick([random.int(1000, 180_000), random.int(0, withinMs)]);
      scheduler.after(lateMs, () => void receive(message));
    } else void receive(message);
    if (!meets(faults.twice * rarity)) return;
    // No reason to fail. A copy may come after the message was deleted, but mostly before the first one's model has begun.
    note('twice', message);
    const early = () => random.int(0, 400);
    const copyMs = random.pick([early(), early(), random.int(0, 20_000), random.int(2000, 240_000)]);
    scheduler.after(copyMs, () => void receive(message));
  }

  async function receive(message: Message): Promise<void> {
    if (message.received >= maxReceiveCount) {
      if (message.isGone) return;
      message.isGone = true;
      noteFault('is a dead letter', message);
      return deadLetters!.take(message.ref);
    }
    const receipt = (message.received += 1);
    showAfter(visibilityMs, message);
    const isDone = await bring(message);
    // A receipt that is not the newest may delete nothing.
    const isNewest = receipt === message.received;
    if (!isDone || (!isNewest && random.chance(0.5))) return;
    if (meets(faults.lost)) return note('not deleted', message);
    message.isGone = true;
  }

  /** Lambda brings a message to a machine that may die or stand still at any moment. @returns whether it is done. */
  async function bring(message: Message): Promise<boolean> {
    const { ref, messageId, received } = message;
    const environment = random.int(0, options.handlers.length - 1);
    const run = new Run(`${kind} ${ref.requestId.slice(-4)}/${messageId}.${received}`, scheduler.now(), {
      kind,
      about: ref,
      mayFail: true,
      mayDie: true,
      skewMs: simulation.skewsMs[environment]!,
      environment: `${kind} ${environment}`,
    });
    checker.runs.begin(run);
    endanger(run, message);
    simulation.note(run.name, `begins ${ref.requestId}`);
    let hasFailures = false;
    const good = await runJob(run, async () => {
      const answer = await options.handlers[environment]!(sqsEvent(message));
      hasFailures = (answer?.batchItemFailures ?? []).length > 0;
    });
    run.failed = good === false;
    const isDone = good === true && !hasFailures;
    if (good === true) checker.runs.ends(run, isDone);
    else if (good === false) checker.runs.fails(run);
    simulation.note(run.name, good === null ? '† died' : !good ? 'failed' : isDone ? 'done' : 'comes again');
    return isDone;
  }

  function endanger(run: Run, message: Message): void {
    const isGone = () => run.ended || run.dead;
    scheduler.after(options.timeLimitMs, () => {
      checker.runs.timeLimitReached(run);
      run.die();
    });
    if (meets(faults.dies))
      scheduler.after(random.pick([random.int(1, 60), random.int(1, 60_000)]), () => {
        if (isGone()) return;
        noteFault(`killed its ${kind} at any moment`, message);
        run.die();
      });
    if (meets(faults.freezes))
      scheduler.after(random.int(1, 20_000), () => {
        if (isGone()) return;
        noteFault(`froze its ${kind}`, message);
        run.stalledUntilMs =
          scheduler.now() + random.pick([random.int(3000, 60_000), random.int(60_000, 300_000)]);
      });
  }

  function put(ref: GenerationRef): void {
    const messageId = String(simulation.nextNumber());
    const message = { messageId, ref, received: 0, visibleAtMs: 0, isGone: false };
    messages.set(messageId, message);
    // SQS promises that it does not happen. The sweep ends the request all the same.
    if (meets(faults.lost)) return noteFault('lost', message);
    showAfter(0, message);
  }

  return {
    /** A message was sent. */
    take(ref: GenerationRef): void {
      checker.runs.sent(ref.requestId);
      put(ref);
      // As by a caller that got no answer the first time. No reason to fail.
      if (meets(faults.takenTwice)) put(ref);
    },
    /** @returns false where the message is not in flight. */
    bringBack(receiptHandle: string, seconds: number): boolean {
      const message = messages.get(receiptHandle.split('/')[0]!);
      if (message === undefined || message.isGone || scheduler.now() >= message.visibleAtMs) return false;
      showAfter(seconds * 1000, message);
      return true;
    },
  };
}

/** What Lambda brings of a queue (AWS Lambda, "Using Lambda with Amazon SQS"). */
function sqsEvent({ messageId, ref, received }: Message): object {
  const record = {
    messageId,
    receiptHandle: `${messageId}/${received}`,
    body: JSON.stringify(ref),
    attributes: { ApproximateReceiveCount: String(received), SenderId: 'AIDASIMULATION' },
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:generations',
    awsRegion: 'us-east-1',
  };
  return { Records: [record] };
}
