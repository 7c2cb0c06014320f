import type { Random } from './random.ts';
import type { Run } from './runs.ts';

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
 * @param turn lets everything run that waits for nothing.
 */
export function createScheduler(random: Random, startMs: number, turn: () => Promise<void>) {
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
    turn,
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
      await turn();
      return true;
    },
  };
}
