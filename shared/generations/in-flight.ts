import { serviceBusy } from '../base/errors.ts';
import { pause } from '../table/backoff.ts';
import { getItem, type Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';
import { transact, type TransactItems } from '../table/transact.ts';

/*
 * How many requests of a license are in flight is counted in the item of its present period, as `inFlight`, because a
 * reservation and its end write that item anyway. Exactly one period of a license has the attribute: a new period takes
 * the number over from the one before, in one transaction, and a small item says which has it now.
 */

/** Each failed attempt is another request of the license that began or ended in between. */
const maxMoveAttempts = 12;

/** @returns the start of the period that counts a license's requests in flight, null before its first request. */
export async function countedInMs(table: Table, licenseId: string): Promise<number | null> {
  const item = await getItem(table, itemKeys.inFlight(licenseId));
  return item === null ? null : item.startMs;
}

/**
 * Lets a period count its license's requests in flight.
 * @throws SERVICE_UNAVAILABLE when the number never stands still.
 */
export async function countInPeriod(table: Table, licenseId: string, startMs: number): Promise<void> {
  for (let attempt = 1; attempt <= maxMoveAttempts; attempt++) {
    const beforeMs = await countedInMs(table, licenseId);
    if (beforeMs === startMs) return;
    const items =
      beforeMs === null
        ? firstCountItems(table.name, licenseId, startMs)
        : moveItems(table.name, licenseId, startMs, {
            startMs: beforeMs,
            inFlight: (await getItem(table, itemKeys.period(licenseId, beforeMs)))?.inFlight ?? 0,
          });
    if ((await transact(table, items)) === null) return;
    await pause(attempt);
  }
  throw serviceBusy();
}

function firstCountItems(TableName: string, licenseId: string, startMs: number): TransactItems {
  const pointer = {
    TableName,
    Key: itemKeys.inFlight(licenseId),
    UpdateExpression: 'SET startMs = :start',
    ConditionExpression: 'attribute_not_exists(PK)',
    ExpressionAttributeValues: { ':start': startMs },
  };
  return [{ Update: pointer }, { Update: takeOver(TableName, licenseId, startMs, 0) }];
}

function moveItems(
  TableName: string,
  licenseId: string,
  startMs: number,
  before: { startMs: number; inFlight: number },
): TransactItems {
  const pointer = {
    TableName,
    Key: itemKeys.inFlight(licenseId),
    UpdateExpression: 'SET startMs = :start',
    ConditionExpression: 'startMs = :before',
    ExpressionAttributeValues: { ':start': startMs, ':before': before.startMs },
  };
  const handOver = {
    TableName,
    Key: itemKeys.period(licenseId, before.startMs),
    UpdateExpression: 'REMOVE inFlight',
    ConditionExpression: 'inFlight = :inFlight',
    ExpressionAttributeValues: { ':inFlight': before.inFlight },
  };
  const Update = takeOver(TableName, licenseId, startMs, before.inFlight);
  return [{ Update: pointer }, { Update }, { Update: handOver }];
}

function takeOver(TableName: string, licenseId: string, startMs: number, inFlight: number) {
  return {
    TableName,
    Key: itemKeys.period(licenseId, startMs),
    // The conditions of a reservation need both numbers.
    UpdateExpression: 'SET inFlight = :inFlight, committed = if_not_exists(committed, :none)',
    ExpressionAttributeValues: { ':inFlight': inFlight, ':none': 0 },
  };
}
