import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Random } from './random.ts';
import { currentRun, type Run } from './runs.ts';

export type Scheduler = ReturnType<typeof createScheduler>;
export type Scheduled = ReturnType<Scheduler['after']>;

/**
 * Time that goes on only when nothing else can happen: one event after another, in an order that the seed alone
 * decides. What an event sets going runs until it waits for another event; only then comes the next.
 */
export function createScheduler(random: Random, startMs: number) {
  interface Event {
    atMs: number;
    /** Decides between events of the same millisecond. */
    order: number;
    action: () => unknown;
    run: Run | undefined;
    cancelled: boolean;
  }
  let nowMs = startMs;
  /** The last comes first, so that taking the next one is cheap. */
  const queue: Event[] = [];

  function insert(event: Event): void {
    const isLater = ({ atMs, order }: Event) =>
      atMs > event.atMs || (atMs === event.atMs && order > event.order);
    queue.splice(queue.findLastIndex(isLater) + 1, 0, event);
  }

  return {
    now: () => nowMs,
    random,
    /**
     * @param run whose event it is: it doesn't come once that run is dead, and waits while it stands still. What
     *   happens on other machines belongs to no run.
     */
    after(delayMs: number, action: () => unknown, run?: Run): Event {
      const atMs = nowMs + Math.max(0, delayMs);
      const event = { atMs, order: random.float(), action, run, cancelled: false };
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
      await turn();
      return true;
    },
  };
}

/** Where the calls of the SDK's clients, and of `fetch`, go instead of to the network. */
export interface Network {
  send(
    request: HttpRequest,
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<unknown>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array | string;
}

/**
 * Puts a simulation's time, chance and network in the place of the process's own, which is all that the service and the AWS
 * SDK take theirs from. While nothing is simulated, everything is as it was. It changes the whole process, which therefore
 * should do nothing else.
 */
let scheduler: Scheduler | null = null;
let network: Network | null = null;
const immediates = { pending: 0 };

/** Whose time and chance they are; null gives the process its own back. */
export function useScheduler(of: Scheduler | null): void {
  scheduler = of;
  immediates.pending = 0;
}

export function useNetwork(of: Network | null): void {
  network = of;
}

const RealDate = Date;
const real = { setTimeout, clearTimeout, setImmediate, random: Math.random, fetch: globalThis.fetch };

/** The SDK reads files and imports modules when it is first used, for which no event waits: so many turns wait in real time. */
let patientTurns = 150;

/** Lets everything run that waits neither for time nor for an answer. */
export async function turn(): Promise<void> {
  if (patientTurns-- > 0) await new Promise((resolve) => real.setTimeout(resolve, 5));
  do await new Promise((resolve) => real.setImmediate(resolve));
  while (immediates.pending > 0);
}

/** A machine's clock shows the time, give or take its own error. */
function machineNowMs(): number {
  return scheduler === null ? RealDate.now() : scheduler.now() + (currentRun.getStore()?.skewMs ?? 0);
}

class VirtualDate extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [machineNowMs()] : given) as [number]));
  }
  static override now(): number {
    return machineNowMs();
  }
}

type Callback = (...args: unknown[]) => unknown;

function virtualTimeout(callback: Callback, delayMs = 0, ...args: unknown[]): unknown {
  if (scheduler === null) return real.setTimeout(callback, delayMs, ...args);
  const run = currentRun.getStore();
  const fire = () => (run ? currentRun.run(run, callback, ...args) : callback(...args));
  const timer = scheduler.after(delayMs, () => void fire(), run);
  return Object.assign(timer, { unref: () => timer });
}

function clearVirtualTimeout(timer: Scheduled | NodeJS.Timeout | undefined): void {
  if (timer instanceof Object && 'cancelled' in timer) timer.cancelled = true;
  else real.clearTimeout(timer);
}

function countedImmediate(callback: Callback, ...args: unknown[]): unknown {
  if (scheduler === null) return real.setImmediate(callback, ...args);
  immediates.pending += 1;
  return real.setImmediate(() => {
    immediates.pending -= 1;
    callback(...args);
  });
}

/** Once a process. */
export function installProcess(): void {
  Object.assign(globalThis, {
    Date: VirtualDate,
    setTimeout: virtualTimeout,
    clearTimeout: clearVirtualTimeout,
    setImmediate: countedImmediate,
  });
  const abortAfter = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (delayMs) => {
    if (scheduler === null) return abortAfter(delayMs);
    const controller = new AbortController();
    const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    virtualTimeout(() => controller.abort(reason), delayMs);
    return controller.signal;
  };
  Math.random = () => (scheduler === null ? real.random() : scheduler.random.float());
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = ((view: Uint8Array<ArrayBuffer>) =>
    scheduler === null ? getRandomValues(view) : scheduler.random.fill(view)) as never;
  // Takes what the SDK's clients send, below everything that they do themselves: retries and time-outs.
  const realHandle = NodeHttpHandler.prototype.handle;
  NodeHttpHandler.prototype.handle = async function handle(request, options = {}) {
    if (network === null) return realHandle.call(this, request, options);
    const { configProvider } = this as unknown as { configProvider: Promise<{ requestTimeout?: number }> };
    const { requestTimeout } = await configProvider;
    const signal = options.abortSignal as AbortSignal | undefined;
    return { response: (await network.send(request as never, requestTimeout, signal)) as never };
  };
  // Signatures take a tenth of the time and are looked at elsewhere; links are signed as ever.
  const realSign = SignatureV4.prototype.sign;
  SignatureV4.prototype.sign = async function sign(this: SignatureV4, request: never, options: never) {
    if (network === null) return realSign.call(this, request, options);
    const { headers } = request as { headers: Record<string, string> };
    return Object.assign(request, { headers: { ...headers, authorization: 'AWS4-HMAC-SHA256 simulated' } });
  } as never;
  globalThis.fetch = ((url: string, init: RequestInit) =>
    network === null ? real.fetch(url, init) : network.fetch(url, init)) as never;
}
