import { createHash } from 'node:crypto';
import { getItem, type Item, type Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';

/** What an idempotency key stands for: the request that first carried it. */
export interface IdempotencyRecord {
  requestId: string;
  /** Fingerprint of that request's body. */
  bodyHash: string;
  /** From here on the key is free again, even if the item is still there. Milliseconds since 1970. */
  expiresAtMs: number;
}

/** The hash stands in the table's key, because a caller's text never does. */
export function hashIdempotencyKey(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('base64url');
}

/** What a caller's idempotency key stands for already: a strong read. */
export async function readIdempotencyRecord(
  table: Table,
  callerId: string,
  idempotencyKeyHash: string,
): Promise<IdempotencyRecord | null> {
  const item = await getItem(table, itemKeys.idempotencyRecord(callerId, idempotencyKeyHash));
  return item && idempotencyRecordFromItem(item);
}

export function idempotencyRecordFromItem(item: Item): IdempotencyRecord {
  return { requestId: item.requestId, bodyHash: item.bodyHash, expiresAtMs: item.expiresAtMs };
}
