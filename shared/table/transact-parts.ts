import type { Item, Table } from './table.ts';
import type { ItemKey } from './keys.ts';
import { transact, type TransactItems } from './transact.ts';

/**
 * What one rule adds to a transaction: how it changes an item, on which condition, and what it means when that condition
 * fails. Several parts may update one item: they become one write.
 */
export interface Part<Refusal = never> {
  key: ItemKey;
  /** The clauses of an update expression (Amazon DynamoDB Developer Guide, "Update expressions"). */
  update?: { SET?: string; REMOVE?: string; ADD?: string };
  /** The whole item, in place of an update. */
  put?: Item;
  /** In place of an update. */
  isDeleted?: true;
  /** One with OR stands in parentheses. */
  condition?: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
  /**
   * DynamoDB tells only which item's condition failed. So where several parts share an item, each says by the item as it
   * was found whether it is the one that refused: null where it is not.
   */
  refusal?(found: Item | undefined): Refusal | null;
}

export type Parts<Refusal> = readonly (Part<Refusal> | null)[];

/**
 * Writes all parts or none: see `transact`.
 * @param parts null for a rule that adds nothing.
 * @returns null when written, otherwise what the first part says that refused, in the order of the list.
 */
export async function transactParts<Refusal>(
  table: Table,
  parts: Parts<Refusal>,
  token?: string,
): Promise<Refusal | null> {
  const present = parts.filter((part) => part !== null);
  const keyOf = ({ key }: Part<Refusal>) => `${key.PK}\n${key.SK}`;
  const byItem = Map.groupBy(present, keyOf);
  const items = [...byItem.values()].map((some) => writeOf(table.name, some));
  const refused = await transact(table, items, token);
  if (refused === null) return null;
  const places = [...byItem.keys()];
  for (const part of present) {
    const place = places.indexOf(keyOf(part));
    const refusal = refused.failed[place] ? part.refusal?.(refused.items[place]) : null;
    if (refusal) return refusal;
  }
  throw new Error('a transaction was refused, and no part of it says why');
}

/** One write of an item, of all parts that change it. */
function writeOf(TableName: string, parts: Part<unknown>[]): TransactItems[number] {
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
    ...(values.length > 0 && { ExpressionAttributeValues: Object.assign({}, ...values) }),
  };
  if (put) return { Put: { ...write, Item: { ...key, ...put } } };
  if (isDeleted) return { Delete: { ...write, Key: key } };
  const clauses = (['SET', 'REMOVE', 'ADD'] as const).flatMap((clause) => {
    const changes = parts.flatMap(({ update }) => update?.[clause] ?? []);
    return changes.length === 0 ? [] : `${clause} ${changes.join(', ')}`;
  });
  return { Update: { ...write, Key: key, UpdateExpression: clauses.join(' ') } };
}
