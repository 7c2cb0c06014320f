import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createKeyBody } from '../../../shared/contracts/api-key.ts';
import { createGenerationBody } from '../../../shared/contracts/generation.ts';
import { createAccountUploadBody, createUploadBody } from '../../../shared/contracts/upload.ts';
import { idempotencyKeyRule, parseIdempotencyKey } from '../../../shared/domain/idempotency.ts';
import { readFilter } from '../../../shared/http/generation-filter.ts';
import { readLimit } from '../../../shared/http/paging.ts';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { anyId } from '../../support/unit-samples.ts';
import { fits } from './json-schema.ts';

const document = openApiDocument();
const { schemas, parameters } = document.components;

/** Values of every JSON type; members that are of none of the right ones meet them all. */
const anything = [null, true, false, 0, 1, -1, 1.5, '', 'x', [], {}, [null], { x: 1 }];
const numbers = [19, 20, 20.5, 50, 51, 0.99, 1, 1.01, 7.5, 20.01, 4294967295, 4294967296, 1e308];
const sizes = [448, 511, 512, 513, 576, 1024, 1056, 2048, 4096, 512.5, 64e6];
const spellings = (max: number) => [
  ' ',
  '\t\n',
  '\u2003\ufeff',
  '\u0085',
  '\u200b',
  ' a ',
  'a\u0000b',
  '\u0000',
  'line\nbreak\n',
  '😀',
  'a'.repeat(max),
  'a'.repeat(max + 1),
  '😀'.repeat(max),
  '😀'.repeat(max + 1),
  ' '.repeat(max),
];

/** Each is judged alike by the parser and by the pattern; what only the parser can tell has its own test. */
const urls = [
  'https://a.example/',
  'HTTPS://A.EXAMPLE',
  'https://a.example?q#f',
  'http://a.example/',
  'https:///x',
  'https:a.example',
  'https://user@a.example/',
  'https://a.example/a b',
  'https://a.example\\x',
  ' https://a.example/',
  'https://a.example/\n',
  `https://a.example/${'x'.repeat(2030)}`,
  `https://a.example/${'x'.repeat(2031)}`,
  'ftp://a.example/',
  'https://ä.example/ü',
];

const oneOf = (...values: unknown[]) => fc.constantFrom(...values, ...anything);
const item = fc.oneof(
  fc.record(
    { url: fc.constantFrom<unknown>(...urls), uploadId: fc.constantFrom<unknown>('upl_1') },
    { requiredKeys: [] },
  ),
  fc.record(
    { url: oneOf(...urls), uploadId: oneOf(...spellings(100)), more: fc.constant(1) },
    { requiredKeys: [] },
  ),
  fc.constantFrom<any>(...anything),
);
const good = { identityId: 'idn_1', prompt: 'a lighthouse' };
const seconds = [
  '2027-01-31T18:00:00Z',
  '2027-01-31T18:00:00.123456Z',
  '2028-02-29T00:00:00+14:00',
  '9999-12-31T23:59:59.999Z',
];
const noTimes = [
  '2027-02-29T00:00:00Z',
  '2027-01-31',
  '2027-01-31T18:00:00',
  '2027-01-31T24:00:00Z',
  '12027-01-31T18:00:00Z',
  '2027-01-31T18:00Z x',
];

const generationMembers = {
  identityId: oneOf('idn_1'),
  prompt: oneOf(...spellings(1000)),
  negativePrompt: oneOf(...spellings(500)),
  seed: oneOf(...numbers),
  numInferenceSteps: oneOf(...numbers),
  guidanceScale: oneOf(...numbers),
  numOutputs: oneOf(2, 4, 5, 100),
  width: oneOf(...sizes),
  height: oneOf(...sizes),
  outputFormat: oneOf('png', 'webp', 'jpeg', 'jpg', 'PNG'),
  referenceImages: fc.oneof(fc.array(item, { maxLength: 6 }), oneOf()),
  referenceMode: oneOf('reference', 'exact_product', 'Reference'),
  preserveBranding: oneOf(),
  stpes: oneOf(),
};

/** A good body with a few members changed, which is as often right as wrong. */
function bodies(base: object, members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<any> {
  const changed = fc
    .subarray(Object.keys(members), { maxLength: Math.min(3, Object.keys(members).length) })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, members[name]!]))));
  const body = fc.tuple(changed, fc.subarray(Object.keys(base)), fc.nat(9)).map(([changes, left, dice]) => {
    const sent: Record<string, unknown> = { ...base, ...changes };
    if (dice === 0) for (const name of left) delete sent[name];
    return sent;
  });
  return fc.oneof(
    { weight: 30, arbitrary: body },
    { weight: 1, arbitrary: fc.constantFrom<any>(...anything) },
  );
}

/** The rule that the domain adds, and that the document tells too. */
const keepsProduct = (body: any) =>
  body.referenceMode !== 'exact_product' || (body.referenceImages ?? []).length > 0;

interface Judged {
  name: string;
  base: object;
  members: Record<string, fc.Arbitrary<unknown>>;
  accepts(body: any): boolean;
}

