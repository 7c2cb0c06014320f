import { expect, test } from '@jest/globals';
import { createGenerationBody, type StoredGeneration } from '../../../shared/contracts/generation.ts';
import {
  formatSize,
  neighbours,
  sampleBody,
  stageWidth,
} from '../../../dashboard/src/screens/history/request-view.ts';

const generation: StoredGeneration = {
  id: '01a1fe17-7ebc-7396-8df3-f13b595bdbd4',
  licenseId: 'lic_1',
  type: 'text_to_image',
  status: 'COMPLETED',
  identity: { id: 'idn_1', name: 'Aurora', slug: 'aurora' },
  prompt: 'a calm night',
  negativePrompt: '',
  seed: 42,
  steps: 30,
  cfgScale: 7.5,
  width: 1024,
  height: 768,
  numOutputs: 2,
  outputFormat: 'png',
  referenceMode: 'reference',
  preserveBranding: false,
  outputUrl: 'https://images.example/0',
  outputs: ['https://images.example/0', 'https://images.example/1'],
  errorMessage: null,
  creditsCharged: 2,
  referenceImagesUsed: 0,
  processingTimeMs: 1200,
  modelVersion: 'one',
  createdAt: '2026-11-21T12:00:00.000Z',
  startedAt: '2026-11-21T12:00:00.100Z',
  completedAt: '2026-11-21T12:00:01.200Z',
};

test('copied code asks for exactly the same images, with the seed', () => {
  expect(sampleBody(generation)).toEqual({
    identityId: 'idn_1',
    prompt: 'a calm night',
    seed: 42,
    width: 1024,
    height: 768,
    numOutputs: 2,
    numInferenceSteps: 30,
    guidanceScale: 7.5,
  });
});

test('copied code keeps the negative prompt, the format, the branding and the reference mode where they were used', () => {
  const body = sampleBody({
    ...generation,
    type: 'exact_product',
    negativePrompt: 'text',
    outputFormat: 'jpeg',
    referenceMode: 'exact_product',
    preserveBranding: true,
    referenceImagesUsed: 2,
  });
  expect(body).toMatchObject({
    negativePrompt: 'text',
    outputFormat: 'jpeg',
    referenceMode: 'exact_product',
    preserveBranding: true,
  });
});

test('copied code keeps the places of reference images, which are not stored, with addresses that exist nowhere', () => {
  const used = { ...generation, type: 'reference', referenceImagesUsed: 2 } as const;
  const { referenceImages } = createGenerationBody.parse(sampleBody(used));
  const hosts = referenceImages.map(({ url }) => new URL(url!).hostname);
  expect(hosts).toEqual(['your-site.example', 'your-site.example']);
  expect(sampleBody({ ...used, referenceImagesUsed: 0 }).referenceImages).toHaveLength(1);
  expect(sampleBody(generation)).not.toHaveProperty('referenceImages');
});

test('copied code is a body that the service accepts and reads as the stored request', () => {
  expect(createGenerationBody.parse(sampleBody(generation))).toEqual({
    identityId: generation.identity.id,
    prompt: generation.prompt,
    negativePrompt: generation.negativePrompt,
    seed: generation.seed,
    width: generation.width,
    height: generation.height,
    numOutputs: generation.numOutputs,
    outputFormat: generation.outputFormat,
    numInferenceSteps: generation.steps,
    guidanceScale: generation.cfgScale,
    referenceImages: [],
    referenceMode: generation.referenceMode,
    preserveBranding: generation.preserveBranding,
  });
});

test('an image is shown whole: never wider than it is, nor higher than most of the window', () => {
  expect(stageWidth({ width: 512, height: 1024 })).toBe('min(512px, 36dvh)');
  expect(stageWidth({ width: 1024, height: 768 })).toBe('min(1024px, 96dvh)');
  expect(formatSize(generation)).toBe('1024 × 768');
});

test('the newer and the older request are those beside it in the list', () => {
  const list = [{ id: 'c' }, { id: 'b' }, { id: 'a' }];
  expect(neighbours(list, 'b')).toEqual({ newer: 'c', older: 'a', isLast: false });
  expect(neighbours(list, 'c')).toEqual({ newer: null, older: 'b', isLast: false });
  expect(neighbours(list, 'a')).toEqual({ newer: 'b', older: null, isLast: true });
  expect(neighbours(list, 'x')).toEqual({ newer: null, older: null, isLast: false });
});
