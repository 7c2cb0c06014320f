import type { Random } from './random.ts';
import type { Run } from './runs.ts';

export type Scheduler = ReturnType<typeof createScheduler>;
export type Scheduled = ReturnType<Scheduler['after']>;

/**
 * Time that goes on only when nothing else can happen: one event after another, in an order that the seed alone
 * decides. What an event sets going runs until it waits for another event; only then comes the next.
 * @param letRun lets everything run that waits for nothing
 */
export function createScheduler(random: Random, startMs: number, letRun: () => Promise<void>) {
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
    turn: letRun,
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
      await letRun();
      return true;
    },
  };
}
