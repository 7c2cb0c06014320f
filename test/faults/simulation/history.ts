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
