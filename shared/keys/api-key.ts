import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62, randomBase62 } from '../base/base62.ts';

const prefix = 'svc_live_';
const keyShape = /^svc_live_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;
const random32 = randomBase62(32);

/** `svc_live_`, 32 random base62 characters (190 bits) and the six of their checksum. */
export function newApiKey(): string {
  const secret = random32();
  return `${prefix}${secret}${checksum(secret)}`;
}

/** Whether a text can be a key, by its shape and checksum. So a mistyped key is refused without a read of the table. */
export function isApiKey(text: string): boolean {
  const [, secret, check] = keyShape.exec(text) ?? [];
  return secret !== undefined && checksum(secret) === check;
}

export interface KeyFingerprint {
  /** The key's id: the first 128 bits of its SHA-256. So the raw key and its id lead to the same item. */
  keyId: string;
  /** Hex. The only form in which a key is stored. */
  sha256: string;
}

/** What the service stores of a raw key. Neither part leads back to its 190 random bits. */
export function fingerprintApiKey(rawKey: string): KeyFingerprint {
  const sha256 = createHash('sha256').update(rawKey).digest('hex');
  return { keyId: `key_${sha256.slice(0, 32)}`, sha256 };
}

/** The first characters of a key, enough for its owner to recognise it in a list. */
export function keyPrefix(rawKey: string): string {
  return rawKey.slice(0, prefix.length + 4);
}

export type KeyStatus = 'active' | 'expired' | 'revoked';

/** When a key was revoked and when it expires, in milliseconds since 1970; null for neither. */
export interface KeyTimes {
  revokedAtMs: number | null;
  expiresAtMs: number | null;
}

/** A revoked key stays `revoked`, also after it would have expired. */
export function keyStatus(key: KeyTimes, nowMs: number): KeyStatus {
  if (key.revokedAtMs !== null) return 'revoked';
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? 'expired' : 'active';
}

/** When a key ends or has ended, by expiry or by revocation; null for one that does not end. */
export function keyEndMs(key: KeyTimes): number | null {
  const ends = [key.revokedAtMs, key.expiresAtMs].filter((ms) => ms !== null);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** For so long an ended key is still listed. */
export const endedKeyDays = 90;
export const endedKeyMs = endedKeyDays * 24 * 3600 * 1000;

/** When an ended key is removed, lists and all; null for one that does not end. */
export function keyRemovalMs(key: KeyTimes): number | null {
  const endMs = keyEndMs(key);
  return endMs === null ? null : endMs + endedKeyMs;
}

/** A removed key is as if it had never been, although its item may be there for some days more. */
export function isRemovedKey(key: KeyTimes, nowMs: number): boolean {
  const removalMs = keyRemovalMs(key);
  return removalMs !== null && removalMs <= nowMs;
}

/** CRC-32 (ISO-HDLC) of the secret in six base62 digits, most significant first. */
function checksum(secret: string): string {
  let rest = crc32(secret);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
