import { createHash } from 'node:crypto';
import type { Generation } from './generation.ts';
import { idempotencyHours } from './idempotency.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { itemKeys, ttlAttribute } from '../table/keys.ts';
import type { Part } from '../table/transact.ts';

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

function idempotencyRecordFromItem(item: Item): IdempotencyRecord {
  return { requestId: item.requestId, bodyHash: item.bodyHash, expiresAtMs: item.expiresAtMs };
}

export function takeIdempotencyKey(
  { keyId, idempotencyKeyHash, requestId, createdAtMs }: Generation,
  bodyHash: string,
): Part<{ outcome: 'repeated'; idempotencyRecord: IdempotencyRecord }> | null {
  if (idempotencyKeyHash === null) return null;
  const expiresAtMs = createdAtMs + idempotencyHours * 3600 * 1000;
  return {
    key: itemKeys.idempotencyRecord(keyId, idempotencyKeyHash),
    put: { requestId, bodyHash, expiresAtMs, [ttlAttribute]: Math.ceil(expiresAtMs / 1000) },
    condition: 'attribute_not_exists(PK) OR expiresAtMs <= :now',
    values: { ':now': createdAtMs },
    refusal: (found) => ({ outcome: 'repeated', idempotencyRecord: idempotencyRecordFromItem(found!) }),
  };
}

/** Refused where the key's 24 hours are over and a newer request has taken it: a release must leave it alone then. */
export function freeIdempotencyKey(ended: Generation): Part<{ ownsIdempotencyKey: false }> | null {
  const { keyId, idempotencyKeyHash, requestId } = ended;
  if (idempotencyKeyHash === null) return null;
  return {
    key: itemKeys.idempotencyRecord(keyId, idempotencyKeyHash),
    isDeleted: true,
    condition: 'attribute_not_exists(PK) OR requestId = :requestId',
    values: { ':requestId': requestId },
    refusal: () => ({ ownsIdempotencyKey: false }),
  };
}
