export type Counts = ReturnType<typeof createCounts>;

/** How often what happened. */
export function createCounts() {
  const totals: Record<string, number> = {};
  return {
    totals,
    add: (name: string, times = 1) => void (totals[name] = (totals[name] ?? 0) + times),
  };
}

export function addCounts(to: Record<string, number>, more: Record<string, number>): void {
  for (const [name, times] of Object.entries(more)) to[name] = (to[name] ?? 0) + times;
}
