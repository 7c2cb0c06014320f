import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createGenerationBody } from '../../../shared/generations/contract.ts';
import { createAccountUploadBody, createUploadBody } from '../../../shared/images/contract.ts';
import { parseIdempotencyKey } from '../../../shared/generations/idempotency.ts';
import { readFilter } from '../../../shared/http/generation-filter.ts';
import { readLimit } from '../../../shared/http/paging.ts';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { fits } from './json-schema.ts';

// The tests of the contracts compare the values of each member. Here the service's own rules are added, but those that stand in words.
const document = openApiDocument();
const { schemas, parameters } = document.components;

/** A value of every JSON type. */
const anything = [null, true, false, 0, 1, -1, 1.5, '', 'x', [], {}, [null], { x: 1 }];
const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'IMAGE/PNG'];

interface Request {
  name: string;
  /** A body that is accepted. */
  base: object;
  /** Values of each member, right and wrong, beside those of every type. */
  members: Record<string, unknown[]>;
  accepts(body: any): boolean;
}

const requests: Request[] = [
  {
    name: 'PlaygroundGenerationRequest',
    base: { identityId: 'idn_1', prompt: 'a lighthouse', licenseId: 'lic_1' },
    members: Object.fromEntries(
      [...Object.keys(createGenerationBody.shape), 'licenseId', 'stpes'].map((name) => [name, []]),
    ),
    accepts: ({ licenseId, ...rest }) =>
      typeof licenseId === 'string' &&
      licenseId !== '' &&
      rest.identityId !== '' &&
      createGenerationBody.safeParse(rest).success,
  },
  {
    name: 'UploadRequest',
    base: {},
    members: { contentType: imageTypes, licenseId: ['lic_1'], more: [] },
    // By key or by session.
    accepts: (body) =>
      [createUploadBody, createAccountUploadBody].some((contract) => contract.safeParse(body).success),
  },
];

describe('the schema of a body accepts exactly what the service accepts', () => {
  test.each(requests)('$name', ({ name, base, members, accepts }) => {
    const bodies = Object.entries(members).flatMap(([member, values]) => [
      ...[...values, ...anything].map((value): object => ({ ...base, [member]: value })),
      Object.fromEntries(Object.entries(base).filter(([known]) => known !== member)),
    ]);
    const accepted = [base, ...bodies].filter((body) => {
      const isAccepted = accepts(body);
      expect([body, fits(schemas[name], body, document)]).toEqual([body, isAccepted]);
      return isAccepted;
    });
    expect(accepted.length).toBeGreaterThan(1);
    for (const value of anything.filter((each) => Object(each) !== each || Array.isArray(each))) {
      expect([value, fits(schemas[name], value, document)]).toEqual([value, false]);
    }
  });
});

describe('the schema of a parameter accepts exactly what the service accepts', () => {
  const accepts = (read: () => unknown): boolean => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  };
  const filter = (name: string) => (value: string) => void readFilter({ [name]: value });
  test.each<[name: string, values: string[], read: (value: string) => void]>([
    ['limit', ['0', '1', '20', '99', '100', '101', '-1', '1000'], readLimit],
    [
      'identityId',
      ['idn_1', '-a', '_a', '', 'a'.repeat(64), 'a'.repeat(65), 'a b', 'é'],
      filter('identityId'),
    ],
    ['status', ['QUEUED', 'TIMEOUT', 'queued', ''], filter('status')],
    ['type', ['reference', 'text_to_image', 'x', ''], filter('type')],
    ['callerKeyId', ['playground', `key_${'0'.repeat(32)}`, 'key_1', ''], filter('keyId')],
    [
      'search',
      ['fog', ' fog ', '\u00a0', ' \n', '', 'a\0', '\0', '\u{1f4d2}'.repeat(200), 'x'.repeat(201)],
      filter('search'),
    ],
  ])('%s', (name, values, read) => {
    const { schema } = parameters[`${name}Parameter`];
    for (const value of values) {
      const sent = schema.type === 'integer' ? Number(value) : value;
      expect([value, fits(schema, sent, document)]).toEqual([value, accepts(() => read(value))]);
    }
  });

  test('Idempotency-Key', () => {
    const lengths = [255, 256].map((length) => 'a'.repeat(length));
    const edges = ['""', '"', '"\\"', '"\\""', '"\\a"', ...lengths, ...lengths.map((text) => `"${text}"`)];
    const keys = fc.oneof(
      fc.string(),
      fc.string({ maxLength: 8 }).map((text) => `"${text}"`),
    );
    const { schema } = parameters.idempotencyKeyParameter;
    const agree = (key: string) =>
      expect([key, fits(schema, key, document)]).toEqual([key, parseIdempotencyKey(key) !== null]);
    edges.forEach(agree);
    // White space around a header's value is not part of it (RFC 9110, 5.5).
    fc.assert(
      fc.property(keys, (key) => agree(key.trim())),
      { numRuns: 1000 },
    );
  });
});
