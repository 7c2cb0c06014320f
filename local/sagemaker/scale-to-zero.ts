export interface ScalingOptions {
  /** It is scaled to zero after so long without a call. */
  idleMs: number;
  /** From the call that starts it until it takes one. */
  coldStartMs: number;
  now?: () => number;
}

/** After a cold start, nobody has called it for a while: those who wait ask every fifteen seconds. */
const firstCallWithinMs = 30_000;

export type CopyScaling = ReturnType<typeof scaleToZero>;

/** The one copy of an inference component, which goes while nobody calls it. It begins ready. */
export function scaleToZero({ idleMs, coldStartMs, now = Date.now }: ScalingOptions) {
  let running = 0;
  let changedAtMs = now();
  /** `readyAtMs` is null where nobody has called it since it was scaled to zero. */
  let phase: { isReady: true; goesAtMs: number } | { isReady: false; readyAtMs: number | null } = {
    isReady: true,
    goesAtMs: changedAtMs + idleMs,
  };

  /** Lets what is due by now happen. */
  const look = () => {
    const nowMs = now();
    if (!phase.isReady && phase.readyAtMs !== null && nowMs >= phase.readyAtMs) {
      changedAtMs = phase.readyAtMs;
      phase = { isReady: true, goesAtMs: changedAtMs + Math.max(idleMs, firstCallWithinMs) };
    }
    if (phase.isReady && running === 0 && nowMs >= phase.goesAtMs) {
      changedAtMs = phase.goesAtMs;
      phase = { isReady: false, readyAtMs: null };
    }
    return phase;
  };

  return {
    /** A call comes. @returns false when there is no copy to take it; then one is started. */
    begin(): boolean {
      const seen = look();
      if (seen.isReady) running += 1;
      else if (seen.readyAtMs === null) {
        changedAtMs = now();
        seen.readyAtMs = changedAtMs + coldStartMs;
      }
      return seen.isReady;
    },

    /** A call that was taken has ended. */
    end(): void {
      running -= 1;
      if (phase.isReady) phase.goesAtMs = now() + idleMs;
    },

    copies() {
      const seen = look();
      const isStarting = !seen.isReady && seen.readyAtMs !== null;
      return { current: seen.isReady ? 1 : 0, desired: seen.isReady || isStarting ? 1 : 0, changedAtMs };
    },
  };
}
