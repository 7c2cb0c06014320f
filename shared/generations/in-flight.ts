import type { Generation } from './generation.ts';
import { untilDecided } from '../table/backoff.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';
import { transact, type Part } from '../table/transact.ts';

/*
 * How many requests of a license are in flight is counted in the item of its present period, as `inFlight`, because a
 * reservation and its end write that item anyway. Its unpaid runs are beside it, as `unpaid`. Exactly one period of a license
 * has the two: a new period takes them over from the one before, in one transaction, and a small item says which has them now.
 */

/** One request more. Refused also where another period counts them: `inFlight` is missing here, and a comparison with it fails. */
export function enterFlight(
  { licenseId, periodStartMs }: Generation,
  maxInFlight: number,
): Part<{ outcome: 'too_many_in_flight' | 'counted_elsewhere' }> {
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: 'inFlight :one' },
    condition: 'inFlight < :maxInFlight',
    values: { ':one': 1, ':maxInFlight': maxInFlight },
    refusal: (found) => ({
      outcome: found?.inFlight === undefined ? 'counted_elsewhere' : 'too_many_in_flight',
    }),
  };
}

/**
 * One request less. After the end of a request's own period another one counts it: a second item is written then.
 * @param inFlightPeriodStartMs the start of the period that counts the license's requests in flight.
 */
export function leaveFlight(
  { licenseId }: Generation,
  inFlightPeriodStartMs: number,
): Part<{ inFlightPeriodStartMs: null }> {
  return {
    key: itemKeys.period(licenseId, inFlightPeriodStartMs),
    update: { ADD: 'inFlight :minusOne' },
    condition: 'attribute_exists(inFlight)',
    values: { ':minusOne': -1 },
    refusal: (found) => (found?.inFlight === undefined ? { inFlightPeriodStartMs: null } : null),
  };
}

/** Each failed attempt is another request of the license that began or ended in between. */
const maxMoveAttempts = 12;

/** @returns the start of the period that counts a license's requests in flight, null before its first request. */
export async function readInFlightPeriodStartMs(table: Table, licenseId: string): Promise<number | null> {
  const item = await getItem(table, itemKeys.inFlight(licenseId));
  return item === null ? null : item.startMs;
}

/**
 * Lets a period count its license's requests in flight.
 * @throws SERVICE_UNAVAILABLE when the number never stands still.
 */
export async function countInPeriod(table: Table, licenseId: string, startMs: number): Promise<void> {
  await untilDecided(maxMoveAttempts, async () => {
    const beforeMs = await readInFlightPeriodStartMs(table, licenseId);
    if (beforeMs === startMs) return true;
    const before = beforeMs === null ? null : await getItem(table, itemKeys.period(licenseId, beforeMs));
    const moved = moveCount(licenseId, beforeMs, startMs, before ?? {});
    const refusal = await transact(table, moved);
    return refusal === null ? true : undefined;
  });
}

/** @param fromMs null where no period counts them yet. */
function moveCount(licenseId: string, fromMs: number | null, toMs: number, { inFlight = 0, unpaid }: Item) {
  const refusal = () => 'moved meanwhile';
  const pointer: Part<string> = {
    key: itemKeys.inFlight(licenseId),
    update: { SET: 'startMs = :start' },
    condition: fromMs === null ? 'attribute_not_exists(PK)' : 'startMs = :before',
    values: { ':start': toMs, ...(fromMs !== null && { ':before': fromMs }) },
    refusal,
  };
  const to: Part = {
    key: itemKeys.period(licenseId, toMs),
    // The conditions of a reservation need both numbers.
    update: {
      SET: `inFlight = :inFlight, committed = if_not_exists(committed, :none)${unpaid ? ', unpaid = :unpaid' : ''}`,
    },
    values: { ':inFlight': inFlight, ':none': 0, ...(unpaid && { ':unpaid': unpaid }) },
  };
  if (fromMs === null) return [pointer, to];
  const from: Part<string> = {
    key: itemKeys.period(licenseId, fromMs),
    update: { REMOVE: 'inFlight, unpaid' },
    condition: `inFlight = :inFlight AND ${unpaid ? 'unpaid = :unpaid' : 'attribute_not_exists(unpaid)'}`,
    values: { ':inFlight': inFlight, ...(unpaid && { ':unpaid': unpaid }) },
    refusal,
  };
  return [pointer, to, from];
}
