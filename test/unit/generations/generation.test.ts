import { describe, expect, test } from '@jest/globals';
import type { CreateGenerationBody } from '../../../shared/generations/contract.ts';
import { newDeletion } from '../../../shared/generations/deletion.ts';
import {
  creditsCharged,
  isFinal,
  newGeneration,
  pollAfterSeconds,
  processingTimeMs,
  referenceProblems,
} from '../../../shared/generations/generation.ts';
import { sampleBody, sampleIdentity } from '../../support/unit-samples.ts';

const nowMs = Date.UTC(2026, 0, 1);
const reference = { url: 'https://example.com/mug.png' };

function generationOf(changes: Partial<CreateGenerationBody> = {}) {
  return newGeneration({
    requestId: '01890a5d-ac96-774b-bcce-b302099a8057',
    licenseId: 'lic_1',
    keyId: 'key_1',
    keyInFlight: null,
    identity: sampleIdentity,
    body: { ...sampleBody, ...changes },
    periodStartMs: nowMs - 1000,
    creditsLimit: 100,
    nowMs,
    deadlineSeconds: 120,
    retentionDays: 90,
    idempotencyKeyHash: null,
    moderation: null,
  });
}

describe('reference images', () => {
  const refused = [expect.stringMatching(/referenceImages.*Aurora Studio/)];
  const needed = [expect.stringMatching(/referenceMode.*referenceImages/)];

  test.each([
    ['are refused', 'reference', [reference], refused, []],
    ['are refused', 'exact_product', [reference, { uploadId: 'upl_1' }], refused, []],
    ...[undefined, null, []].flatMap((absent) => [
      ['may be left out', 'reference', absent, [], []] as const,
      ['are needed', 'exact_product', absent, needed, needed] as const,
    ]),
  ])(
    '%s as %s: %j by an identity without product photos, and looked at by one with them',
    (_what, referenceMode, referenceImages, without, withPhotos) => {
      const body = { ...sampleBody, referenceMode, referenceImages };
      expect(referenceProblems(body, sampleIdentity)).toEqual(without);
      expect(referenceProblems(body, { ...sampleIdentity, productPhotos: true })).toEqual(withPhotos);
    },
  );
});

describe('a new generation', () => {
  test('is QUEUED with its credits, its deadline and what was asked for, and has neither begun nor ended', () => {
    const size = { width: 2048, height: 2048, numOutputs: 4 };
    const asked = { prompt: 'p', negativePrompt: 'n', numInferenceSteps: 50, guidanceScale: 1 };
    expect(generationOf({ ...size, ...asked })).toMatchObject({
      status: 'QUEUED',
      credits: 16,
      ...size,
      prompt: 'p',
      negativePrompt: 'n',
      steps: 50,
      cfgScale: 1,
      identity: { id: 'idn_1', name: 'Aurora Studio', slug: 'aurora-studio' },
      periodStartMs: nowMs - 1000,
      createdAtMs: nowMs,
      deadlineMs: nowMs + 120_000,
      leaseUntilMs: nowMs + 135_000,
      expiresAtMs: Date.UTC(2026, 3, 1),
      startedAtMs: null,
      completedAtMs: null,
      errorMessage: null,
      errorCode: null,
      referenceImagesUsed: 0,
    });
  });

  test('has the seed that was sent, and takes -0 for 0', () => {
    for (const seed of [0, 4294967295]) expect(generationOf({ seed }).seed).toBe(seed);
    expect(Object.is(generationOf({ seed: -0 }).seed, 0)).toBe(true);
  });

  test('has another seed of the server each time where none was sent: an integer from 0 to 4294967295', () => {
    const seeds = Array.from({ length: 500 }, () => generationOf().seed);
    for (const seed of seeds) expect(Number.isInteger(seed) && seed >= 0 && seed <= 4294967295).toBe(true);
    expect(new Set(seeds).size).toBeGreaterThan(490);
    // From both halves of that range.
    expect(new Set(seeds.map((seed) => seed >= 2 ** 31)).size).toBe(2);
  });

  test.each([
    ['text_to_image', { referenceMode: 'reference' }],
    ['reference', { referenceMode: 'reference', referenceImages: [reference] }],
    ['exact_product', { referenceMode: 'exact_product', referenceImages: [reference] }],
  ] as const)('counts as %s', (type, { ...changes }) => {
    expect(generationOf(changes as Partial<CreateGenerationBody>).type).toBe(type);
  });
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

test.each([
  [0, 1],
  [5, 1],
  [20, 5],
  [60, 15],
  [3600, 15],
])('a request of %i seconds that has not ended is looked at again after %i', (seconds, expected) => {
  expect(pollAfterSeconds({ createdAtMs: nowMs - seconds * 1000 }, nowMs)).toBe(expected);
});

test('the deletion of a request waits for two minutes after its deadline, and holds nothing of what was asked for', () => {
  const { licenseId, requestId, keyId, numOutputs, outputFormat, referenceImages } = generationOf();
  const where = { licenseId, requestId, keyId, numOutputs, outputFormat, referenceImages };
  expect(newDeletion(generationOf())).toEqual({ ...where, imagesUntilMs: nowMs + 240_000, isErased: false });
});
