export type History = ReturnType<typeof createHistory>;

/** What happened, in order, as a person reads it. */
export function createHistory(now: () => number, startMs: number) {
  const lines: string[] = [];
  return {
    note(who: string, what: string): void {
      const seconds = ((now() - startMs) / 1000).toFixed(3).padStart(10);
      lines.push(`${seconds}s  ${who.padEnd(18)} ${what}`);
    },
    lines: (): readonly string[] => lines,
  };
}

export type Counts = ReturnType<typeof createCounts>;

/** How often what happened. */
export function createCounts() {
  const totals: Record<string, number> = {};
  return {
    totals,
    add: (name: string, times = 1) => void (totals[name] = (totals[name] ?? 0) + times),
  };
}
