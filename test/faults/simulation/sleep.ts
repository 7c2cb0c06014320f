import type { Counts } from './counts.ts';
import type { SleepProfile } from './faults.ts';
import type { History } from './history.ts';

export type Sleep = ReturnType<typeof createSleep>;

/** A model that has no capacity while it sleeps and while it wakes. A call wakes it; idleness lets it sleep. */
export function createSleep(
  drawn: SleepProfile | null,
  { now, counts, history }: { now: () => number; counts: Counts; history: History },
) {
  let profile = drawn;
  /** When it woke, or will wake; null while it sleeps. */
  let awakeFromMs = profile?.isAsleep === true ? null : now();
  let usedUntilMs = now();

  function tell(what: string): void {
    counts.add(`sleep: ${what}`);
    history.note('the model', what);
  }

  function fallAsleepOfIdleness(idleMs: number): void {
    if (awakeFromMs === null || Math.max(awakeFromMs, usedUntilMs) + idleMs >= now()) return;
    awakeFromMs = null;
    tell('fell asleep');
  }

  return {
    /** Somebody calls, which wakes it. @returns whether it has no capacity yet. */
    refuses(): boolean {
      if (profile === null) return false;
      fallAsleepOfIdleness(profile.idleMs);
      if (awakeFromMs === null) {
        awakeFromMs = now() + profile.wakingMs;
        tell('was woken');
      }
      if (awakeFromMs > now()) return true;
      this.usedUntil(now());
      return false;
    },
    /** It paints until then. */
    usedUntil: (atMs: number) => void (usedUntilMs = Math.max(usedUntilMs, atMs)),
    /** Since when it could paint; null while it can't. */
    awakeSinceMs: (): number | null => (awakeFromMs !== null && awakeFromMs <= now() ? awakeFromMs : null),
    /** From now on it never sleeps. */
    stayAwake(): void {
      profile = null;
      awakeFromMs = Math.min(awakeFromMs ?? now(), now());
    },
  };
}
