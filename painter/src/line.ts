import { timesOf } from './estimate.ts';
import type { Rate, Times } from './estimate.ts';
import { Failure } from './failure.ts';
import { FairQueue } from './fair-queue.ts';
import type { Pool } from './pool.ts';
import { createProbing } from './probing.ts';
import type { Probing } from './probing.ts';

const LONGEST_LINE = 200;

/** Where a request is in the line. */
export interface Place {
  /** How many will begin before it, plus one. */
  position: number;
  /** Whole seconds until it is expected to begin; 0 before anything was measured. */
  etaSeconds: number;
}

/** A request that wants to be painted. */
export interface Entrant {
  tenant: string;
  pictures: number;
  /** The work of each picture. */
  work: number;
  /** When it must be painted; infinite where no deadline counts. */
  deadlineMs: number;
  /** Called whenever its place may have changed, as long as it waits for others. */
  onPlace(place: Place): void;
  /** Called when it must leave after all. Its signal must then abort. */
  onRefused(reason: Failure): void;
}

export interface Ticket {
  /** The place now; undefined once it has begun or left. */
  place(): Place | undefined;
  /** Waits until few requests are before it, so that it is time to fetch what it needs. */
  near(): Promise<void>;
  /**
   * Waits for the request's turn, then does the work, which must give its pictures to the pool before its first pause.
   *
   * @throws what the work throws, or the signal's reason as soon as it aborts.
   */
  turn<T>(work: () => Promise<T>): Promise<T>;
}

interface Waiting extends Entrant {
  cost: number;
  /** Whether it was let in although the estimate says that it will be late. */
  isProbe: boolean;
  near: PromiseWithResolvers<void>;
  /** Set once its inputs are there. */
  begin: (() => Promise<unknown>) | undefined;
}

interface LineOptions {
  pool: Pool;
  rate: Rate;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** The line in front of the painting threads. It takes turns between tenants by the work of their requests. */
export class Line {
  readonly #queue = new FairQueue<Waiting>();
  readonly #pool: Pool;
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #probing: Probing;

  constructor({ pool, rate, now = Date.now }: LineOptions) {
    this.#pool = pool;
    this.#rate = rate;
    this.#now = now;
    this.#probing = createProbing(now);
    pool.onFree(() => this.#advance());
  }

  get length(): number {
    return this.#queue.length;
  }

  /**
   * Lets a request in, which leaves when its signal aborts.
   *
   * @throws Failure `busy` if its images can't be ready by the deadline, or if too many wait.
   */
  enter(entrant: Entrant, signal: AbortSignal): Ticket {
    const cost = entrant.pictures * entrant.work;
    const one: Waiting = {
      ...entrant,
      cost,
      isProbe: false,
      near: Promise.withResolvers(),
      begin: undefined,
    };
    // It is often rejected when nobody waits for it.
    one.near.promise.catch(() => undefined);
    this.#admit(one);
    signal.addEventListener('abort', () => {
      one.near.reject(signal.reason);
      if (this.#queue.leave(one)) this.#advance();
    });
    return {
      place: () => this.#timetable().find((entry) => entry.one === one)?.place,
      near: () => {
        this.#notify();
        return one.near.promise;
      },
      turn: (work) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason as Error);
          signal.addEventListener('abort', () => reject(signal.reason as Error));
          one.begin = () => {
            const working = work();
            resolve(working);
            return working;
          };
          this.#advance();
        }),
    };
  }

  #admit(one: Waiting): void {
    const wasIdle = this.#isIdle();
    this.#queue.join(one);
    const { ends } = this.#timetable().find((entry) => entry.one === one)!;
    if (this.#isLate(one, ends)) {
      one.isProbe = wasIdle && this.#probing.take(one.tenant);
      if (!one.isProbe) {
        this.#queue.leave(one);
        throw late();
      }
    }
    if (this.#queue.length > LONGEST_LINE) this.#makeRoom(one);
  }

  #makeRoom(newcomer: Waiting): void {
    const last = this.#queue.lastOfHeaviest(newcomer.tenant)!;
    const full = new Failure('busy', 'Too many requests are waiting for the painter.');
    this.#queue.leave(last);
    if (last === newcomer) throw full;
    last.onRefused(full);
  }

  /** Begins what can begin, and notifies the others. */
  #advance(): void {
    if (this.#isIdle()) this.#queue.reset();
    while (this.#pool.free > 0) {
      const next = this.#queue.next(({ begin }) => begin !== undefined);
      if (next === undefined) break;
      // Others have come between since it was let in. To begin it now would only take their time, too.
      if (!next.isProbe && this.#isLate(next, this.#timesOf([next])[0]!.ends)) {
        this.#queue.leave(next);
        next.onRefused(late());
        continue;
      }
      this.#queue.begin(next);
      const working = next.begin!();
      if (!next.isProbe) continue;
      this.#rate.doubt();
      working.then(this.#probing.succeeded, () => undefined);
    }
    this.#notify();
  }

  #notify(): void {
    for (const { one, place } of this.#timetable()) {
      if (place.position <= this.#pool.threads) one.near.resolve();
      // One that is next while a thread is free waits for nothing but its own inputs.
      if (place.position > 1 || this.#pool.free <= 0) one.onPlace(place);
    }
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && this.#pool.free === this.#pool.threads;
  }

  #isLate({ deadlineMs }: Waiting, endsInSeconds: number): boolean {
    return endsInSeconds > 0 && this.#now() + endsInSeconds * 1000 > deadlineMs;
  }

  /** Who waits, in the order of their turns, each with its place and the seconds until its images are painted. */
  #timetable(): { one: Waiting; place: Place; ends: number }[] {
    const waiting = this.#queue.order();
    const times = this.#timesOf(waiting);
    return waiting.map((one, i) => {
      const { begins, ends } = times[i]!;
      return { one, place: { position: i + 1, etaSeconds: Math.ceil(begins) }, ends };
    });
  }

  #timesOf(waiting: Waiting[]): Times[] {
    const asked = waiting.map(({ pictures, work }) => ({
      pictures,
      secondsEach: this.#rate.secondsFor(work),
    }));
    return timesOf(asked, this.#pool.workLeft().map(this.#rate.secondsFor), this.#pool.threads);
  }
}

function late(): Failure {
  return new Failure('busy', 'The images could not be ready by the deadline.');
}
