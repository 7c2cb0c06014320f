import { createHash } from 'node:crypto';
import { withoutBlanks } from '../base/words.ts';

/** How long a repeated request is answered with the first one's result. */
export const idempotencyHours = 24;

/**
 * Reads an Idempotency-Key header: a bare token, or the quoted string of the IETF draft
 * (draft-ietf-httpapi-idempotency-key-header, an RFC 8941 string), which means the same key.
 * @returns the key, or null when it is not one.
 */
export function parseIdempotencyKey(header: string): string | null {
  const text = withoutBlanks(header);
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text);
  const key = quoted ? quoted[1]!.replace(/\\(["\\])/g, '$1') : text;
  return /^[\x21-\x7e]{1,255}$/.test(key) ? key : null;
}

/** The key of a request, by every value that its header was sent with; null where they are not one key. */
export function readIdempotencyKey(values: readonly string[] = []): string | null {
  return values.length === 1 ? parseIdempotencyKey(values[0]!) : null;
}

/** A hash of the body, in hex. Two requests are the same when their bodies are, byte for byte. */
export function bodyFingerprint(body: Uint8Array | string): string {
  return createHash('sha256').update(body).digest('hex');
}
