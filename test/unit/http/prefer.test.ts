import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { prefersAsync } from '../../../shared/http/prefer.ts';

describe('a client prefers not to wait', () => {
  test.each([
    ['respond-async'],
    ['Respond-ASYNC'],
    [' \trespond-async\t '],
    ['wait=10,respond-async'],
    ['wait=10', 'respond-async'],
    ['return=minimal; foo="some, parameter", respond-async'],
    ['respond-async; wait="a, b"; strict'],
    ['respond-async=""'],
    [',, respond-async,,'],
    [String.raw`note="a \" quote", respond-async`],
    [String.raw`note="a \\", respond-async`],
  ])('by %s %s', (...values) => expect(prefersAsync(values)).toBe(true));

  test.each([
    [],
    ['respond-asynchronously'],
    ['respond-async=false'],
    ['respond async'],
    ['foo; respond-async'],
    ['note="x, respond-async, y"'],
    [String.raw`note="a \", respond-async"`],
    ['note="never closed, respond-async'],
    ['"respond-async"'],
    ['respond-async\u00a0'],
  ])('and not by %s', (...values) => expect(prefersAsync(values)).toBe(false));

  test('without the header', () => expect(prefersAsync()).toBe(false));
});

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,8}$/);
const quoted = fc.string().map((text) => `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`);
const word = fc.oneof(token, quoted);
const other = fc
  .tuple(
    token.filter((name) => name.toLowerCase() !== 'respond-async'),
    fc.option(word),
    fc.array(fc.tuple(token, word)),
  )
  .map(([name, value, parameters]) =>
    [value === null ? name : `${name}=${value}`, ...parameters.map((pair) => pair.join('='))].join('; '),
  );

test('other preferences, whatever they say, change nothing', () => {
  fc.assert(
    fc.property(fc.array(other), fc.array(other), (before, after) => {
      expect(prefersAsync([[...before, ...after].join(', ')])).toBe(false);
      expect(prefersAsync([[...before, 'respond-async', ...after].join(', ')])).toBe(true);
      expect(prefersAsync([...before, 'respond-async', ...after])).toBe(true);
    }),
  );
});

test.each([' ', '\t', '\t '])('a million blanks of %j are read at once', (blank) => {
  const blanks = blank.repeat(1_000_000);
  expect(prefersAsync([`respond-async${blanks}x`])).toBe(false);
  expect(prefersAsync([`x${blanks}y,${blanks}respond-async${blanks}`])).toBe(true);
  expect(prefersAsync([`respond-async${blanks}=${blanks}`, blanks])).toBe(true);
});
