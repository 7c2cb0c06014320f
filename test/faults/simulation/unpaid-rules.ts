import { isDeepStrictEqual } from 'node:util';
import { countingRuns, unpaidRefusal, type UnpaidRun } from '../../../shared/licenses/unpaid-runs.ts';
import type { StoredRecord } from './invariants.ts';
import type { Outside } from './outside.ts';
import type { Run } from './runs.ts';
import type { Json } from './table-calls.ts';

/** Two clocks differ by no more. */
const clocksDifferMs = 4000;

/** Follows each license's calls of the model that nobody paid for: what a record says of its end is what the list says. */
export function createUnpaidRules({ scheduler: { now }, must }: Outside) {
  /** By license, newest first. */
  const lists = new Map<string, UnpaidRun[]>();
  /** Those that were too long for another request, until when each was. */
  const reached: { licenseId: string; runs: UnpaidRun[]; untilMs: number }[] = [];
  /** What a record that has just ended may have added: only its run knows. */
  let unsure: UnpaidRun | null = null;

  const listOf = (licenseId: string): UnpaidRun[] => lists.get(licenseId) ?? [];

  function become(licenseId: string, runs: UnpaidRun[]): void {
    const before = listOf(licenseId);
    if (unpaidRefusal(before, now() - clocksDifferMs) !== null)
      reached.push({ licenseId, runs: before, untilMs: now() });
    lists.set(licenseId, runs);
  }

  /** Why a record counts, and whether that is certain: only a run knows how far its model came, and whether it woke it. */
  function reasonOf({ item }: StoredRecord, by: Run): [reason: UnpaidRun['reason'], isSure: boolean] | null {
    if (item.errorCode === 'INVALID_PARAMETERS') return ['reference', true];
    if (item.errorCode === 'CONTENT_REFUSED') return ['refused', true];
    if (item.errorCode === 'CANCELLED') return item.startedAtMs === undefined ? null : ['cancelled', true];
    const isOwn = by.kind === 'caller' || by.kind === 'worker';
    const foundNoCapacity = by.faults.some(
      ({ fault }) => fault === 'scaled to zero' || fault === 'no capacity',
    );
    if (item.status === 'TIMEOUT' && isOwn && item.startedAtMs !== undefined) return ['deadline', false];
    // It began a cold start before its message went back to the queue.
    const isKnown = by.found?.beganColdStart === true && !by.calls.includes('start');
    if (item.status === 'TIMEOUT' && isKnown) return ['wake', true];
    const mayHaveWoken = ['SERVICE_UNAVAILABLE', 'TIMEOUT'].includes(item.errorCode);
    return mayHaveWoken && foundNoCapacity ? ['wake', false] : null;
  }

  return {
    /** A request is accepted. */
    accepted({ licenseId, requestId, item }: StoredRecord): void {
      const isOver = unpaidRefusal(listOf(licenseId), item.createdAtMs) !== null;
      must(!isOver, `request ${requestId}: accepted after too many that nobody paid for`);
    },
    /** A request reached a final state. */
    ended(record: StoredRecord, by: Run): void {
      const { licenseId, item } = record;
      const runs = listOf(licenseId);
      if (item.status === 'COMPLETED')
        return become(licenseId, countingRuns(runs, item.completedAtMs).slice(0, -1));
      const counted = reasonOf(record, by);
      if (counted === null) return;
      const [reason, isSure] = counted;
      const run = { atMs: item.completedAtMs, reason };
      if (isSure) become(licenseId, [run, ...runs]);
      else unsure = run;
    },
    /** The operator lets a license forget them. */
    forgotten: (licenseId: string): void => become(licenseId, []),
    /** The item that counts what is in flight, as it is. */
    stored(licenseId: string, counting: Json | undefined): void {
      const stored: UnpaidRun[] = counting?.unpaid ?? [];
      if (unsure !== null && isDeepStrictEqual(stored[0], unsure))
        become(licenseId, [unsure, ...listOf(licenseId)]);
      unsure = null;
      const runs = listOf(licenseId);
      must(
        isDeepStrictEqual(stored, runs.slice(0, stored.length)) &&
          stored.length === Math.min(runs.length, 50),
        `${licenseId}: ${stored.length} unpaid runs are stored, and ${runs.length} were`,
      );
    },
    /** Whether a run may have been refused for them. */
    refusedRightly: ({ startedMs }: Run, licenseId: string): boolean =>
      [{ licenseId, runs: listOf(licenseId), untilMs: Infinity }, ...reached].some(
        (one) =>
          one.licenseId === licenseId &&
          one.untilMs >= startedMs &&
          unpaidRefusal(one.runs, startedMs - clocksDifferMs) !== null,
      ),
  };
}
