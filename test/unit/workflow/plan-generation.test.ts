import { describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/errors.ts';
import { planGeneration, type PlanInput } from '../../../shared/workflow/decide-generation.ts';
import { sampleIdentity, sampleLicense } from '../../support/unit-samples.ts';

const body = { identityId: 'idn_1', prompt: 'a lighthouse' };
const sound: PlanInput = {
  license: sampleLicense,
  body,
  identity: sampleIdentity,
  query: new Map(),
  idempotencyKeys: undefined,
};
const headerRule = 'Idempotency-Key must be 1 to 255 visible ASCII characters';
const wrongHeader = { idempotencyKeys: ['two words'] };
const planOf = (
  changes: Partial<PlanInput>,
  prepare: Parameters<typeof planGeneration>[1] = async () => {},
) => planGeneration({ ...sound, ...changes }, prepare);
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

describe('the first failure in the order of checks is told, in a sentence that says what to do', () => {
  const tooLarge = { ...body, width: 2048, height: 2048, numOutputs: 4 };
  const wrong = { ...tooLarge, prompt: 5 };

  const strangerTo = { identity: null, license: stranger };
  const list = 'GET /identities lists';

  test.each<[string, string, Partial<PlanInput>]>([
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
  ])('%s: %s', async (code, said, changes) => {
    const message = expect.stringContaining(said);
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
    await planOf({ body: withImages, identity }, async (items) => void seen.push(items));
    expect(seen).toEqual([withImages.referenceImages]);
  });

  test.each([
    ['a stranger to the identity', { license: stranger }],
    ['a wrong parameter', { body: { ...withImages, width: 1 } }],
    ['a wrong header', { ...wrongHeader }],
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
  const { message } = await refusal(planOf({ body: { ...body, width: 1 }, ...wrongHeader }));
  expect(message).toContain(`${headerRule}.`);
  expect(message).toContain('width must be');
});

test('an identity that is listed by the license is allowed without the founding catalog', async () => {
  const specialist = { ...sampleIdentity, catalog: 'specialist' as const };
  await planOf({ identity: specialist, license: { ...stranger, identityIds: ['idn_1'] } });
  expect((await refusal(planOf({ identity: specialist }))).code).toBe('IDENTITY_MISMATCH');
});

describe('the query and the header', () => {
  const queryOf = (...values: string[]) => ({ query: new Map([['dryRun', values]]) });

  test.each([
    ['dryRun=true', queryOf('true')],
    ['dryRun=false', queryOf('false')],
    ['one idempotency key', { idempotencyKeys: ['"a-key"'] }],
  ] as [string, Partial<PlanInput>][])('%s is right', async (_what, changes) => {
    await planOf(changes);
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
  ] as [string, Partial<PlanInput>, string][])('%s is wrong', async (_what, changes, message) => {
    expect(await refusal(planOf(changes))).toMatchObject({ code: 'INVALID_PARAMETERS', message });
  });
});
