import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../accounts/audit.ts';
import { auditEntry } from '../accounts/audit-store.ts';
import type { Generation } from './generation.ts';
import { readInFlightPeriodStartMs } from './in-flight.ts';
import type { UnpaidReason } from '../base/errors.ts';
import {
  countingRuns,
  unpaidLimits,
  unpaidRefusal,
  type UnpaidRefusal,
  type UnpaidRun,
} from '../licenses/unpaid-runs.ts';
import { itemKeys } from '../table/keys.ts';
import { untilDecided } from '../table/backoff.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { transact, type Part } from '../table/transact.ts';

/*
 * A license's calls of the model that nobody paid for: a list, newest first, in the item that counts what is in flight,
 * which a reservation and its end write anyway. A license without any is charged by one attempt.
 */

/** Refuses a reservation after too many. */
export function refuseUnpaid({
  licenseId,
  periodStartMs,
  createdAtMs,
}: Generation): Part<{ outcome: 'too_many_unpaid'; refusal: UnpaidRefusal }> {
  const within = unpaidLimits.map(
    ({ runs }, i) => `(attribute_not_exists(unpaid[${runs - 1}]) OR unpaid[${runs - 1}].atMs <= :unpaid${i})`,
  );
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    condition: within.join(' AND '),
    values: Object.fromEntries(
      unpaidLimits.map(({ minutes }, i) => [`:unpaid${i}`, createdAtMs - minutes * 60_000]),
    ),
    refusal(found) {
      const refusal = unpaidRefusal(found?.unpaid ?? [], createdAtMs);
      return refusal === null ? null : { outcome: 'too_many_unpaid', refusal };
    },
  };
}

/** As many as any limit looks at, and some that were in flight together. */
const maxKept = 50;

/** What an attempt to end a request found of its license's unpaid runs. */
type Found = { unpaidRuns: UnpaidRun[] };
/** What the last attempt found; null before the first, and 'contended' where they are left alone. */
type Known = UnpaidRun[] | null | 'contended';

const found = (item: Item | undefined): UnpaidRun[] => item?.unpaid ?? [];

/** One more. */
export function countUnpaid(
  { licenseId, completedAtMs }: Generation,
  reason: UnpaidReason | null,
  known: Known,
  inFlightPeriodStartMs: number,
): Part<Found> | null {
  if (reason === null || known === 'contended') return null;
  const key = itemKeys.period(licenseId, inFlightPeriodStartMs);
  const run: UnpaidRun = { atMs: completedAtMs!, reason };
  if (known === null || known.length < maxKept)
    return {
      key,
      condition: `attribute_not_exists(unpaid[${maxKept - 1}])`,
      update: { SET: 'unpaid = list_append(:run, if_not_exists(unpaid, :none))' },
      values: { ':run': [run], ':none': [] },
      refusal: (item) => (found(item).length < maxKept ? null : { unpaidRuns: found(item) }),
    };
  return {
    key,
    condition: 'unpaid = :known',
    update: { SET: 'unpaid = :newest' },
    values: { ':known': known, ':newest': [run, ...known.slice(0, maxKept - 1)] },
    refusal: (item) => otherThan(known, item),
  };
}

/** A charge takes the oldest away that still counts, and all that do not. */
export function forgiveUnpaid(
  { licenseId, completedAtMs }: Generation,
  known: Known,
  inFlightPeriodStartMs: number,
): Part<Found> | null {
  if (known === 'contended') return null;
  const key = itemKeys.period(licenseId, inFlightPeriodStartMs);
  const refusal = (item: Item | undefined) => otherThan(known ?? [], item);
  if (known === null || known.length === 0)
    return { key, condition: 'attribute_not_exists(unpaid)', refusal };
  const left = countingRuns(known, completedAtMs!).slice(0, -1);
  return {
    key,
    condition: 'unpaid = :known',
    update: left.length === 0 ? { REMOVE: 'unpaid' } : { SET: 'unpaid = :left' },
    values: { ':known': known, ...(left.length > 0 && { ':left': left }) },
    refusal,
  };
}

function otherThan(known: UnpaidRun[], item: Item | undefined): Found | null {
  const unpaidRuns = found(item);
  return isDeepStrictEqual(unpaidRuns, known) ? null : { unpaidRuns };
}

/** Each failed attempt is another run that was counted or forgiven in between. */
const maxClearAttempts = 8;

/** For the operator: the next request of a license is not refused for what was. @returns the runs that are forgotten. */
export async function clearUnpaid(
  table: Table,
  licenseId: string,
  by: Actor,
  nowMs: number,
): Promise<UnpaidRun[]> {
  return untilDecided(maxClearAttempts, async () => {
    const startMs = await readInFlightPeriodStartMs(table, licenseId);
    if (startMs === null) return [];
    const key = itemKeys.period(licenseId, startMs);
    const runs = found((await getItem(table, key)) ?? undefined);
    if (runs.length === 0) return [];
    const changes = [{ member: 'unpaidRuns', from: runs.length, to: 0 }];
    const note = { by, action: 'license_changed', subjectId: licenseId, subjectName: null, changes } as const;
    const refusal = await transact<object>(table, [
      {
        key,
        condition: 'unpaid = :runs',
        update: { REMOVE: 'unpaid' },
        values: { ':runs': runs },
        refusal: () => ({}),
      },
      auditEntry({ licenseId }, note, nowMs),
    ]);
    return refusal === null ? runs : undefined;
  });
}
