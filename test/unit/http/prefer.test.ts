import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { asyncPreference } from '../../../shared/http/prefer.ts';

const preferenceOf = (values: string[], headers: [string, string[]][] = []) =>
  asyncPreference({ headers: new Map([['prefer', values], ...headers]) });
const prefersAsync = (values: string[]) => preferenceOf(values)?.applied === 'respond-async';

describe('a client prefers not to wait', () => {
  test.each([
    ['Respond-ASYNC'],
    [' \trespond-async\t '],
    ['wait=0', 'respond-async'],
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
    ['respond-async=no', 'respond-async'],
  ])('and not by %s', (...values) => expect(prefersAsync(values)).toBe(false));

  test('without the header', () => expect(asyncPreference({ headers: new Map() })).toBeNull());
});

describe('the seconds that a client waits', () => {
  test.each([
    ['wait=10', 10, 'wait=10'],
    ['return=minimal, WAIT = "60"; x=1', 60, 'wait=60'],
    ['wait=5, respond-async', 5, 'respond-async, wait=5'],
    ['wait=7, wait=8', 7, 'wait=7'],
  ])('%s', (sent, waitSeconds, applied) => {
    expect(preferenceOf([sent])).toEqual({ waitSeconds, applied });
    expect(preferenceOf(sent.split(','))).toEqual({ waitSeconds, applied });
  });

  test.each(['0', '61', '-1', '1.5', '1e1', '', '"', 'x=5', '10"', '"1\\0"'])('are not %s', (value) => {
    expect(preferenceOf([`wait=${value}`])).toBeNull();
    expect(preferenceOf([`wait=${value}, wait=5`])).toBeNull();
  });

  test('are none of a stream of events', () => {
    const accept: [string, string[]][] = [['accept', ['text/event-stream']]];
    expect(preferenceOf(['wait=5'], accept)).toBeNull();
    expect(preferenceOf(['wait=5, respond-async'], accept)).toEqual({
      waitSeconds: 0,
      applied: 'respond-async',
    });
  });
});

test('other preferences, whatever they say, change nothing', () => {
  const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,8}$/);
  const quoted = fc.string().map((text) => `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`);
  const word = fc.oneof(token, quoted);
  const name = token.filter((text) => !['respond-async', 'wait'].includes(text.toLowerCase()));
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
  expect(prefersAsync([`wait${blanks}=${blanks}"${blanks}`, 'respond-async'])).toBe(true);
});
