import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  fingerprintApiKey,
  isApiKey,
  keyPrefix,
  keyStatus,
  newApiKey,
} from '../../../shared/keys/api-key.ts';
import { isId, isKeyId } from '../../../shared/base/ids.ts';
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

  test('is never made twice', () => expect(new Set(keys).size).toBe(keys.length));

  test('draws each of its 32 characters from the whole alphabet', () => {
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

  test('is accepted for every secret', () => {
    fc.assert(fc.property(anyKey, (key) => expect(isApiKey(key)).toBe(true)));
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

describe('what is not a key', () => {
  const [key] = fc.sample(anyKey, 1) as [string];

  test.each([
    ['another prefix', key.replace('svc_live_', 'svc_test_')],
    ['a space before', ` ${key}`],
    ['a line break after', `${key}\n`],
    ['a character outside of base62', `${key.slice(0, 20)}-${key.slice(21)}`],
    ['a full-width digit', `${key.slice(0, 20)}１${key.slice(21)}`],
  ])('%s is refused', (_what, text) => expect(isApiKey(text)).toBe(false));

  test('texts of the right shape but without the right checksum are refused', () => {
    const shaped = fc.string({ unit: fc.constantFrom(...base62), minLength: 38, maxLength: 38 });
    fc.assert(
      fc.property(shaped, (text) => {
        const right = text.slice(32) === modelChecksum(crcBitByBit(text.slice(0, 32)));
        expect(isApiKey(`svc_live_${text}`)).toBe(right);
      }),
    );
  });
});

describe('what is kept of a key', () => {
  test('the fingerprint is the SHA-256 of the whole key, and its id the first half of that', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const sha256 = createHash('sha256').update(key, 'utf8').digest('hex');
        expect(fingerprintApiKey(key)).toEqual({ keyId: `key_${sha256.slice(0, 32)}`, sha256 });
      }),
    );
  });

  test('a key id has the shape of an id, and says nothing of the key itself', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const { keyId } = fingerprintApiKey(key);
        expect(isId(keyId)).toBe(true);
        expect(keyId).not.toContain(key.slice(9, 17));
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

  test('is key_ and 32 hexadecimal digits', () => {
    expect(isKeyId(keyId)).toBe(true);
    expect(isKeyId(fingerprintApiKey('x').keyId)).toBe(true);
  });

  test.each([
    ['', 'nothing'],
    [`x${keyId}`, 'something before it'],
    [`${keyId}0`, 'a digit too many'],
    [keyId.slice(0, -1), 'a digit too few'],
    [keyId.toUpperCase(), 'capital letters'],
    [`${keyId}\n`, 'a line break behind it'],
  ])('%j, with %s, is none', (text) => expect(isKeyId(text)).toBe(false));
});

describe('a key’s status', () => {
  const status = (revokedAtMs: number | null, expiresAtMs: number | null, nowMs = 1000) =>
    keyStatus({ revokedAtMs, expiresAtMs }, nowMs);

  test('is active without an end, and until the millisecond at which it expires', () => {
    expect(status(null, null)).toBe('active');
    expect(status(null, 1001)).toBe('active');
    expect(status(null, 1000)).toBe('expired');
    expect(status(null, 0)).toBe('expired');
  });

  test('is revoked from a revocation on, even if it would have expired since', () => {
    expect(status(999, null)).toBe('revoked');
    expect(status(999, 1000)).toBe('revoked');
    expect(status(0, 5000)).toBe('revoked');
  });
});
