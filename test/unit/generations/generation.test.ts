import { describe, expect, test } from '@jest/globals';
import type { CreateGenerationBody } from '../../../shared/generations/contract.ts';
import {
  creditsCharged,
  isFinal,
  newGeneration,
  processingTimeMs,
  randomSeed,
  referenceProblems,
} from '../../../shared/generations/generation.ts';
import { sampleBody, sampleIdentity } from '../../support/unit-samples.ts';

const nowMs = Date.UTC(2026, 0, 1);
const withPhotos = { ...sampleIdentity, productPhotos: true };
const reference = { url: 'https://example.com/mug.png' };

function generationOf(changes: Partial<CreateGenerationBody> = {}) {
  return newGeneration({
    requestId: '01890a5d-ac96-774b-bcce-b302099a8057',
    licenseId: 'lic_1',
    keyId: 'key_1',
    identity: sampleIdentity,
    body: { ...sampleBody, ...changes },
    periodStartMs: nowMs - 1000,
    creditsLimit: 100,
    nowMs,
    deadlineSeconds: 120,
    retentionDays: 90,
    idempotencyKeyHash: null,
  });
}

describe('reference images', () => {
  test('are refused by an identity without product photos, naming referenceImages and the identity', () => {
    const problems = referenceProblems({ ...sampleBody, referenceImages: [reference] }, sampleIdentity);
    expect(problems).toEqual([expect.stringMatching(/referenceImages.*Aurora Studio/)]);
  });

  test.each(['reference', 'exact_product'] as const)(
    'are taken by an identity with product photos as %s',
    (mode) => {
      const referenceImages = [reference, { uploadId: 'upl_1' }];
      const body = { ...sampleBody, referenceImages, referenceMode: mode };
      expect(referenceProblems(body, withPhotos)).toEqual([]);
    },
  );

  test.each([sampleIdentity, withPhotos])('may be left out (product photos $productPhotos)', (identity) => {
    for (const referenceImages of [undefined, null, []]) {
      expect(referenceProblems({ ...sampleBody, referenceImages }, identity)).toEqual([]);
      const other = { ...sampleBody, referenceImages, preserveBranding: true };
      expect(referenceProblems(other, identity)).toEqual([]);
    }
  });
});

describe('referenceMode exact_product', () => {
  test.each([sampleIdentity, withPhotos])(
    'without a reference image is refused, naming referenceMode (product photos $productPhotos)',
    (identity) => {
      for (const referenceImages of [undefined, null, []]) {
        const body = { ...sampleBody, referenceImages, referenceMode: 'exact_product' };
        expect(referenceProblems(body, identity)).toEqual([
          expect.stringMatching(/referenceMode.*referenceImages/),
        ]);
      }
    },
  );
});

describe('a new generation', () => {
  test('is QUEUED, holds its credits, and has neither begun nor ended', () => {
    expect(generationOf({ width: 2048, height: 2048, numOutputs: 4 })).toMatchObject({
      status: 'QUEUED',
      credits: 16,
      startedAtMs: null,
      completedAtMs: null,
      errorMessage: null,
      errorCode: null,
      referenceImagesUsed: 0,
      createdAtMs: nowMs,
      periodStartMs: nowMs - 1000,
    });
  });

  test('has its deadline, a lease that ends after it, and 90 days to be kept', () => {
    const generation = generationOf();
    expect(generation.deadlineMs).toBe(nowMs + 120_000);
    expect(generation.leaseUntilMs).toBe(nowMs + 135_000);
    expect(generation.expiresAtMs).toBe(Date.UTC(2026, 3, 1));
  });

  test('keeps what was asked for, and the identity as it was then', () => {
    expect(
      generationOf({ prompt: 'p', negativePrompt: 'n', numInferenceSteps: 50, guidanceScale: 1 }),
    ).toMatchObject({
      prompt: 'p',
      negativePrompt: 'n',
      steps: 50,
      cfgScale: 1,
      identity: { id: 'idn_1', name: 'Aurora Studio', slug: 'aurora-studio' },
    });
  });

  test.each([0, 1, 4294967295])('has the seed %i that was sent', (seed) => {
    expect(generationOf({ seed }).seed).toBe(seed);
  });

  test('takes the seed -0 for 0', () => expect(Object.is(generationOf({ seed: -0 }).seed, 0)).toBe(true));

  test('has a seed of the server where none was sent, another one each time', () => {
    const seeds = Array.from({ length: 200 }, () => generationOf().seed);
    expect(new Set(seeds).size).toBeGreaterThan(190);
  });

  test.each([
    ['text_to_image', { referenceMode: 'reference' }],
    ['reference', { referenceMode: 'reference', referenceImages: [reference] }],
    ['exact_product', { referenceMode: 'exact_product', referenceImages: [reference] }],
  ] as const)('counts as %s', (type, { ...changes }) => {
    expect(generationOf(changes as Partial<CreateGenerationBody>).type).toBe(type);
  });
});

test('a seed of the server is an integer from 0 to 4294967295, from both halves of that range', () => {
  const seeds = Array.from({ length: 500 }, randomSeed);
  for (const seed of seeds) expect(Number.isInteger(seed) && seed >= 0 && seed <= 4294967295).toBe(true);
  expect(seeds.some((seed) => seed >= 2 ** 31)).toBe(true);
  expect(seeds.some((seed) => seed < 2 ** 31)).toBe(true);
});

test.each([
  ['QUEUED', false, 0],
  ['PROCESSING', false, 0],
  ['COMPLETED', true, 3],
  ['FAILED', true, 0],
  ['TIMEOUT', true, 0],
] as const)('%s: final %s, and of 3 credits %i are charged', (status, final, charged) => {
  expect(isFinal(status)).toBe(final);
  expect(creditsCharged({ ...generationOf(), status, credits: 3 })).toBe(charged);
});

test('processing time counts from acceptance to completion, not from the model’s start', () => {
  const generation = generationOf();
  expect(processingTimeMs(generation)).toBeNull();
  const ended = { ...generation, startedAtMs: nowMs + 4000, completedAtMs: nowMs + 9000 };
  expect(processingTimeMs(ended)).toBe(9000);
});
