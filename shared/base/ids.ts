import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { randomBase62 } from './base62.ts';

const random20 = randomBase62(20);

const prefixes = { license: 'lic', identity: 'idn', gift: 'gift' } as const;

/** A new id that says what it names: its prefix and 119 random bits. */
export function newId(kind: keyof typeof prefixes): string {
  return `${prefixes[kind]}_${random20()}`;
}

/** Whether a text can be an id. Nothing else is ever looked up. Operators may choose readable ids. */
export function isId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text);
}

/** Whether a text can be a key's id. Nothing else is ever looked up. */
export function isKeyId(text: string): boolean {
  return /^key_[0-9a-f]{32}$/.test(text);
}

export const accountPrefix = 'acct_';

/** The caller id of an account, for its rate limits and idempotency keys. Keys have theirs (`key_…`). */
export function accountCallerId(ownerId: string): string {
  return accountPrefix + ownerId;
}

/** Whether a caller id is an account's: one that works in the playground, not a key. */
export function isAccountCallerId(callerId: string): boolean {
  return callerId.startsWith(accountPrefix);
}

/** What the requests of the playground are counted as, beside those of keys. */
export const playgroundKey = 'playground';

/** Time-ordered (RFC 9562, version 7), so that a license's history is sorted by its key alone. */
export function newRequestId(nowMs: number): string {
  return uuidv7({ msecs: nowMs });
}

/** The first of all request ids that an instant can have: every request before it has a smaller id. */
export function firstRequestIdAt(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** When a request id was made, in milliseconds since 1970. */
export function requestIdTimeMs(requestId: string): number {
  // What follows the next hyphen is no number.
  return Number.parseInt(requestId.replace('-', ''), 16);
}

/** What one run of a request calls itself, to know its own work from that of another run of the same request. */
export function newRunId(): string {
  return randomUUID().slice(0, 8);
}

/** Reads a request's id in any case (RFC 9562, section 4). @returns it as it is stored; null for any other text. */
export function readRequestId(text: string): string | null {
  const requestId = text.toLowerCase();
  return isRequestId(requestId) ? requestId : null;
}

/** Canonical lower-case UUIDs only: what is stored has one spelling. */
export function isRequestId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text);
}