const cases: Judged[] = [
  {
    name: 'GenerationRequest',
    base: good,
    members: generationMembers,
    accepts: (body) =>
      createGenerationBody.safeParse(body).success && body.identityId !== '' && keepsProduct(body),
  },
  {
    name: 'PlaygroundGenerationRequest',
    base: { ...good, licenseId: 'lic_1' },
    members: { ...generationMembers, licenseId: oneOf('lic_1') },
    accepts: (body) => {
      if (typeof body !== 'object' || body === null) return false;
      const { licenseId, ...rest } = body;
      const named = typeof licenseId === 'string' && licenseId !== '';
      return (
        named &&
        !Array.isArray(body) &&
        createGenerationBody.safeParse(rest).success &&
        body.identityId !== '' &&
        keepsProduct(body)
      );
    },
  },
  {
    name: 'CreateKeyRequest',
    base: { licenseId: 'lic_1', name: 'my app' },
    members: {
      licenseId: oneOf('lic_1'),
      name: oneOf(...spellings(64)),
      expiresAt: oneOf(...seconds, ...noTimes),
      more: oneOf(),
    },
    accepts: (body) => createKeyBody.safeParse(body).success && body.licenseId !== '',
  },
  {
    name: 'UploadByKeyRequest',
    base: {},
    members: {
      contentType: oneOf('image/png', 'image/jpeg', 'image/webp', 'image/gif', 'IMAGE/PNG'),
      licenseId: oneOf('lic_1'),
    },
    accepts: (body) => createUploadBody.safeParse(body).success,
  },
  {
    name: 'UploadBySessionRequest',
    base: { licenseId: 'lic_1' },
    members: {
      contentType: oneOf('image/png', 'image/webp', 'image/gif'),
      licenseId: oneOf('lic_1'),
      more: oneOf(),
    },
    accepts: (body) => createAccountUploadBody.safeParse(body).success && body.licenseId !== '',
  },
];

describe.each(cases)('$name', ({ name, base, members, accepts }) => {
  test('takes exactly the bodies that the service takes', () => {
    const judged = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(bodies(base, members), (body) => {
        const taken = accepts(body);
        judged[taken ? 'taken' : 'refused'] += 1;
        return fits(schemas[name], body, document) === taken;
      }),
      { numRuns: 1000 },
    );
    expect(Math.min(judged.taken, judged.refused)).toBeGreaterThan(50);
  });

  test('meets every value of every member by itself', () => {
    for (const [member, values] of Object.entries(members)) {
      const sent = fc.sample(values, 100).map((value) => ({ ...base, [member]: value }));
      const misjudged = sent.filter((body) => fits(schemas[name], body, document) !== accepts(body));
      expect([member, misjudged]).toEqual([member, []]);
    }
  });
});

test('what a schema can not tell is only ever refused by the service, never by the schema', () => {
  const hosts = [
    'https://localhost/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://a.example:8443/',
    'https://0x7f.1/',
  ];
  for (const url of hosts) {
    const body = { ...good, referenceImages: [{ url }] };
    expect([url, createGenerationBody.safeParse(body).success]).toEqual([url, false]);
    expect([url, fits(schemas.GenerationRequest, body, document)]).toEqual([url, true]);
  }
});

const parsed = (read: () => unknown) => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

describe('parameters take exactly what the service takes', () => {
  test('limit', () => {
    const texts = ['0', '1', '20', '100', '101', '-1', '1000', '99'];
    for (const text of texts) {
      expect([text, fits(parameters.limit.schema, Number(text), document)]).toEqual([
        text,
        parsed(() => readLimit(text)),
      ]);
    }
  });

  test('identityId, status and type', () => {
    const samples = {
      identityId: ['idn_1', '-a', '', 'a'.repeat(64), 'a'.repeat(65), 'a b'],
      status: ['QUEUED', 'queued', ''],
      type: ['reference', 'x'],
    };
    for (const [name, values] of Object.entries(samples)) {
      for (const value of values) {
        const taken = parsed(() => readFilter({ [name]: value }));
        expect([name, value, fits(parameters[name].schema, value, document)]).toEqual([name, value, taken]);
      }
    }
    fc.assert(fc.property(anyId, (id) => fits(parameters.identityId.schema, id, document)));
  });

  test('Idempotency-Key', () => {
    const { schema } = parameters.idempotencyKey;
    const quoted = fc.string({ maxLength: 8 }).map((text) => `"${text}"`);
    const keys = fc.oneof(
      fc.string(),
      quoted,
      fc.constantFrom(
        '""',
        '"',
        '"\\"',
        '"\\""',
        'a'.repeat(255),
        'a'.repeat(256),
        `"${'a'.repeat(255)}"`,
        `"${'a'.repeat(256)}"`,
      ),
    );
    fc.assert(
      fc.property(keys, (key) => {
        // White space around a header's value is not part of it (RFC 9110, 5.5).
        fc.pre(key.trim() === key);
        return fits(schema, key, document) === (parseIdempotencyKey(key) !== null);
      }),
      { numRuns: 3000 },
    );
    expect(idempotencyKeyRule).toContain('255');
  });
});
