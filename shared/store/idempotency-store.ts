import { createHash } from 'node:crypto';
import type { Item } from './table.ts';

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

export function idempotencyRecordFromItem(item: Item): IdempotencyRecord {
  return { requestId: item.requestId, bodyHash: item.bodyHash, expiresAtMs: item.expiresAtMs };
}
