import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { codePoints, describeIssues, isCleanText, quoteName } from '../../../shared/base/fields.ts';
import { anyCharacter } from '../../support/any-character.ts';

const unknown = (keys: string[], path: PropertyKey[] = []) =>
  Object.assign({ code: 'unrecognized_keys' }, { path, keys, message: '' });

describe('a name from outside', () => {
  test.each([
    ['a name with a space', 'my field', '"my field"'],
    ['an escape sequence of a terminal', '\x1b[31mred', '"?[31mred"'],
    ['a quote', 'a"b', '"a?b"'],
    ['a backslash', 'a\\b', '"a?b"'],
    ['a letter beyond ASCII', 'clé', '"cl?"'],
  ])('%s is shown safely', (_what, name, shown) => expect(quoteName(name)).toBe(shown));

  test('is shown in quotes, in printable ASCII, and at most 40 characters of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), (name) => {
        expect(quoteName(name)).toMatch(/^"[ !#-[\]-~]*"$/);
        // A character beyond the basic plane may become two marks.
        expect(quoteName(name).length).toBeLessThanOrEqual(2 * 40 + 2);
      }),
    );
    expect(quoteName('a'.repeat(1_000_000))).toBe(`"${'a'.repeat(40)}"`);
  });
});

describe('the sentence about what is wrong', () => {
  test('names each field once, with its first problem', () => {
    const message = describeIssues([
      { path: ['width'], message: 'must be a multiple of 64' },
      { path: ['seed'], message: 'must be an integer' },
      { path: ['width'], message: 'must be at least 512' },
    ]);
    expect(message).toBe('width must be a multiple of 64; seed must be an integer.');
  });

  test.each([
    [
      'writes places as a program would',
      [{ path: ['referenceImages', 2, 'url'], message: 'must be https' }],
      'referenceImages[2].url must be https.',
    ],
    ['calls the whole body so', [{ path: [], message: 'must be an object' }], 'The body must be an object.'],
    ['names unknown members', [unknown(['x', 'y'])], 'unknown member "x"; unknown member "y".'],
    [
      'says where unknown members are',
      [unknown(['x'], ['referenceImages', 0])],
      'unknown member "x" in referenceImages[0].',
    ],
  ])('%s', (_what, issues, sentence) => expect(describeIssues(issues)).toBe(sentence));

  test('names twenty problems and says that there are more', () => {
    const issues = Array.from({ length: 25 }, (_, i) => ({ path: [`field${i}`], message: 'is wrong' }));
    const message = describeIssues(issues);
    expect(message).toContain('field19 is wrong');
    expect(message).not.toContain('field20');
    expect(message).toMatch(/; and more\.$/);
  });

  test('says so too when unknown members are more than it names', () => {
    const message = describeIssues([unknown(Array.from({ length: 11 }, (_, i) => `x${i}`))]);
    expect(message.includes('"x10"') || message.includes('more')).toBe(true);
  });

  test('stays short and printable, whatever the names of unknown members are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: anyCharacter, maxLength: 200 }), { minLength: 1, maxLength: 50 }),
        (keys) => {
          const message = describeIssues([unknown(keys)]);
          expect(message).toMatch(/^[ -~]+\.$/);
          expect(message.length).toBeLessThan(3000);
        },
      ),
    );
  });
});

test('code points are what a text is iterated by: a pair of surrogates is one', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) =>
      expect(codePoints(text)).toBe(Array.from(text).length),
    ),
  );
  expect(codePoints('a😀\ud800')).toBe(3);
});

test('clean text is what UTF-8 can carry unchanged, without NUL', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }), (units) => {
      const text = String.fromCharCode(...units);
      expect(isCleanText(text)).toBe(Buffer.from(text).toString() === text && !units.includes(0));
    }),
  );
});
