/** The value below which a share of the others lies: nearest rank, so always one that was measured. @param share 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('Nothing was measured.');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!;
}

/** Of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('Nothing was measured.');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median of each member of several measurements of the same shape. */
export function medians<Name extends string>(rounds: readonly Record<Name, number>[]): Record<Name, number> {
  const names = Object.keys(rounds[0] ?? {}) as Name[];
  return Object.fromEntries(
    names.map((name) => [name, median(rounds.map((round) => round[name]))]),
  ) as Record<Name, number>;
}
