import { describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/base/errors.ts';
import { checkCommand, type UncheckedCommand } from '../../../shared/generations/check-command.ts';
import { refusalOf, sampleIdentity, sampleLicense } from '../../support/unit-samples.ts';

const body = { identityId: 'idn_1', prompt: 'a lighthouse' };
const sound: UncheckedCommand = {
  license: sampleLicense,
  body,
  identity: sampleIdentity,
  pinned: null,
  query: new Map(),
  idempotencyKeys: undefined,
};
const headerRule = 'Idempotency-Key must be 1 to 255 visible ASCII characters';
const wrongHeader = { idempotencyKeys: ['two words'] };
const refusal = (changes: Partial<UncheckedCommand>): ServiceError =>
  refusalOf(() => checkCommand({ ...sound, ...changes }, 0));

const stranger = { ...sampleLicense, foundingCatalog: false };
const starter = { ...sampleLicense, tier: 'starter' as const };

describe('the first failure in the order of checks is named, in a sentence that says what to do', () => {
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
    expect(refusal(changes)).toMatchObject({ code, message });
  });
});

describe('an identityId', () => {
  test.each([
    ['absent', '{}'],
    ['null', '{"identityId": null}'],
    ['an empty text', '{"identityId": ""}'],
    ['given by a prototype', '{"__proto__": {"identityId": "idn_1"}}'],
  ])('that is %s is MISSING_IDENTITY', (_what, json) => {
    const message = expect.stringContaining('identityId');
    const sent = { body: { prompt: 'p', ...JSON.parse(json) }, identity: null };
    expect(refusal(sent)).toMatchObject({ code: 'MISSING_IDENTITY', message });
  });

  test.each([5, ['idn_1']])('that is %j is refused beside what else is wrong', (identityId) => {
    const sent = { body: { identityId, prompt: 5 }, identity: null };
    const message = expect.stringContaining(
      'identityId must be the id or the slug of an identity; prompt must be',
    );
    expect(refusal(sent)).toMatchObject({ code: 'INVALID_PARAMETERS', message });
  });
});

test('rules between fields, and with the identity, are named beside what is wrong with each field and with the header', () => {
  const url = 'https://a.example/';
  const cases: [object, string][] = [
    [{ referenceMode: 'exact_product' }, 'referenceMode "exact_product" needs at least one item in'],
    [{ referenceMode: 'exact_product', referenceImages: null }, 'referenceMode "exact_product" needs'],
    [{ referenceImages: [{ url }] }, 'referenceImages must be left out: Aurora Studio does not take'],
  ];
  for (const [changes, said] of cases) {
    const refused = refusal({ body: { ...body, width: 1, x: 1, ...changes }, ...wrongHeader });
    expect(refused.code).toBe('INVALID_PARAMETERS');
    for (const part of [said, 'width must be', 'unknown member "x"', headerRule]) {
      expect(refused.message).toContain(part);
    }
  }
});

describe('the query and the header', () => {
  const queryOf = (...values: string[]) => ({ query: new Map([['dryRun', values]]) });

  test.each([
    ['dryRun=true', queryOf('true')],
    ['dryRun=false', queryOf('false')],
    ['one idempotency key', { idempotencyKeys: ['"a-key"'] }],
  ] as [string, Partial<UncheckedCommand>][])('%s is right', (_what, changes) => {
    checkCommand({ ...sound, ...changes }, 0);
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
    ['a part of another format', { bodyProblem: 'mask must be left out.' }, 'mask must be left out.'],
  ] as [string, Partial<UncheckedCommand>, string][])('%s is wrong', (_what, changes, message) => {
    expect(refusal(changes)).toMatchObject({ code: 'INVALID_PARAMETERS', message });
  });
});
