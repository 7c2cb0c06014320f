import type { Random } from './random.ts';
import { currentRun, type Run } from './runs.ts';

export interface Scheduled {
  cancelled: boolean;
}

interface Event extends Scheduled {
  atMs: number;
  /** Decides between events of the same millisecond. */
  order: number;
  action: () => unknown;
  run: Run | undefined;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Time that goes on only when nothing else can happen: one event after another, in an order that the seed alone
 * decides. What an event sets going runs until it waits for another event; only then comes the next.
 * @param letRun lets everything run that waits for nothing.
 */
export function createScheduler(random: Random, startMs: number, letRun: () => Promise<void>) {
  let nowMs = startMs;
  const queue: Event[] = [];

  function insert(event: Event): void {
    let low = 0;
    let high = queue.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = queue[middle]!;
      // The last comes first, so that taking it is cheap.
      const later = event.atMs > other.atMs || (event.atMs === other.atMs && event.order > other.order);
      if (later) high = middle;
      else low = middle + 1;
    }
    queue.splice(low, 0, event);
  }

  return {
    now: () => nowMs,
    random,
    turn: letRun,
    /**
     * @param run whose event it is: it doesn't come once that run is dead, and waits while it stands still. What
     *   happens on other machines belongs to no run.
     */
    after(delayMs: number, action: () => unknown, run?: Run): Scheduled {
      const event = {
        atMs: nowMs + Math.max(0, delayMs),
        order: random.float(),
        action,
        run,
        cancelled: false,
      };
      insert(event);
      return event;
    },
    pause(delayMs: number): Promise<void> {
      return new Promise((resolve) => this.after(delayMs, resolve));
    },
    /** The next event. @returns false when there is none. */
    async step(): Promise<boolean> {
      const event = queue.pop();
      if (event === undefined) return false;
      const { run } = event;
      if (event.cancelled || run?.dead) return true;
      nowMs = Math.max(nowMs, event.atMs);
      if (run !== undefined && run.stalledUntilMs > nowMs) {
        event.atMs = run.stalledUntilMs;
        insert(event);
        return true;
      }
      await event.action();
      await letRun();
      return true;
    },
  };
}

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
function machineNowMs(): number {
  return scheduler === null ? RealDate.now() : scheduler.now() + (currentRun.getStore()?.skewMs ?? 0);
}

class VirtualDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(machineNowMs());
    else super(...(given as [number]));
  }
  static override now(): number {
    return machineNowMs();
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
