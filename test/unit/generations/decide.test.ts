import { describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/base/errors.ts';
import { checkCommand, type UncheckedCommand } from '../../../shared/generations/decide.ts';
import { sampleIdentity, sampleLicense } from '../../support/unit-samples.ts';

const body = { identityId: 'idn_1', prompt: 'a lighthouse' };
const sound: UncheckedCommand = {
  license: sampleLicense,
  body,
  identity: sampleIdentity,
  query: new Map(),
  idempotencyKeys: undefined,
};
const headerRule = 'Idempotency-Key must be 1 to 255 visible ASCII characters';
const wrongHeader = { idempotencyKeys: ['two words'] };
const planOf = (changes: Partial<UncheckedCommand>) => checkCommand({ ...sound, ...changes });
const refusalOf = (changes: Partial<UncheckedCommand>): ServiceError => {
  try {
    planOf(changes);
  } catch (error) {
    return error as ServiceError;
  }
  throw new Error('it was planned');
};

const stranger = { ...sampleLicense, foundingCatalog: false };
const starter = { ...sampleLicense, tier: 'starter' as const };

test('a request that passes every check is planned with its defaults', () => {
  expect(planOf({})).toMatchObject({
    identity: sampleIdentity,
    body: { ...body, width: 1024, numOutputs: 1 },
  });
});

describe('the first failure in the order of checks is told, in a sentence that says what to do', () => {
  const tooLarge = { ...body, width: 2048, height: 2048, numOutputs: 4 };
  const wrong = { ...tooLarge, prompt: 5 };

  const strangerTo = { identity: null, license: stranger };
  const list = 'GET /identities lists';

  test.each<[string, string, Partial<UncheckedCommand>]>([
    ['MISSING_IDENTITY', 'send the ID of the identity to use.', { body: { prompt: 5, x: 1 }, ...strangerTo }],
    ['IDENTITY_NOT_FOUND', `No identity has this identityId. ${list} those`, { body: wrong, ...strangerTo }],
    [
      'IDENTITY_MISMATCH',
      `does not cover Aurora Studio. ${list} the identities`,
      { body: wrong, license: stranger },
    ],
    ['INVALID_PARAMETERS', 'prompt must be', { body: wrong, license: starter }],
    ['INVALID_PARAMETERS', `${headerRule}.`, { body: tooLarge, license: starter, ...wrongHeader }],
    [
      'INVALID_PARAMETERS',
      'referenceImages',
      { body: { ...tooLarge, referenceMode: 'exact_product' }, license: starter },
    ],
    ['TIER_LIMIT', 'numOutputs must be at most', { body: tooLarge, license: starter }],
  ])('%s: %s', (code, said, changes) => {
    const message = expect.stringContaining(said);
    expect(refusalOf(changes)).toMatchObject({ code, message });
  });
});

describe('MISSING_IDENTITY is an identityId that is', () => {
  test.each([
    ['absent', {}],
    ['null', { identityId: null }],
    ['an empty text', { identityId: '' }],
  ])('%s', (_what, { ...identityId }) => {
    const { code, message } = refusalOf({ body: { prompt: 'p', ...identityId }, identity: null });
    expect(code).toBe('MISSING_IDENTITY');
    expect(message).toContain('identityId');
  });

  test.each([5, false, ['idn_1'], {}])('not %j, which is refused beside what else is wrong', (identityId) => {
    const sent = { body: { identityId, prompt: 5 }, identity: null };
    const said = 'identityId must be the id of an identity; prompt must be';
    const message = expect.stringContaining(said);
    expect(refusalOf(sent)).toMatchObject({ code: 'INVALID_PARAMETERS', message });
  });

  test('not one that is given by a prototype', () => {
    const forged = JSON.parse('{"prompt": "p", "__proto__": {"identityId": "idn_1"}}') as Record<
      string,
      unknown
    >;
    expect(refusalOf({ body: forged }).code).toBe('MISSING_IDENTITY');
  });
});

test('rules between fields, and with the identity, are told beside what is wrong with each field', () => {
  const url = 'https://a.example/';
  const cases: [object, string][] = [
    [{ referenceMode: 'exact_product' }, 'referenceMode "exact_product" needs at least one item in'],
    [{ referenceMode: 'exact_product', referenceImages: null }, 'referenceMode "exact_product" needs'],
    [{ referenceImages: [{ url }] }, 'referenceImages must be left out: Aurora Studio does not take'],
  ];
  for (const [changes, said] of cases) {
    const refused = refusalOf({ body: { ...body, width: 1, x: 1, ...changes }, ...wrongHeader });
    expect(refused.code).toBe('INVALID_PARAMETERS');
    for (const part of [said, 'width must be', 'unknown member "x"', headerRule]) {
      expect(refused.message).toContain(part);
    }
  }
});

test('what is wrong beside the body is told together with what is wrong in it', () => {
  const { message } = refusalOf({ body: { ...body, width: 1 }, ...wrongHeader });
  expect(message).toContain(`${headerRule}.`);
  expect(message).toContain('width must be');
});

test('an identity that is listed by the license is allowed without the founding catalog', () => {
  const specialist = { ...sampleIdentity, catalog: 'specialist' as const };
  planOf({ identity: specialist, license: { ...stranger, identityIds: ['idn_1'] } });
  expect(refusalOf({ identity: specialist }).code).toBe('IDENTITY_MISMATCH');
});

describe('the query and the header', () => {
  const queryOf = (...values: string[]) => ({ query: new Map([['dryRun', values]]) });

  test.each([
    ['dryRun=true', queryOf('true')],
    ['dryRun=false', queryOf('false')],
    ['one idempotency key', { idempotencyKeys: ['"a-key"'] }],
  ] as [string, Partial<UncheckedCommand>][])('%s is right', (_what, changes) => {
    planOf(changes);
  });

  test.each([
    [
      'each of them',
      {
        ...wrongHeader,
        query: new Map([
          ['x', ['1']],
          ['dryRun', ['yes']],
        ]),
      },
      `unknown query parameter "x". dryRun must be true or false. ${headerRule}.`,
    ],
    ['dryRun without a value', queryOf(''), 'dryRun must be true or false.'],
    ['dryRun sent twice', queryOf('true', 'true'), 'dryRun must be sent once.'],
    ['two idempotency keys', { idempotencyKeys: ['a', 'b'] }, `${headerRule}.`],
    ['no idempotency key in the header', { idempotencyKeys: [] }, `${headerRule}.`],
  ] as [string, Partial<UncheckedCommand>, string][])('%s is wrong', (_what, changes, message) => {
    expect(refusalOf(changes)).toMatchObject({ code: 'INVALID_PARAMETERS', message });
  });
});
