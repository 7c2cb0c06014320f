import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createGenerationBody } from '../../../shared/generations/contract.ts';
import { parseJson } from '../../../shared/http/json.ts';
import { refusalOf } from '../../support/unit-samples.ts';

/** A JSON value as it is written: members in their order, each as often as it stands there. */
type Written = string | Written[] | { members: [string, Written][] };

/**
 * Without backslashes: JSON.parse of Node 24 may take `"\""` for the name of a single backslash, if objects with that name
 * were read before. No body has a member with a backslash, so either is refused.
 */
const name = fc.oneof(
  fc.constantFrom('a', 'b', '__proto__', 'constructor', '1', '', ':', '"', '{"a":1}'),
  fc.string().filter((text) => !text.includes('\\')),
);
const { value: written } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      fc.json({ maxDepth: 0 }),
      fc.string().map((text) => JSON.stringify(text)),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.record({ members: fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }) }),
  ),
}));

function textOf(value: Written): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[ ${value.map(textOf).join(' ,')}]`;
  return `{${value.members.map(([key, of]) => `${JSON.stringify(key)} : ${textOf(of)}`).join(',\n')}}`;
}

function repeatsMember(value: Written): boolean {
  if (typeof value === 'string') return false;
  if (Array.isArray(value)) return value.some(repeatsMember);
  const names = value.members.map(([key]) => key);
  return new Set(names).size < names.length || value.members.some(([, of]) => repeatsMember(of));
}

describe('JSON', () => {
  test('is refused exactly if an object in it has a member twice, and else is what JSON.parse makes of it', () => {
    let repeated = 0;
    fc.assert(
      fc.property(written, (value) => {
        const text = textOf(value);
        if (repeatsMember(value)) {
          repeated += 1;
          expect(refusalOf(() => parseJson(text))).toMatchObject({ code: 'INVALID_BODY' });
        } else {
          expect(parseJson(text)).toEqual(JSON.parse(text));
        }
      }),
      { numRuns: 1000 },
    );
    expect(repeated).toBeGreaterThan(20);
  });

  test.each([
    ['in another spelling', '{"\\u0061":1,"a":2}'],
    ['before one that looks like two', '{"a":1,"a":"\\":\\""}'],
  ])('with a member twice %s is refused in words that say so', (_where, text) => {
    const { code, message } = refusalOf(() => parseJson(text));
    expect([code, message]).toEqual(['INVALID_BODY', expect.stringContaining('twice')]);
  });

  test.each([
    ['a byte order mark', '\ufeff{}'],
    ['what bytes that are no UTF-8 were replaced by', '{"a":"\ufffd"}'],
    ['the same outside of a string', '{}\ufffd'],
  ])('with %s is refused', (_what, text) => {
    const { code, message } = refusalOf(() => parseJson(text));
    expect([code, message]).toEqual(['INVALID_BODY', expect.stringContaining('UTF-8')]);
    expect(message.includes('send UTF-8, and that character as \\ufffd')).toBe(!text.startsWith('\ufeff'));
  });

  test('may escape the character that stands for lost bytes, and have a byte order mark in a text', () =>
    expect(parseJson('{"a":"\\ufffd\ufeff"}')).toEqual({ a: '\ufffd\ufeff' }));

  test('has 64 levels at most, of objects and lists together; brackets in its strings are none', () => {
    for (const [opens, closes] of [
      ['[', ']'],
      ['{"":', '}'],
      ['[1,[2],{"[{":', '}]'],
    ] as const) {
      const levels = closes.length;
      const nested = (depth: number) =>
        `${opens.repeat(depth / levels)}"[[{{\\"[{"${closes.repeat(depth / levels)}`;
      expect(parseJson(nested(64))).toEqual(JSON.parse(nested(64)));
      for (const depth of [64 + levels, 6000, 200_000]) {
        const { code, message } = refusalOf(() => parseJson(nested(depth)));
        expect([code, message]).toEqual(['INVALID_BODY', 'The body is nested more than 64 deep.']);
      }
    }
    expect(parseJson(`[${'[[1],{"a":[]}],'.repeat(500)}0]`)).toHaveLength(501);
  });

  test('has 100,000 values at most', () => {
    const [most, more] = [99_999, 100_000].map((elements) => `[${Array(elements).fill(0).join()}]`);
    expect(parseJson(most!)).toHaveLength(99_999);
    expect(refusalOf(() => parseJson(more!)).message).toBe('The body has more than 100,000 values.');
  });

  test('that is very long is read without recursion', () => {
    const many = 90_000;
    for (const text of [
      `[${'"\\"",'.repeat(many)}1e2]`,
      `["${'\\n'.repeat(many)}",${'1.0,'.repeat(many)}1]`,
      `[0.${'0'.repeat(many)}1,${'1'.repeat(many)}]`,
    ]) {
      expect(typeof parseJson(text)).toBe('object');
    }
  });

  test('never quotes what it could not read', () => {
    for (const text of ['{"secret', '["secret":1]', '{"secret":1,"secret":2}', '\ufffdsecret'])
      expect(refusalOf(() => parseJson(text)).message).not.toContain('secret');
  });
});

describe('a number', () => {
  const read = (literal: string) => (parseJson(`[${literal}]`) as [number])[0];

  test('may be written 3.0E+1', () => expect(read('3.0E+1')).toBe(30));

  const digits = fc.stringMatching(/^[0-9]{1,25}$/).map((text) => text.replace(/^0+(?=.)/, ''));
  const literals = fc
    .tuple(
      fc.constantFrom('', '-'),
      digits,
      fc.stringMatching(/^[0-9]{0,25}$/),
      fc.integer({ min: -400, max: 400 }),
    )
    .map(([sign, whole, fraction, exponent]) => ({
      literal: `${sign}${whole}${fraction && `.${fraction}`}${exponent === 0 ? '' : `e${exponent}`}`,
      isInteger: isInteger(BigInt(whole + fraction), fraction.length - exponent),
    }));

  function isInteger(all: bigint, decimalPlaces: number): boolean {
    return decimalPlaces <= 0 || all % 10n ** BigInt(decimalPlaces) === 0n;
  }

  test('that is no integer is never read as one: it is then larger than any field takes', () => {
    let rounded = 0;
    fc.assert(
      fc.property(literals, ({ literal, isInteger: exactly }) => {
        const usual = JSON.parse(literal) as number;
        const lost = Number.isInteger(usual) && !exactly;
        if (lost) rounded += 1;
        expect(read(literal)).toBe(lost ? Infinity : usual);
      }),
      { numRuns: 2000 },
    );
    expect(rounded).toBeGreaterThan(50);
  });

  test('that a field does not take is refused by its rule', () => {
    for (const [field, literal] of [
      ['seed', '1e-400'],
      ['guidanceScale', '20.00000000000000000001'],
      ['width', '512.00000000000000000001'],
    ]) {
      const { error } = createGenerationBody.safeParse(
        parseJson(`{"identityId":"x","prompt":"1e-400","${field}":${literal}}`),
      );
      expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
    }
  });

  test('in a text is left as it is, beside one that is not', () => {
    const body = parseJson('{"1e-400":"1e-400 \\" 1.00000000000000000001","a":1e-400}');
    expect(body).toEqual({ '1e-400': '1e-400 " 1.00000000000000000001', a: Infinity });
  });
});
