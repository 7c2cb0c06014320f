import { describe, expect, test } from '@jest/globals';
import { planGeneration, type PlanInput } from '../../shared/workflow/plan-generation.ts';
import { refusalOf, sampleIdentity, sampleLicense } from '../support/unit-samples.ts';

const body = { identityId: 'idn_1', prompt: 'a lighthouse' };
const planOf = (changes: Partial<PlanInput>) =>
  planGeneration({ license: sampleLicense, body, identity: sampleIdentity, problems: [], ...changes });

const stranger = { ...sampleLicense, foundingCatalog: false };
const starter = { ...sampleLicense, tier: 'starter' as const };

test('a request that passes every check is planned with its defaults', () => {
  expect(planOf({})).toMatchObject({
    identity: sampleIdentity,
    body: { ...body, width: 1024, numOutputs: 1 },
  });
});

describe('the first failure in the order of the decisions is told', () => {
  const tooLarge = { width: 2048, height: 2048, numOutputs: 4 };

  test.each([
    ['MISSING_IDENTITY', 400, { body: { prompt: 5, x: 1 }, identity: null, license: stranger }],
    ['IDENTITY_NOT_FOUND', 404, { body: { ...body, prompt: 5 }, identity: null, license: stranger }],
    ['IDENTITY_MISMATCH', 401, { body: { ...body, prompt: 5, ...tooLarge }, license: stranger }],
    ['INVALID_PARAMETERS', 400, { body: { ...body, prompt: 5, ...tooLarge }, license: starter }],
    [
      'INVALID_PARAMETERS',
      400,
      { body: { ...body, ...tooLarge }, license: starter, problems: ['a header is wrong'] },
    ],
    [
      'INVALID_PARAMETERS',
      400,
      { body: { ...body, ...tooLarge, referenceMode: 'exact_product' }, license: starter },
    ],
    ['TIER_LIMIT', 400, { body: { ...body, ...tooLarge }, license: starter }],
  ] as [string, number, Partial<PlanInput>][])('%s, %i', (code, status, changes) => {
    expect(refusalOf(() => planOf(changes))).toMatchObject({ code, status });
  });
});

describe('MISSING_IDENTITY is an identityId that is', () => {
  test.each([
    ['absent', {}],
    ['null', { identityId: null }],
    ['an empty text', { identityId: '' }],
  ])('%s', (_what, { ...identityId }) => {
    const { code, message } = refusalOf(() =>
      planOf({ body: { prompt: 'p', ...identityId }, identity: null }),
    );
    expect(code).toBe('MISSING_IDENTITY');
    expect(message).toContain('identityId');
  });

  test('not one that is given by a prototype', () => {
    const forged = JSON.parse('{"prompt": "p", "__proto__": {"identityId": "idn_1"}}') as Record<
      string,
      unknown
    >;
    expect(refusalOf(() => planOf({ body: forged })).code).toBe('MISSING_IDENTITY');
  });
});

test('what is wrong beside the body is told together with what is wrong in it', () => {
  const { message } = refusalOf(() =>
    planOf({ body: { ...body, width: 1 }, problems: ['Idempotency-Key must be short'] }),
  );
  expect(message).toContain('Idempotency-Key must be short.');
  expect(message).toContain('width must be');
});

test('an identity that is listed by the record is allowed without the founding catalog', () => {
  const specialist = { ...sampleIdentity, catalog: 'specialist' as const };
  expect(() =>
    planOf({ identity: specialist, license: { ...stranger, identityIds: ['idn_1'] } }),
  ).not.toThrow();
  expect(refusalOf(() => planOf({ identity: specialist })).code).toBe('IDENTITY_MISMATCH');
});
