/** One call of a backend, by a clock that never goes back, milliseconds. */
export interface Span {
  beginMs: number;
  endMs: number;
}

/**
 * Calls that waited for each other: the longest chain in which each began after the one before it had ended. Calls
 * side by side are one trip.
 */
export function sequentialTrips(spans: readonly Span[]): number {
  const sorted = [...spans].sort((a, b) => a.beginMs - b.beginMs);
  const depths: number[] = [];
  for (const [i, { beginMs }] of sorted.entries()) {
    const before = depths.filter((_, k) => k < i && sorted[k]!.endMs <= beginMs);
    depths.push(1 + Math.max(0, ...before));
  }
  return Math.max(0, ...depths);
}

/** What began before an instant, within two, and from the second on. */
export function splitAt<T extends Span>(spans: readonly T[], fromMs: number, toMs: number) {
  return {
    before: spans.filter(({ beginMs }) => beginMs < fromMs),
    during: spans.filter(({ beginMs }) => beginMs >= fromMs && beginMs < toMs),
    after: spans.filter(({ beginMs }) => beginMs >= toMs),
  };
}
