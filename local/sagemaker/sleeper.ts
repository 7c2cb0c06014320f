export interface SleeperOptions {
  /** It falls asleep after so long without a call. */
  sleepMs: number;
  /** From the call that wakes it until it takes one. */
  wakeMs: number;
  now?: () => number;
}

/** After waking, nobody has called it for a while: those who wait ask every fifteen seconds. */
const firstCallWithinMs = 30_000;

export type Sleeper = ReturnType<typeof sleeper>;

/** An inference component whose copies go down to none while nobody calls it. It starts awake. */
export function sleeper({ sleepMs, wakeMs, now = Date.now }: SleeperOptions) {
  let running = 0;
  let changedAtMs = now();
  /** When it sleeps, unless a call comes; while it sleeps, when it is awake, null where nobody has called it. */
  let phase: { isAwake: true; sleepsAtMs: number } | { isAwake: false; wakesAtMs: number | null } = {
    isAwake: true,
    sleepsAtMs: changedAtMs + sleepMs,
  };

  /** Lets what is due by now happen. */
  const look = () => {
    const nowMs = now();
    if (!phase.isAwake && phase.wakesAtMs !== null && nowMs >= phase.wakesAtMs) {
      changedAtMs = phase.wakesAtMs;
      phase = { isAwake: true, sleepsAtMs: changedAtMs + Math.max(sleepMs, firstCallWithinMs) };
    }
    if (phase.isAwake && running === 0 && nowMs >= phase.sleepsAtMs) {
      changedAtMs = phase.sleepsAtMs;
      phase = { isAwake: false, wakesAtMs: null };
    }
    return phase;
  };

  return {
    /** A call comes. @returns false when there is no copy to take it; then one is started. */
    begin(): boolean {
      const seen = look();
      if (seen.isAwake) running += 1;
      else if (seen.wakesAtMs === null) {
        changedAtMs = now();
        seen.wakesAtMs = changedAtMs + wakeMs;
      }
      return seen.isAwake;
    },

    /** A call that was taken has ended. */
    end(): void {
      running -= 1;
      if (phase.isAwake) phase.sleepsAtMs = now() + sleepMs;
    },

    copies() {
      const seen = look();
      const isWaking = !seen.isAwake && seen.wakesAtMs !== null;
      return { current: seen.isAwake ? 1 : 0, desired: seen.isAwake || isWaking ? 1 : 0, changedAtMs };
    },
  };
}
