import type { Generation } from './generation.ts';
import { untilDecided } from '../table/backoff.ts';
import { inFlightName, inFlightPrefix } from '../licenses/period-store.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';
import { transact, type Part } from '../table/transact.ts';

/*
 * How many requests of a license are in flight is counted in the item of its present period, as `inFlight`, because a
 * reservation and its end write that item anyway. Its unpaid runs are beside it, as `unpaid`. Exactly one period of a license
 * has the two: a new period takes them over from the one before, in one transaction, and a small item says which has them now.
 *
 * Keys that have a limit of their own have numbers of their own there, and these a sum. It holds off a move that has not seen one
 * of them: their numbers can't all be those that it read while a further key has one and the sum is the same.
 */
const sumByKey = `${inFlightPrefix}all`;

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
    refusal: (found) => {
      if (found?.inFlight === undefined) return { outcome: 'counted_elsewhere' };
      return found.inFlight < maxInFlight ? null : { outcome: 'too_many_in_flight' };
    },
  };
}

/**
 * One request more of a key that has a limit of its own.
 * @param keyMaxInFlight null for a key without one, whose requests are not counted, and for the playground.
 */
export function enterKeyFlight(
  { licenseId, periodStartMs, keyId }: Generation,
  keyMaxInFlight: number | null,
): Part<{ outcome: 'too_many_of_key_in_flight' }> | null {
  if (keyMaxInFlight === null) return null;
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: '#ofKey :one, #ofKeys :one' },
    condition: '(attribute_not_exists(#ofKey) OR #ofKey < :maxOfKey)',
    names: { '#ofKey': inFlightName(keyId), '#ofKeys': sumByKey },
    values: { ':one': 1, ':maxOfKey': keyMaxInFlight },
    refusal: () => ({ outcome: 'too_many_of_key_in_flight' }),
  };
}

/**
 * One request less. After the end of a request's own period another one counts it: a second item is written then.
 * @param inFlightPeriodStartMs the start of the period that counts the license's requests in flight.
 */
export function leaveFlight(
  { licenseId, keyId, keyInFlight }: Generation,
  inFlightPeriodStartMs: number,
): Part<{ inFlightPeriodStartMs: null }> {
  return {
    key: itemKeys.period(licenseId, inFlightPeriodStartMs),
    update: { ADD: `inFlight :minusOne${keyInFlight ? ', #ofKey :minusOne, #ofKeys :minusOne' : ''}` },
    ...(keyInFlight && { names: { '#ofKey': inFlightName(keyId), '#ofKeys': sumByKey } }),
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
function moveCount(licenseId: string, fromMs: number | null, toMs: number, before: Item) {
  const refusal = () => 'moved meanwhile';
  const pointer: Part<string> = {
    key: itemKeys.inFlight(licenseId),
    update: { SET: 'startMs = :start' },
    condition: fromMs === null ? 'attribute_not_exists(PK)' : 'startMs = :before',
    values: { ':start': toMs, ...(fromMs !== null && { ':before': fromMs }) },
    refusal,
  };
  // Keys that have none stay behind, so an expression has no more of them than can have requests in flight: 25 and a day's new ones.
  const byKey = Object.entries(before).filter(
    ([name, count]) => name.startsWith(inFlightPrefix) && count > 0,
  );
  const { inFlight = 0, unpaid, [sumByKey]: sum } = before;
  const read = { inFlight, unpaid, [sumByKey]: sum, ...Object.fromEntries(byKey) };
  const members = Object.entries(read).map(([name, value], i) => ({
    ref: `#m${i}`,
    name,
    at: `:m${i}`,
    value,
  }));
  const counted = members.filter(({ value }) => value !== undefined);
  // Where nothing is in flight, what keys still have is what a version that does not count them left behind.
  const moved = counted.filter(({ name }) => inFlight > 0 || !name.startsWith(inFlightPrefix));
  const namesOf = (some: typeof members) => Object.fromEntries(some.map(({ ref, name }) => [ref, name]));
  const valuesOf = (some: typeof members) => Object.fromEntries(some.map(({ at, value }) => [at, value]));
  const to: Part = {
    key: itemKeys.period(licenseId, toMs),
    // The conditions of a reservation need a number in each.
    update: {
      SET: [
        'committed = if_not_exists(committed, :none)',
        ...moved.map(({ ref, at }) => `${ref} = ${at}`),
      ].join(', '),
    },
    names: namesOf(moved),
    values: { ...valuesOf(moved), ':none': 0 },
  };
  if (fromMs === null) return [pointer, to];
  const from: Part<string> = {
    key: itemKeys.period(licenseId, fromMs),
    update: { REMOVE: counted.map(({ ref }) => ref).join(', ') },
    condition: members
      .map(({ ref, at, value }) => (value === undefined ? `attribute_not_exists(${ref})` : `${ref} = ${at}`))
      .join(' AND '),
    names: namesOf(members),
    values: valuesOf(counted),
    refusal,
  };
  return [pointer, to, from];
}
