import { currentRun } from './runs.ts';
import type { Scheduled, Scheduler } from './scheduler.ts';

/**
 * Puts a simulation's time and chance in the place of the process's own: `Date`, timers, `AbortSignal.timeout`,
 * `Math.random` and `crypto.getRandomValues`, which is all that the service and the AWS SDK take theirs from. Outside
 * of a simulation everything is as it was. It changes the whole process, which therefore should do nothing else.
 */
const RealDate = Date;
const real = {
  setTimeout,
  clearTimeout,
  setImmediate,
  clearImmediate,
  abortAfter: AbortSignal.timeout.bind(AbortSignal),
  random: Math.random,
  getRandomValues: crypto.getRandomValues.bind(crypto),
};

let scheduler: Scheduler | null = null;
const immediates = { pending: 0 };

/** Whose time it is; null gives the process its own back. */
export function useScheduler(of: Scheduler | null): void {
  scheduler = of;
  immediates.pending = 0;
}

/** Lets everything run that waits neither for time nor for an answer. */
export async function turn(): Promise<void> {
  do await new Promise((resolve) => real.setImmediate(resolve));
  while (immediates.pending > 0);
}

/** Waits a moment of real time as well, the first times, for what comes from outside of the process. */
export function patientTurns(times: number): () => Promise<void> {
  let left = times;
  return async () => {
    if (left-- > 0) await new Promise((resolve) => real.setTimeout(resolve, 5));
    await turn();
  };
}

/** A machine's clock shows the time, give or take its own error. */
function nowMs(): number {
  return scheduler === null ? RealDate.now() : scheduler.now() + (currentRun.getStore()?.skewMs ?? 0);
}

class VirtualDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(nowMs());
    else super(...(given as [number]));
  }
  static override now(): number {
    return nowMs();
  }
}

class VirtualTimer {
  readonly event: Scheduled;
  constructor(event: Scheduled) {
    this.event = event;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
}

type Callback = (...args: unknown[]) => unknown;

function virtualTimeout(callback: Callback, delayMs = 0, ...args: unknown[]): unknown {
  if (scheduler === null) return real.setTimeout(callback, delayMs, ...args);
  const run = currentRun.getStore();
  const fire = () => (run ? currentRun.run(run, callback, ...args) : callback(...args));
  return new VirtualTimer(scheduler.after(delayMs, () => void fire(), run));
}

function clearVirtualTimeout(timer: unknown): void {
  if (timer instanceof VirtualTimer) timer.event.cancelled = true;
  else real.clearTimeout(timer as NodeJS.Timeout);
}

function countedImmediate(callback: Callback, ...args: unknown[]): unknown {
  if (scheduler === null) return real.setImmediate(callback, ...args);
  immediates.pending += 1;
  return real.setImmediate(() => {
    immediates.pending -= 1;
    callback(...args);
  });
}

function virtualSignal(delayMs: number): AbortSignal {
  if (scheduler === null) return real.abortAfter(delayMs);
  const controller = new AbortController();
  const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  virtualTimeout(() => controller.abort(reason), delayMs);
  return controller.signal;
}

export function installVirtualTime(): void {
  Object.assign(globalThis, {
    Date: VirtualDate,
    setTimeout: virtualTimeout,
    clearTimeout: clearVirtualTimeout,
    setImmediate: countedImmediate,
  });
  AbortSignal.timeout = virtualSignal;
  Math.random = () => (scheduler === null ? real.random() : scheduler.random.float());
  crypto.getRandomValues = ((view: Uint8Array<ArrayBuffer>) =>
    scheduler === null ? real.getRandomValues(view) : scheduler.random.fill(view)) as never;
}
