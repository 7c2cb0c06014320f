import type { UnpaidReason } from '../base/errors.ts';

/** A call of the model that nobody paid for, and whose cause was what its request asked for. */
export interface UnpaidRun {
  atMs: number;
  reason: UnpaidReason;
}

/** So many unpaid runs of a license in so many minutes refuse its next request. What is in flight by then runs on. */
export const unpaidLimits = [
  { runs: 5, minutes: 15 },
  { runs: 20, minutes: 24 * 60 },
] as const;

const longestMs = Math.max(...unpaidLimits.map(({ minutes }) => minutes)) * 60_000;

/** Those that a limit still counts. @param runs newest first. */
export function countingRuns(runs: UnpaidRun[], nowMs: number): UnpaidRun[] {
  return runs.filter(({ atMs }) => atMs > nowMs - longestMs);
}

/** What refuses a request: so many runs in so many minutes, until the oldest of them counts no more. */
export interface UnpaidRefusal {
  runs: UnpaidRun[];
  minutes: number;
  untilMs: number;
}

/**
 * @param runs those of a license, newest first.
 * @returns the limit that they have reached, the one that lasts longest; null where the license may go on.
 */
export function unpaidRefusal(runs: readonly UnpaidRun[], nowMs: number): UnpaidRefusal | null {
  const reached = unpaidLimits.flatMap(({ runs: most, minutes }) => {
    const untilMs = (runs[most - 1]?.atMs ?? -Infinity) + minutes * 60_000;
    return untilMs > nowMs ? [{ runs: runs.slice(0, most), minutes, untilMs }] : [];
  });
  return reached.toSorted((a, b) => b.untilMs - a.untilMs)[0] ?? null;
}

const inWords: Record<UnpaidReason, string> = {
  wake: 'that woke it and ended before it was ready',
  reference: 'with a reference image that the model could not read',
  deadline: 'that the model did not finish by the deadline',
  refused: 'whose image or reference image was refused for its content',
  cancelled: 'cancelled after the model had begun',
};

/** What was wrong with the runs of a refusal, as "3 with a reference image that …, 2 that the model …". */
export function unpaidInWords(runs: readonly UnpaidRun[]): string {
  const byReason = Map.groupBy(runs, ({ reason }) => reason);
  return [...byReason].map(([reason, some]) => `${some.length} ${inWords[reason]}`).join(', ');
}
