import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  endedKeyMs,
  fingerprintApiKey,
  isApiKey,
  isRemovedKey,
  keyPrefix,
  keyRemovalMs,
  keyStatus,
  newApiKey,
} from '../../../shared/keys/api-key.ts';
import { isKeyId } from '../../../shared/base/ids.ts';
import { base62 } from '../../support/unit-samples.ts';

const anySecret = fc.string({ unit: fc.constantFrom(...base62), minLength: 32, maxLength: 32 });
const anyKey = anySecret.map((secret) => `svc_live_${secret}${modelChecksum(crcBitByBit(secret))}`);

describe('a new key', () => {
  const keys = Array.from({ length: 2000 }, newApiKey);

  test('is svc_live_ and 38 base62 characters, and passes its own check', () => {
    for (const key of keys) {
      expect(key).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
      expect(isApiKey(key)).toBe(true);
    }
  });

  test('draws each of its 32 characters from the whole alphabet, and is never made twice', () => {
    expect(new Set(keys).size).toBe(keys.length);
    const used = (position: number) => new Set(keys.map((key) => key[9 + position]));
    for (let position = 0; position < 32; position++) expect(used(position).size).toBe(62);
  });
});

describe('the checksum', () => {
  test('is written in base62, most significant digit first', () => {
    // 0xcbf43926 = 3 × 62⁵ + 45 × 62⁴ + 35 × 62³ + 27 × 62² + 22 × 62 + 14, and 45 is the digit j.
    expect(modelChecksum(0xcbf43926)).toBe('3jZRME');
    expect(modelChecksum(61)).toBe('00000z');
  });

  test('is looked at: of every text of the right shape only those with the right one are keys', () => {
    const shaped = fc.string({ unit: fc.constantFrom(...base62), minLength: 38, maxLength: 38 });
    fc.assert(
      fc.property(
        fc.oneof(
          shaped.map((text) => `svc_live_${text}`),
          anyKey,
        ),
        (key) => {
          expect(isApiKey(key)).toBe(key.slice(41) === modelChecksum(crcBitByBit(key.slice(9, 41))));
        },
      ),
    );
  });

  test('catches every substitution of one character, anywhere in a key', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        for (let i = 0; i < key.length; i++) {
          for (const other of base62) {
            const typo = key.slice(0, i) + other + key.slice(i + 1);
            if (typo !== key && isApiKey(typo)) throw new Error(`${typo} passes for ${key}`);
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});

test.each([
  ['a space before', (key: string) => ` ${key}`],
  ['a line break after', (key: string) => `${key}\n`],
  ['a character outside of base62', (key: string) => `${key.slice(0, 20)}-${key.slice(21)}`],
  ['a full-width digit', (key: string) => `${key.slice(0, 20)}１${key.slice(21)}`],
])('a key with %s is none', (_what, change) => expect(isApiKey(change(newApiKey()))).toBe(false));

describe('what is kept of a key', () => {
  test('the fingerprint is the SHA-256 of the whole key, and its id the first half of that', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const sha256 = createHash('sha256').update(key, 'utf8').digest('hex');
        expect(fingerprintApiKey(key)).toEqual({ keyId: `key_${sha256.slice(0, 32)}`, sha256 });
      }),
    );
  });

  test('the prefix shown in lists begins the key and reveals at most 4 of its 32 random characters', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const shown = keyPrefix(key);
        expect(key.startsWith(shown)).toBe(true);
        expect(shown.startsWith('svc_live_')).toBe(true);
        expect(shown.length).toBeLessThanOrEqual(9 + 4);
        expect(isApiKey(shown)).toBe(false);
      }),
    );
  });
});

/** The model: one bit at a time, by the reversed polynomial, instead of a table. */
function crcBitByBit(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function modelChecksum(crc: number): string {
  const powers = [62 ** 5, 62 ** 4, 62 ** 3, 62 ** 2, 62, 1];
  return powers.map((power) => base62[Math.floor(crc / power) % 62]).join('');
}

describe('a key’s public name', () => {
  const keyId = `key_${'0123456789abcdef'.repeat(2)}`;

  test('is key_ and 32 hexadecimal digits', () => expect(isKeyId(keyId)).toBe(true));

  test.each([
    [`x${keyId}`, 'something before it'],
    [`${keyId}0`, 'a digit too many'],
    [keyId.slice(0, -1), 'a digit too few'],
    [keyId.toUpperCase(), 'capital letters'],
    [`${keyId}\n`, 'a line break behind it'],
  ])('%j, with %s, is none', (text) => expect(isKeyId(text)).toBe(false));
});

describe('a key’s status', () => {
  const status = (revokedAtMs: number | null, expiresAtMs: number | null) =>
    keyStatus({ revokedAtMs, expiresAtMs }, 1000);

  test('is active without an end, and until the millisecond at which it expires', () => {
    expect(status(null, null)).toBe('active');
    expect(status(null, 1001)).toBe('active');
    expect(status(null, 1000)).toBe('expired');
  });

  test('is revoked from a revocation on, even if it would have expired since', () => {
    expect(status(999, 1000)).toBe('revoked');
  });
});

test.each([
  ['never ends', null, null, null],
  ['expires', null, 5000, 5000],
  ['was revoked before it expires', 4000, 5000, 4000],
  ['was revoked after it had expired', 6000, 5000, 5000],
])('a key that %s is removed 90 days after its end', (_what, revokedAtMs, expiresAtMs, endMs) => {
  const key = { revokedAtMs, expiresAtMs };
  expect(endedKeyMs).toBe(90 * 24 * 3600 * 1000);
  const removalMs = endMs === null ? null : endMs + endedKeyMs;
  expect(keyRemovalMs(key)).toBe(removalMs);
  const last = removalMs ?? Number.MAX_SAFE_INTEGER;
  expect([last - 1, last].map((nowMs) => isRemovedKey(key, nowMs))).toEqual([false, endMs !== null]);
});
