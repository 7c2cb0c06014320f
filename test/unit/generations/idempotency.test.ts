import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  bodyFingerprint,
  idempotencyHours,
  parseIdempotencyKey,
  readIdempotencyKey,
} from '../../../shared/generations/idempotency.ts';
import { anyCharacter } from '../../support/any-character.ts';

const visible = Array.from({ length: 0x7e - 0x21 + 1 }, (_, i) => String.fromCharCode(0x21 + i));
const quote = (key: string) => `"${key.replace(/["\\]/g, (character) => `\\${character}`)}"`;

/** White space of the header around a key does not count, nor do the quotes of the IETF draft. */
describe('a key is 1 to 255 visible ASCII characters', () => {
  test.each([
    ['every visible character', visible.join(''), visible.join('')],
    ['255 characters', 'k'.repeat(255), 'k'.repeat(255)],
    ['with white space around it', ' \tabc \t', 'abc'],
    ['in quotes, with white space around them', ' "abc" ', 'abc'],
    ['an escaped backslash before an escaped quote', '"a\\\\\\"b"', 'a\\"b'],
    ['255 quotes, each escaped', quote('"'.repeat(255)), '"'.repeat(255)],
    ['a quoted text and more, of which the quotes are part', '"a"b', '"a"b'],
    ['a text and a quoted one, of which the quotes are part', 'a"b"', 'a"b"'],
    ['an opening quote alone', '"a', '"a'],
    ['a closing quote alone', 'a"', 'a"'],
  ])('%s', (_what, header, key) => expect(parseIdempotencyKey(header)).toBe(key));

  test.each([
    ['nothing', ''],
    ['only spaces', '   '],
    ['256 characters', 'k'.repeat(256)],
    ['a space inside', 'a b'],
    ['a line break and more', 'a\r\nx: y'],
    ['a NUL', 'a\0b'],
    ['a delete character', 'a\x7fb'],
    ['a letter beyond ASCII', 'clé'],
    ['a lone surrogate', 'a\ud800'],
    ['a no-break space before', '\u00a0abc'],
    ['a no-break space after', 'abc\u00a0'],
    ['nothing between the quotes', '""'],
    ['256 characters between the quotes', quote('k'.repeat(256))],
    ['256 quotes, each escaped', quote('"'.repeat(256))],
    ['a space between the quotes', '"a b"'],
    ['a control character between the quotes', '"a\x01b"'],
  ])('%s is none', (_what, header) => expect(parseIdempotencyKey(header)).toBeNull());
});

test('a header is one key: sent once, and valid', () => {
  expect(readIdempotencyKey(['"abc"'])).toBe('abc');
  for (const sent of [undefined, [], ['a', 'a'], ['a b']]) expect(readIdempotencyKey(sent)).toBeNull();
});

test('quoted and bare mean the same key, for every key', () => {
  const key = fc
    .string({ unit: fc.constantFrom(...visible), minLength: 1, maxLength: 255 })
    .filter((text) => !text.startsWith('"'));
  fc.assert(
    fc.property(key, (text) => {
      expect(parseIdempotencyKey(text)).toBe(text);
      expect(parseIdempotencyKey(quote(text))).toBe(text);
    }),
  );
});

test('whatever is sent, the outcome is a right key or none', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (header) => {
      expect(parseIdempotencyKey(header) ?? 'none').toMatch(/^[!-~]{1,255}$/);
    }),
  );
});

test('a header of a million characters is read without backtracking, which would take longer than a test may', () => {
  expect(parseIdempotencyKey(`"${'\\'.repeat(1_000_000)}`)).toBeNull();
  expect(parseIdempotencyKey(`"${'\\"'.repeat(500_000)}`)).toBeNull();
  for (const blank of [' ', '\t', ' \t']) {
    const blanks = blank.repeat(1_000_000);
    expect(parseIdempotencyKey(`a${blanks}b`)).toBeNull();
    expect(parseIdempotencyKey(`${blanks}a${blanks}`)).toBe('a');
  }
});

test('a key is kept for 24 hours', () => expect(idempotencyHours).toBe(24));

test('a body is compared byte for byte, by its SHA-256', () => {
  expect(bodyFingerprint('{"a":1}')).toBe(createHash('sha256').update('{"a":1}').digest('hex'));
  expect(bodyFingerprint('{"a":1}')).not.toBe(bodyFingerprint('{ "a":1}'));
  expect(bodyFingerprint('é')).toBe(bodyFingerprint(Buffer.from('é')));
});
