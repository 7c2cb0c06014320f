import { socketError, type HttpAnswer } from './answers.ts';
import { callFaults, faultNames, isOfCall, type CallFault } from './faults.ts';
import type { Run } from './runs.ts';
import type { Simulation } from './simulation.ts';
import type { Scheduled } from './process.ts';

/** What may happen to every call. */
export const anywhere = faultNames.filter((fault) =>
  /^(slow|reset|500|timeout before|killed|stalled)/.test(fault),
);

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

/** An answer, or the error that comes in its place. */
type Give = (afterMs: number, answer: HttpAnswer | Error) => Scheduled;

/** Plays an exchange: at most one fault meets it, drawn by the profile of the seed's simulation. */
export function play(simulation: Simulation, exchange: Exchange): Promise<HttpAnswer> {
  const { run, signal, name, timeoutMs, isHurried = false, isHarmless = false } = exchange;
  return new Promise((resolve, reject) => {
    if (run.dead) return;
    simulation.checker.runs.goesOn(run);
    run.calls.push(name);
    run.waitsForAnswers += 1;
    const onAbort = () =>
      reject(Object.assign(new Error('Request aborted', { cause: signal?.reason }), { name: 'AbortError' }));
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    let timeout: Scheduled | null = null;
    const give: Give = (afterMs, answer) =>
      simulation.scheduler.after(
        afterMs,
        () => {
          run.waitsForAnswers -= 1;
          run.answeredAtMs = simulation.scheduler.now();
          signal?.removeEventListener('abort', onAbort);
          // It would come seconds later, for nobody.
          if (timeout !== null) timeout.cancelled = true;
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        },
        run,
      );
    if (timeoutMs !== undefined) {
      const error = new Error('the request took too long');
      timeout = give(timeoutMs, Object.assign(error, { name: 'TimeoutError', code: 'ETIMEDOUT' }));
    }
    const fault = drawFault(simulation, exchange);
    if (fault !== null) {
      const isReason = isHarmless ? !isOfCall(fault) : fault !== 'slow' || isHurried;
      if (isReason) run.faults.push({ call: name, fault });
      if (isHarmless) run.missesNotes = true;
    }
    simulation.note(run.name, `${name}${fault === null ? '' : `  ✗ ${fault}`}`);
    travel(simulation, exchange, fault, give);
  });
}

function travel(
  { random, scheduler }: Simulation,
  { run, refusals, apply, distort }: Exchange,
  fault: CallFault | null,
  give: Give,
): void {
  const [takesEffect, gets] = fault === null ? (['soon', 'answer'] as const) : callFaults[fault];
  const thereMs = fault === 'slow' ? random.int(200, 2500) : random.int(1, 8);
  const backMs = random.int(1, 8);
  const end = (afterMs: number, answer: HttpAnswer | null): void => {
    if (gets === 'death') run.die();
    else if (gets === 'reset') give(afterMs, socketError('ECONNRESET'));
    else if (gets === 'answer') give(afterMs, answer!);
    else if (gets === 'a part') give(afterMs, distort!(fault!, answer!));
    else if (gets !== 'silence') give(afterMs, refusals[gets]!());
  };
  if (takesEffect === 'never') return end(gets === 'reset' ? thereMs : thereMs + backMs, null);
  // Half of them outlast a lease.
  if (fault === 'stalled')
    run.stalledUntilMs =
      scheduler.now() + random.pick([random.int(3000, 60_000), random.int(60_000, 150_000)]);
  // What is on its way arrives, whatever becomes of its sender.
  scheduler.after(takesEffect === 'late' ? random.int(3000, 25_000) : thereMs, async () => {
    const answer = await apply();
    if (answer !== null) end(backMs, answer);
  });
}

function drawFault(
  { random, profile, outage, isCalm }: Simulation,
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
