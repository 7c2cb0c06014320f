import { describe, expect, test } from '@jest/globals';
import { fingerprintApiKey, newApiKey } from '../../../shared/keys/api-key.ts';
import * as values from '../../../bin/common/values.ts';

describe('times', () => {
  const parse = values.time('--anchor');

  test.each([
    ['2026-11-30', '2026-11-30T00:00:00.000Z'],
    ['2026-11-30T09:15Z', '2026-11-30T09:15:00.000Z'],
    ['2026-11-30T00:15:00+01:00', '2026-11-29T23:15:00.000Z'],
    ['2026-11-30T23:15:00-05:30', '2026-12-01T04:45:00.000Z'],
  ])('%s is read as %s', (text, iso) => {
    expect(new Date(parse(text)).toISOString()).toBe(iso);
  });

  const noDays = '2026-02-30 2025-02-29 2026-13-01 2026-11-00'.split(' ');
  const noTimesOfDay = '24:00:00Z 09:60Z 09:15:60Z 09:15:00+15:00 09:15:00+01:60 09Z 09:15:00'.split(' ');
  const otherForms = ['', 'tomorrow', '2026-1-1', '2026-11-30\n', '2026-11-30 09:15:00Z', '1969-12-31'];

  test.each([...noDays, ...noTimesOfDay.map((time) => `2026-11-30T${time}`), ...otherForms])(
    '%j is no time',
    (text) => expect(() => parse(text)).toThrow(/^--anchor must be a real date/),
  );

  test('a time that must be in the future may not be now or before', () => {
    const future = values.futureTime('--expires-at');
    expect(() => future(new Date().toISOString())).toThrow('--expires-at must be in the future');
    expect(future(new Date(Date.now() + 60_000).toISOString())).toBeGreaterThan(Date.now());
  });
});

/** Each reader of an option with what it must be given, and texts that it refuses. */
const refused: [(text: string) => unknown, string, string[]][] = [
  [
    values.wholeNumber(0, 1000)('--n'),
    '--n must be a whole number from 0 to 1000',
    ['-1', '1.0', '0x1', '1001'],
  ],
  [values.id('LICENSE'), 'LICENSE must be an id', ['', '../x', 'a b', '-x', 'a'.repeat(65)]],
  [
    values.account('A'),
    "A must be an account's Cognito sub",
    ['@', 'a@', '@b', 'a@b@c', 'a b@c', 'a\n@b', 'a/b'],
  ],
  [values.account('A'), 'or its e-mail address', [`${'a'.repeat(250)}@b.de`]],
  [values.requestId('R'), "R must be a request's id", ['nope', '019aa3c2-7b1e-4c55-9d0c-3b8f6f0e2a41']],
  [values.line(64)('--name'), '--name must be 1 to 64 characters', ['  ', 'a\nb', '\ud800', 'é'.repeat(65)]],
  [values.slug('--slug'), '--slug must be lower-case words', ['', 'Aurora', '-a', 'a--b', 'a'.repeat(65)]],
  [values.objectKey('--k'), '--k must be the key of an object', ['', 's3://b/key', '/key', 'k'.repeat(1025)]],
  [values.sha256('--s'), '--s must be a SHA-256', ['f'.repeat(63), 'g'.repeat(64), `${'f'.repeat(64)}\n`]],
  [
    values.jsonObject('--o'),
    '--o must be a JSON object',
    ['x', 'null', '[]', '{"a":1e999}', '{"a":9007199254740993}'],
  ],
  [values.oneOf(['core', 'all'])('--c'), '--c must be one of core, all, not "Core".', ['Core']],
];

test.each(refused.flatMap(([parse, said, texts]) => texts.map((text) => ({ parse, said, text }))))(
  '$said, not $text',
  ({ parse, said, text }) => expect(() => parse(text)).toThrow(said),
);

const settings = { strength: 0.8, layers: [1, null, { name: 'é' }], off: false };

test.each<[string, (text: string) => unknown, string, unknown]>([
  ['the least of a range', values.wholeNumber(0, 1000)('--n'), '0', 0],
  ['the most of a range', values.wholeNumber(0, 1000)('--n'), '1000', 1000],
  ['64 characters, as people count them', values.line(64)('--name'), '😀'.repeat(64), '😀'.repeat(64)],
  ['a SHA-256 in upper case', values.sha256('--s'), 'A0'.repeat(32), 'a0'.repeat(32)],
  ['settings', values.jsonObject('--settings'), JSON.stringify(settings), settings],
  ['one of a few words', values.oneOf(['core', 'all'])('--c'), 'all', 'all'],
  ['"never" as an end', values.timeOrNever('--active-until'), 'never', 'never'],
  ['a date as an end', values.timeOrNever('--active-until'), '2026-11-30', Date.UTC(2026, 10, 30)],
])('%s is taken', (_, parse, text, value) => {
  expect(parse(text)).toEqual(value);
});

test('repeated ids count once', () => {
  const collect = values.ids('--identity');
  expect(collect('b', collect('a', collect('b', undefined)))).toEqual(['b', 'a']);
});

test('a raw key in place of its id is answered with the id, and not repeated', () => {
  const rawKey = newApiKey();
  const { keyId } = fingerprintApiKey(rawKey);
  const given = () => values.keyId('KEY')(rawKey);
  expect(given).toThrow(keyId);
  expect(given).not.toThrow(rawKey);
  expect(values.keyId('KEY')(keyId)).toBe(keyId);
  expect(() => values.keyId('KEY')(keyId.toUpperCase())).toThrow("KEY must be a key's id");
});
