import { createHash } from 'node:crypto';
import type { Item } from './table.ts';

/** What an idempotency key stands for: the request that first carried it. */
export interface Once {
  requestId: string;
  /** Fingerprint of that request's body. */
  bodyHash: string;
  /** From here on the key is free again, whether the item is gone or not. Milliseconds since 1970. */
  expiresAtMs: number;
}

/** A caller's text never enters a table key as it is. */
export function onceIdOf(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('base64url');
}

export function onceFromItem(item: Item): Once {
  return { requestId: item.requestId, bodyHash: item.bodyHash, expiresAtMs: item.expiresAtMs };
}
