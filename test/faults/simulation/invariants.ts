import { isDeepStrictEqual } from 'node:util';
import { billingPeriod, isPeriodStart } from '../../../shared/licenses/billing-period.ts';
import { isFinal } from '../../../shared/generations/generation.ts';
import type { Copy } from './bucket.ts';
import type { Run } from './runs.ts';
import type { Json } from './table-calls.ts';

/** A generation's record as it lies in the table. */
export interface StoredRecord {
  PK: string;
  SK: string;
  licenseId: string;
  requestId: string;
  item: Json;
  /** When it reached a final state, by the world's own time. */
  endedAtMs: number | null;
  /** Who wrote that. */
  endedBy: Run | null;
  /** The run whose model began first. */
  startedBy: Run | null;
  /** Since when the model could paint, when it ended. */
  modelAwakeSinceMs: number | null;
}

type HasItem = Pick<StoredRecord, 'item'>;

const ways: Record<string, readonly string[]> = {
  QUEUED: ['QUEUED', 'PROCESSING', 'FAILED', 'TIMEOUT'],
  PROCESSING: ['PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'],
};

export function isOpen({ item }: HasItem): boolean {
  return !isFinal(item.status);
}

/** What is wrong with a record's change, null when nothing is. A final state never changes. */
export function wrongChange(before: Json | undefined, after: Json): string | null {
  if (before === undefined) return after.status === 'QUEUED' ? null : `it was stored as ${after.status}`;
  if (isFinal(before.status)) {
    return isDeepStrictEqual(before, after)
      ? null
      : `it was ${before.status} and changed (now ${after.status})`;
  }
  if (!ways[before.status]!.includes(after.status)) return `it went from ${before.status} to ${after.status}`;
  const fixed = ['credits', 'periodStartMs', 'createdAtMs', 'keyId', 'numOutputs', 'leaseUntilMs'];
  if (before.status === 'PROCESSING') fixed.push('runId', 'startedAtMs');
  const changed = fixed.find((name) => before[name] !== after[name] && after[name] !== undefined);
  return changed === undefined ? null : `its ${changed} changed`;
}

/** A reservation belongs to the month in which it was made, by its license's own calendar. */
export function wrongMonth({ item }: StoredRecord, anchorMs: number): string | null {
  const { startMs } = billingPeriod(anchorMs, item.createdAtMs);
  return startMs === item.periodStartMs
    ? null
    : `it is booked in the period of ${new Date(item.periodStartMs).toISOString()}`;
}

/** Once an anchor has moved, credits are held in periods that were paid, and in no others. */
export function unpaidPeriod({ item }: StoredRecord, paidAnchorsMs: number[]): string | null {
  const { periodStartMs, createdAtMs } = item;
  const isPaid = paidAnchorsMs.some((anchorMs) => isPeriodStart(anchorMs, periodStartMs));
  if (isPaid && periodStartMs <= createdAtMs) return null;
  return `it is booked in a period that nobody paid, from ${new Date(periodStartMs).toISOString()}`;
}

/** Only what still holds credits is in the lease index. */
export function wrongLease(record: StoredRecord): string | null {
  const indexed = record.item.leaseShard !== undefined && record.item.leaseUntilMs !== undefined;
  if (isOpen(record) === indexed) return null;
  return indexed ? 'it has ended and is in the lease index' : 'it is open and in no lease index';
}

/**
 * Why a copy of a reference image may not be there once nothing runs; null when only the bucket's own rule can remove it:
 * its deletion was lost on the way, it was stored after it, the machine died on which its request ended, or whoever ended it
 * never learned so while it was handed over to a worker.
 */
export function wrongCopy(copy: Copy, record: StoredRecord | undefined): string | null {
  if (copy.wasAskedToGo || copy.cameLate) return null;
  const last = record?.endedBy ?? copy.by;
  const neverLearned = last.isUnsure && last.calls.includes('hand over');
  return last.ended && !last.failed && !neverLearned ? `a copy that ${last.name} left behind` : null;
}

/** What is wrong with a period, given every record that names it. */
export function wrongPeriod(period: Json, records: HasItem[]): string | null {
  const { used = 0, committed = 0, imported = 0 } = period;
  const sum = (of: HasItem[]) => of.reduce((credits, { item }) => credits + item.credits, 0);
  const charged = sum(records.filter(({ item }) => item.status === 'COMPLETED'));
  const held = sum(records.filter(isOpen));
  if (used < 0 || used > committed) return `used ${used}, committed ${committed}`;
  if (used !== charged + imported)
    return `used ${used}, but ${charged} were charged and ${imported} imported`;
  if (committed - used !== held) return `${committed - used} are held, but ${held} by requests`;
  return null;
}

/** What is wrong with the count of a license's requests in flight: one period has it, and it is true. */
export function wrongInFlight(
  periods: Json[],
  open: number,
  countingStartMs: number | undefined,
): string | null {
  const counting = periods.filter(({ inFlight }) => inFlight !== undefined);
  if (counting.length > 1) return `${counting.length} periods count what is in flight`;
  const [period] = counting;
  if ((period && Date.parse(period.SK)) !== countingStartMs) return 'another period counts what is in flight';
  const counted = period?.inFlight ?? 0;
  return counted === open ? null : `${counted} requests are counted in flight, and ${open} are`;
}

/** Statistics count what was charged, each way. */
export function wrongTallies(period: Json, records: HasItem[]): string | null {
  const completed = records.filter(({ item }) => item.status === 'COMPLETED');
  const credits = completed.reduce((sum, { item }) => sum + item.credits, 0);
  for (const kind of ['t', 'i', 'd']) {
    const total = (unit: string) =>
      Object.entries(period)
        .filter(([name]) => name.startsWith(`${kind}#`) && name.endsWith(`#${unit}`))
        .reduce((sum, [, value]) => sum + value, 0);
    if (total('n') !== completed.length || total('c') !== credits) {
      return `statistics "${kind}" count ${total('n')} requests and ${total('c')} credits, not ${completed.length} and ${credits}`;
    }
  }
  return null;
}

/** What is wrong with a rate log's newest entry: more than the quota within a window. */
export function wrongRate(entriesMs: number[], quota: number, windowMs: number): string | null {
  const newest = entriesMs.at(-1)!;
  const before = entriesMs.at(-1 - quota);
  if (entriesMs.length > 1 && newest < entriesMs.at(-2)!) return 'its log went back in time';
  if (before === undefined || newest - before >= windowMs) return null;
  return `${quota + 1} uses within ${newest - before} ms`;
}
