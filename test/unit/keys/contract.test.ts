import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createKeyBody } from '../../../shared/keys/contract.ts';
import { describeIssues } from '../../../shared/base/fields.ts';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { anyInstantMs, inheritedNames } from '../../support/unit-samples.ts';
import { fits } from '../openapi/json-schema.ts';

const valid = { licenseId: 'lic_1', name: 'build server' };

const document = openApiDocument();

/** What a body is refused with; null when it is taken. The OpenAPI document agrees, but on halves of surrogate pairs. */
function refusal(body: unknown): string | null {
  const result = createKeyBody.safeParse(body);
  const hasHalfPair = JSON.stringify(body).includes('\\ud8');
  const fitting = fits(document.components.schemas.CreateKeyRequest, body, document);
  expect({ body, fitting }).toEqual({ body, fitting: result.success || hasHalfPair });
  return result.success ? null : describeIssues(result.error.issues);
}

describe('the name of a key', () => {
  test.each([
    ['64 characters beyond the basic plane', '🙂'.repeat(64)],
    ['any script, quotes and tags, as they are', `<b>"Ключ" & 鍵's</b>`],
  ])('may be %s', (_, name) => {
    expect(createKeyBody.parse({ ...valid, name }).name).toBe(name);
  });

  test.each([
    ['nothing', ''],
    ['only white space', ' \t\u00a0\u2003'],
    ['65 characters beyond the basic plane', '🙂'.repeat(65)],
    ['a text with a NUL', 'a\0b'],
    ['a text with a lone surrogate', 'a\ud800'],
    ['left out', undefined],
  ])('may not be %s', (_, name) => {
    expect(refusal({ ...valid, name })).toMatch(/^name must .+\.$/);
  });
});

describe('the end of a key', () => {
  test.each([undefined, null])('may be %s: the key does not expire', (expiresAt) => {
    expect(createKeyBody.parse({ ...valid, expiresAt }).expiresAt).toBeUndefined();
  });

  test.each(['2027-01-31T18:00:00Z', '2027-01-31T18:00:00+05:45', '2028-02-29T00:00:00-23:59'])(
    'may be %s',
    (expiresAt) => expect(refusal({ ...valid, expiresAt })).toBeNull(),
  );

  test.each([
    ['a day', '2027-01-31'],
    ['a time without a zone', '2027-01-31T18:00:00'],
    ['a zone of 24 hours', '2027-01-31T18:00:00+24:00'],
    ['a day that is not there', '2027-02-29T00:00:00Z'],
    ['an hour 24', '2027-01-31T24:00:00Z'],
    ['a leap second', '2027-01-31T23:59:60Z'],
    ['a year of six digits', '+012027-01-31T18:00:00Z'],
    ['small letters', '2027-01-31t18:00:00z'],
    ['a line break behind it', '2027-01-31T18:00:00Z\n'],
    ['milliseconds', 1801418400000],
  ])('may not be %s', (_, expiresAt) => {
    expect(refusal({ ...valid, expiresAt })).toMatch(
      /^expiresAt must be an ISO 8601 time with its zone.*\.$/,
    );
  });

  test('is an instant whenever it is taken', () => {
    const digits = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length });
    const near = fc.tuple(anyInstantMs, fc.nat({ max: 24 }), digits(0)).map(([ms, at, text]) => {
      const iso = new Date(ms).toISOString();
      return iso.slice(0, at) + text + iso.slice(at + text.length);
    });
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (expiresAt) => {
        if (refusal({ ...valid, expiresAt }) === null) expect(Date.parse(expiresAt)).not.toBeNaN();
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the rest of the body', () => {
  test('names everything that is wrong in one sentence, each field once', () => {
    const sentence = refusal({ licenseId: 1, name: '', expiresAt: 'soon', scope: 'all', 'key\n': 1 })!;
    for (const part of ['licenseId must', 'name must', 'expiresAt must', '"scope"', '"key?"']) {
      expect(sentence.split(part)).toHaveLength(2);
    }
  });

  test.each([...inheritedNames, '__proto__', 'ownerId', 'Name'])(
    'the member %s is refused by name',
    (name) => {
      const body = JSON.parse(`{"licenseId":"lic_1","name":"x","${name}":"y"}`) as unknown;
      expect(refusal(body)).toBe(`unknown member "${name}".`);
    },
  );
});
