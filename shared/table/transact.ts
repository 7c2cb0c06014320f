import { randomUUID } from 'node:crypto';
import {
  TransactionCanceledException,
  TransactWriteItemsCommand,
  type CancellationReason,
  type TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { serviceBusy } from '../base/errors.ts';
import { maxConflictRetries, pause } from './backoff.ts';
import type { ItemKey } from './keys.ts';
import type { Item, Table } from './table.ts';

/**
 * What one rule adds to a transaction: how it changes an item, on which condition, and what it means when that condition
 * fails. Several parts may update one item: they become one write, so a name or a value of theirs means the same in each.
 * An item that one part puts or deletes has no other part.
 */
export interface Part<Refusal = never> {
  key: ItemKey;
  /** The clauses of an update expression (Amazon DynamoDB Developer Guide, "Update expressions"). */
  update?: { SET?: string; REMOVE?: string; ADD?: string };
  /** The whole item, in place of an update. */
  put?: Item;
  /** In place of an update. */
  isDeleted?: true;
  /** One with OR stands in parentheses, unless its item has no other part. */
  condition?: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
  /**
   * DynamoDB says only which item's condition failed. So where several parts share an item, each says by the item as it
   * was found whether it is the one that refused: null where it is not.
   */
  refusal?(found: Item | undefined): Refusal | null;
}

export type Parts<Refusal> = readonly (Part<Refusal> | null)[];

/**
 * Writes all parts or none. A conflict with another transaction or a throttled item says nothing about the conditions, so
 * the transaction is tried again with jitter. A failed condition is an answer. All attempts carry one token, so none is
 * applied a second time when an answer is lost or an attempt arrives late (for ten minutes: Amazon DynamoDB API
 * Reference, TransactWriteItems).
 * @param parts null for a rule that adds nothing.
 * @param token the same for a transaction that is made again after it was refused. It has at most 36 characters.
 * @returns null when written, otherwise what the first part says that refused, in the order of the list.
 * @throws SERVICE_UNAVAILABLE when conflicts don't end; whatever the SDK throws when the outcome is unknown.
 */
export async function transact<Refusal>(
  table: Table,
  parts: Parts<Refusal>,
  token: string = randomUUID(),
): Promise<Refusal | null> {
  const present = parts.filter((part) => part !== null);
  const byItem = Map.groupBy(present, placeOf);
  const items = [...byItem.values()].map((some) => writeOf(table.name, some));
  const reasons = await send(table, { TransactItems: items, ClientRequestToken: token });
  if (reasons === null) return null;
  const places = [...byItem.keys()];
  for (const part of present) {
    const { Code: code, Item: found } = reasons[places.indexOf(placeOf(part))]!;
    const isRefused = code === 'ConditionalCheckFailed';
    const refusal = isRefused ? part.refusal?.(found && unmarshall(found)) : null;
    if (refusal) return refusal;
  }
  throw new Error('a transaction was refused, and no part of it says why');
}

const placeOf = ({ key }: Part<unknown>) => `${key.PK}\n${key.SK}`;

/** @returns null when written, otherwise item by item why it was refused. */
async function send(
  table: Table,
  input: { TransactItems: TransactWriteItem[]; ClientRequestToken: string },
): Promise<CancellationReason[] | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      await table.client.send(new TransactWriteItemsCommand(input));
      return null;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const codes = reasons.map((reason) => reason.Code ?? 'None');
      if (codes.includes('ConditionalCheckFailed')) return reasons;
      const temporary = ['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];
      if (!codes.every((code) => temporary.includes(code))) throw error;
      // Writes that meet are of one license or account, whose callers send so many at once.
      if (attempt > maxConflictRetries) throw serviceBusy(error, codes.includes('TransactionConflict'));
      await pause(attempt);
    }
  }
}

/** One write of an item, of all parts that change it. */
function writeOf(TableName: string, parts: Part<unknown>[]): TransactWriteItem {
  const [{ key, put, isDeleted }] = parts as [Part<unknown>];
  const conditions = parts.flatMap(({ condition }) => condition ?? []);
  const names = parts.map((part) => part.names).filter((some) => some !== undefined);
  const values = parts.map((part) => part.values).filter((some) => some !== undefined);
  const write = {
    TableName,
    // DynamoDB takes no empty expressions, names or values.
    ...(conditions.length > 0 && {
      ConditionExpression: conditions.join(' AND '),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    }),
    ...(names.length > 0 && { ExpressionAttributeNames: Object.assign({}, ...names) }),
    ...(values.length > 0 && { ExpressionAttributeValues: marshall(Object.assign({}, ...values)) }),
  };
  if (put) return { Put: { ...write, Item: marshall({ ...key, ...put }) } };
  if (isDeleted) return { Delete: { ...write, Key: marshall(key) } };
  const clauses = (['SET', 'REMOVE', 'ADD'] as const).flatMap((clause) => {
    const changes = parts.flatMap(({ update }) => update?.[clause] ?? []);
    return changes.length === 0 ? [] : `${clause} ${changes.join(', ')}`;
  });
  return { Update: { ...write, Key: marshall(key), UpdateExpression: clauses.join(' ') } };
}
