import { abortError, socketError, timeoutError, type HttpAnswer } from './answers.ts';
import type { CallFault } from './faults.ts';
import { die, type Run } from './runs.ts';
import type { Scheduled } from './time.ts';
import type { World } from './world.ts';

/** What may happen to every call. */
export const anywhere = [
  'slow',
  'reset before',
  'reset after',
  '500 before',
  '500 after',
  'timeout before',
  'killed before',
  'killed after',
  'stalled',
] as const satisfies CallFault[];

/** Who sends a request, and for how long they wait. */
export interface Sending {
  run: Run;
  timeoutMs: number | undefined;
  signal: AbortSignal | undefined;
}

/** A request and its answer, with all that may happen to either. */
export interface Exchange extends Sending {
  /** As the history shows it. */
  name: string;
  /** Which faults can meet it. */
  faults: readonly CallFault[];
  /** What it does where it arrives. @returns null when it is never answered. */
  apply(): Promise<HttpAnswer | null>;
  /** What a server answers that does nothing. */
  refusals: Partial<Record<'500' | 'throttled' | 'conflict', () => HttpAnswer>>;
  /** What a fault makes of a good answer. */
  distort?: (fault: CallFault, answer: HttpAnswer) => HttpAnswer;
  /** Its caller waits for so short a time that slowness may be a reason to fail. */
  isHurried?: boolean;
  /** Whatever meets it, it is no reason to fail, unless its machine dies or stands still. */
  isHarmless?: boolean;
}

/** Plays an exchange: at most one fault meets it, drawn by the weather of the seed's world. */
export function play(world: World, exchange: Exchange): Promise<HttpAnswer> {
  const { run, signal } = exchange;
  return new Promise((resolve, reject) => {
    if (run.dead) return;
    run.calls.push(exchange.name);
    const onAbort = () => reject(abortError(signal?.reason));
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    let timeout: Scheduled | null = null;
    const settled = () => {
      signal?.removeEventListener('abort', onAbort);
      // It would come seconds later, for nobody.
      if (timeout !== null) timeout.cancelled = true;
    };
    const give: Give = (afterMs, answer) =>
      world.scheduler.after(
        afterMs,
        () => {
          settled();
          if (typeof answer === 'function') reject(answer());
          else resolve(answer);
        },
        run,
      );
    if (exchange.timeoutMs !== undefined) timeout = give(exchange.timeoutMs, timeoutError);
    const fault = drawFault(world, exchange);
    if (fault !== null) {
      if (isReasonToFail(fault, exchange)) run.faults.push({ call: exchange.name, fault });
      world.counts.add(`fault: ${fault}`);
    }
    world.history.note(run.name, `${exchange.name}${fault === null ? '' : `  ✗ ${fault}`}`);
    travel(world, exchange, fault, give);
  });
}

/** Whether a fault meets the call alone, and not its machine. */
const isOfCall = (fault: CallFault): boolean => !/^(killed|stalled)/.test(fault);

function isReasonToFail(fault: CallFault, { isHurried = false, isHarmless = false }: Exchange): boolean {
  if (isHarmless) return !isOfCall(fault);
  return fault !== 'slow' || isHurried;
}

/** An answer, or what makes the error that comes in its place. */
type Give = (afterMs: number, answer: HttpAnswer | (() => Error)) => Scheduled;

function travel(world: World, exchange: Exchange, fault: CallFault | null, give: Give): void {
  const { random, scheduler } = world;
  const { run, refusals } = exchange;
  const thereMs = fault === 'slow' ? random.int(200, 2500) : random.int(1, 8);
  const backMs = random.int(1, 8);
  // What is on its way arrives, whatever becomes of its sender.
  const arrive = (afterMs: number, then: (answer: HttpAnswer) => void) =>
    scheduler.after(afterMs, async () => {
      const answer = await exchange.apply();
      if (answer !== null) then(answer);
    });
  switch (fault) {
    case 'killed before':
      return die(run);
    case 'killed after':
      return void arrive(thereMs, () => die(run));
    case 'reset before':
      return void give(thereMs, () => socketError('ECONNRESET'));
    case 'reset after':
      return void arrive(thereMs, () => give(backMs, () => socketError('ECONNRESET')));
    case '500 before':
      return void give(thereMs + backMs, refusals['500']!());
    case '500 after':
      return void arrive(thereMs, () => give(backMs, refusals['500']!()));
    case 'throttled':
    case 'conflict':
      return void give(thereMs + backMs, refusals[fault]!());
    case 'timeout before':
      return;
    case 'timeout after':
      return void arrive(thereMs, () => {});
    case 'applied late':
      return void arrive(random.int(3000, 25_000), () => {});
    case 'stalled':
      // Half of them outlast a lease.
      run.stalledUntilMs =
        scheduler.now() + random.pick([random.int(3000, 60_000), random.int(60_000, 150_000)]);
      return void arrive(thereMs, (answer) => give(backMs, answer));
    default:
      return void arrive(thereMs, (answer) =>
        give(backMs, fault === null || fault === 'slow' ? answer : exchange.distort!(fault, answer)),
      );
  }
}

function drawFault(
  { random, profile, outage, isCalm }: World,
  { run, name, faults, isHarmless = false }: Exchange,
): CallFault | null {
  if (isCalm() || !run.mayFail) return null;
  if (outage.calls !== null && faults.includes(outage.calls) && random.chance(0.9)) return outage.calls;
  if (isHarmless && random.chance(profile.notesFail)) return random.pick(faults.filter(isOfCall));
  for (const fault of faults) {
    if (!isOfCall(fault) && !run.mayDie) continue;
    const often = profile.focus.find((focus) => focus.fault === fault && name.startsWith(focus.purpose));
    // Machines die more rarely than calls fail.
    if (random.chance(often?.chance ?? profile.calls[fault] / (fault.startsWith('killed') ? 3 : 1)))
      return fault;
  }
  return null;
}
