import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { prefersAsync } from '../../../shared/http/prefer.ts';

describe('a client prefers not to wait', () => {
  test.each([
    ['Respond-ASYNC'],
    [' \trespond-async\t '],
    ['wait=10', 'respond-async'],
    ['return=minimal; foo="some, parameter", respond-async'],
    ['respond-async=""'],
    [',, respond-async,,'],
    [String.raw`note="a \\", respond-async`],
  ])('by %s %s', (...values) => expect(prefersAsync(values)).toBe(true));

  test.each([
    ['respond-asynchronously'],
    ['respond-async=false'],
    ['respond async'],
    ['foo; respond-async'],
    [String.raw`note="a \", respond-async"`],
    ['note="never closed, respond-async'],
    ['"respond-async"'],
    ['respond-async\u00a0'],
  ])('and not by %s', (...values) => expect(prefersAsync(values)).toBe(false));

  test('without the header', () => expect(prefersAsync()).toBe(false));
});

test('other preferences, whatever they say, change nothing', () => {
  const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,8}$/);
  const quoted = fc.string().map((text) => `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`);
  const word = fc.oneof(token, quoted);
  const name = token.filter((text) => text.toLowerCase() !== 'respond-async');
  const other = fc
    .tuple(name, fc.option(word), fc.array(fc.tuple(token, word)))
    .map(([first, value, parameters]) =>
      [value === null ? first : `${first}=${value}`, ...parameters.map((pair) => pair.join('='))].join('; '),
    );
  fc.assert(
    fc.property(fc.array(other), fc.array(other), (before, after) => {
      expect(prefersAsync([[...before, ...after].join(', ')])).toBe(false);
      expect(prefersAsync([[...before, 'respond-async', ...after].join(', ')])).toBe(true);
      expect(prefersAsync([...before, 'respond-async', ...after])).toBe(true);
    }),
  );
});

test('a million blanks are read at once', () => {
  const blanks = ' \t'.repeat(500_000);
  expect(prefersAsync([`respond-async${blanks}x`])).toBe(false);
  expect(prefersAsync([`x${blanks}y,${blanks}respond-async${blanks}`])).toBe(true);
  expect(prefersAsync([`respond-async${blanks}=${blanks}`, blanks])).toBe(true);
});
