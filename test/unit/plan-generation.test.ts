import { describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../shared/errors.ts';
import { planGeneration, type PlanInput } from '../../shared/workflow/plan-generation.ts';
import { sampleIdentity, sampleLicense } from '../support/unit-samples.ts';

const body = { identityId: 'idn_1', prompt: 'a lighthouse' };
const planOf = (changes: Partial<PlanInput>, prepare: () => Promise<void> = async () => {}) =>
  planGeneration(
    { license: sampleLicense, body, identity: sampleIdentity, problems: [], ...changes },
    prepare,
  );
const refusal = (planned: Promise<unknown>): Promise<ServiceError> =>
  planned.then(
    () => Promise.reject(new Error('it was planned')),
    (error: ServiceError) => error,
  );

const stranger = { ...sampleLicense, foundingCatalog: false };
const starter = { ...sampleLicense, tier: 'starter' as const };

test('a request that passes every check is planned with its defaults', async () => {
  expect(await planOf({})).toMatchObject({
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
  ] as [string, number, Partial<PlanInput>][])('%s, %i', async (code, status, changes) => {
    expect(await refusal(planOf(changes))).toMatchObject({ code, status });
  });
});

describe('a refusal is a sentence that says what to do', () => {
  test.each([
    [
      'MISSING_IDENTITY',
      'identityId is missing: send the ID of the identity to use.',
      { body: { prompt: 'p' }, identity: null },
    ],
    [
      'IDENTITY_NOT_FOUND',
      'No identity has this identityId. GET /identities lists those that you may use.',
      { identity: null },
    ],
    [
      'IDENTITY_MISMATCH',
      'This license does not cover Aurora Studio. GET /identities lists the identities that you may use.',
      { license: stranger },
    ],
    [
      'INVALID_PARAMETERS',
      'One is wrong. Another is wrong.',
      { problems: ['One is wrong', 'Another is wrong'] },
    ],
  ] as [string, string, Partial<PlanInput>][])('%s: %s', async (code, message, changes) => {
    expect(await refusal(planOf(changes))).toMatchObject({ code, message });
  });
});

describe('reference images', () => {
  const identity = { ...sampleIdentity, productPhotos: true };
  const withImages = { ...body, referenceImages: [{ url: 'https://a.example/' }] };
  const unusable = () => Promise.reject(new ServiceError('INVALID_PARAMETERS', 'referenceImages[0].url: no'));

  test('are looked at before the tier is: what is wrong with them is told first', async () => {
    const tooLarge = { ...withImages, width: 2048, height: 2048 };
    const refused = await refusal(planOf({ identity, body: tooLarge, license: starter }, unusable));
    expect(refused).toMatchObject({ code: 'INVALID_PARAMETERS', message: 'referenceImages[0].url: no' });
    const fine = await refusal(planOf({ identity, body: tooLarge, license: starter }));
    expect(fine.code).toBe('TIER_LIMIT');
  });

  test('are prepared as they were sent', async () => {
    const seen: unknown[] = [];
    const license = sampleLicense;
    const input = { license, body: withImages, identity, problems: [] };
    await planGeneration(input, async (items) => void seen.push(items));
    expect(seen).toEqual([withImages.referenceImages]);
  });

  test.each([
    ['a stranger to the identity', { license: stranger }],
    ['a wrong parameter', { body: { ...withImages, width: 1 } }],
    ['a wrong header', { problems: ['a header is wrong'] }],
    ['an identity that takes none', { identity: { ...identity, productPhotos: false } }],
  ] as [string, Partial<PlanInput>][])('are not fetched for %s', async (_who, changes) => {
    let fetched = 0;
    const prepare = async () => void (fetched += 1);
    await refusal(planOf({ identity, body: withImages, ...changes }, prepare));
    expect(fetched).toBe(0);
  });
});

describe('MISSING_IDENTITY is an identityId that is', () => {
  test.each([
    ['absent', {}],
    ['null', { identityId: null }],
    ['an empty text', { identityId: '' }],
  ])('%s', async (_what, { ...identityId }) => {
    const { code, message } = await refusal(planOf({ body: { prompt: 'p', ...identityId }, identity: null }));
    expect(code).toBe('MISSING_IDENTITY');
    expect(message).toContain('identityId');
  });

  test('not one that is given by a prototype', async () => {
    const forged = JSON.parse('{"prompt": "p", "__proto__": {"identityId": "idn_1"}}') as Record<
      string,
      unknown
    >;
    expect((await refusal(planOf({ body: forged }))).code).toBe('MISSING_IDENTITY');
  });
});

test('what is wrong beside the body is told together with what is wrong in it', async () => {
  const { message } = await refusal(
    planOf({ body: { ...body, width: 1 }, problems: ['Idempotency-Key must be short'] }),
  );
  expect(message).toContain('Idempotency-Key must be short.');
  expect(message).toContain('width must be');
});

test('an identity that is listed by the record is allowed without the founding catalog', async () => {
  const specialist = { ...sampleIdentity, catalog: 'specialist' as const };
  await planOf({ identity: specialist, license: { ...stranger, identityIds: ['idn_1'] } });
  expect((await refusal(planOf({ identity: specialist }))).code).toBe('IDENTITY_MISMATCH');
});
