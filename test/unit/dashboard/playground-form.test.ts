import { describe, expect, test } from '@jest/globals';
import type { IdentityAnswer, StoredGeneration } from '../../../dashboard/src/api/types.ts';
import {
  fillFromStored,
  fitToIdentities,
  fitToTier,
  fromBody,
} from '../../../dashboard/src/screens/playground/fill-form.ts';
import { createFormStore, type TabStorage } from '../../../dashboard/src/screens/playground/form-store.ts';
import {
  codePoints,
  defaultValues,
  toBody,
  toSampleBody,
  validate,
  type FormValues,
} from '../../../dashboard/src/screens/playground/form-values.ts';
import { fitSize, presetsFor } from '../../../dashboard/src/screens/playground/sizes.ts';
import { createGenerationBody } from '../../../shared/contracts/generation.ts';

const pro = { tier: 'Pro', maxOutputs: 4, maxSidePx: 2048 };
const starter = { tier: 'Starter', maxOutputs: 1, maxSidePx: 1024 };
const valid: FormValues = { ...defaultValues, identityId: 'idn_1', prompt: 'a quiet bay' };

/** Whether the API's own rules take what the form would send. */
function apiTakes(values: FormValues): boolean {
  const { licenseId: _, ...body } = toBody(values, 'lic_1');
  return createGenerationBody.safeParse(body).success;
}

describe('validation', () => {
  test.each<[string, Partial<FormValues>]>([
    ['the defaults', {}],
    ['a prompt of 1000 characters that take two units each', { prompt: '🌊'.repeat(1000) }],
    ['the smallest numbers', { width: '512', height: '512', steps: '20', guidance: '1', seed: '0' }],
    [
      'the largest numbers',
      { width: '2048', height: '2048', steps: '50', guidance: '20', seed: '4294967295' },
    ],
    ['a guidance scale between the slider’s steps', { guidance: '7.25' }],
    ['a negative prompt of 500 characters', { negativePrompt: 'n'.repeat(500) }],
  ])('%s are accepted here and by the API', (_, change) => {
    const values = { ...valid, ...change };
    expect(validate(values, pro)).toEqual({});
    expect(apiTakes(values)).toBe(true);
  });

  test.each<[keyof FormValues, Partial<FormValues>]>([
    ['prompt', { prompt: ' \n ' }],
    ['prompt', { prompt: 'x'.repeat(1001) }],
    ['prompt', { prompt: 'broken \ud800 text' }],
    ['prompt', { prompt: 'nul \0' }],
    ['negativePrompt', { negativePrompt: 'n'.repeat(501) }],
    ['width', { width: '1000' }],
    ['width', { width: '448' }],
    ['height', { height: '' }],
    ['height', { height: '1e3' }],
    ['steps', { steps: '19' }],
    ['steps', { steps: '51' }],
    ['steps', { steps: '30.5' }],
    ['guidance', { guidance: '0.5' }],
    ['guidance', { guidance: '20.5' }],
    ['seed', { seed: '4294967296' }],
    ['seed', { seed: '-1' }],
    ['seed', { seed: 'abc' }],
  ])('a %s that the API would refuse is named before anything is sent: %j', (name, change) => {
    const values = { ...valid, ...change };
    expect(Object.keys(validate(values, pro))).toEqual([name]);
  });

  test('what the tier does not allow is named, with the tier', () => {
    const values = { ...valid, width: '1088', numOutputs: 2 };
    expect(validate(values, starter)).toEqual({
      width: 'Starter allows at most 1024 pixels.',
      numOutputs: 'Starter makes at most 1.',
    });
    expect(validate(values, pro)).toEqual({});
  });

  test('characters are counted as code points', () => {
    expect(codePoints('a🌊é')).toBe(3);
  });
});

describe('the request', () => {
  test('holds no seed and no negative prompt when they are empty, so that the service draws a seed', () => {
    expect(toBody(valid, 'lic_1')).toEqual({
      licenseId: 'lic_1',
      identityId: 'idn_1',
      prompt: 'a quiet bay',
      numInferenceSteps: 30,
      guidanceScale: 7.5,
      numOutputs: 1,
      width: 1024,
      height: 1024,
    });
  });

  test('as a code sample names no license and has the seed that was used', () => {
    expect(toSampleBody(valid, 42)).toMatchObject({ seed: 42 });
    expect(toSampleBody({ ...valid, seed: '0' }, 42)).toMatchObject({ seed: 0 });
    expect(toSampleBody(valid, null)).not.toHaveProperty('seed');
    expect(toSampleBody(valid, 42)).not.toHaveProperty('licenseId');
  });

  test('says how reference images are used only where there are some', () => {
    const values: FormValues = { ...valid, referenceMode: 'exact_product', preserveBranding: true };
    expect(toBody(values, 'lic_1')).not.toHaveProperty('referenceMode');
    const references = [{ url: 'https://shop.example/cup.jpg' }, { uploadId: 'upl_1' }];
    const { licenseId: _, ...body } = toBody(values, 'lic_1', references);
    expect(createGenerationBody.parse(body)).toMatchObject({
      referenceImages: references,
      referenceMode: 'exact_product',
      preserveBranding: true,
    });
    expect(fromBody({ licenseId: 'lic_1', ...body }, 7)).toEqual({ ...values, seed: '7' });
  });

  test('names the format only where it is not the default', () => {
    expect(toSampleBody(valid, 42)).not.toHaveProperty('outputFormat');
    for (const outputFormat of ['webp', 'jpeg'] as const) {
      expect(toSampleBody({ ...valid, outputFormat }, 42)).toMatchObject({ outputFormat });
      expect(apiTakes({ ...valid, outputFormat })).toBe(true);
      expect(fromBody(toBody({ ...valid, outputFormat }, 'lic_1'), 7)).toMatchObject({ outputFormat });
    }
  });

  test('can be brought back into the form as it was', () => {
    const values = { ...valid, negativePrompt: 'fog', width: '640', height: '512', numOutputs: 3, seed: '7' };
    expect(fromBody(toBody(values, 'lic_1'), 7)).toEqual(values);
  });
});

describe('sizes', () => {
  test.each([1024, 2048])(
    'every preset of a tier of %d pixels is within it and accepted by the API',
    (max) => {
      const presets = presetsFor(max);
      expect(presets.length).toBeGreaterThan(4);
      for (const { width, height } of presets) {
        const values = { ...valid, width: String(width), height: String(height) };
        expect(validate(values, { ...pro, maxSidePx: max })).toEqual({});
        expect(apiTakes(values)).toBe(true);
      }
      expect(new Set(presets.map(({ label }) => label)).size).toBe(presets.length);
    },
  );

  test('a size above the tier keeps its shape in steps of 64', () => {
    expect(fitSize({ width: 2048, height: 1152 }, 1024)).toEqual({ width: 1024, height: 576 });
    expect(fitSize({ width: 2048, height: 512 }, 1024)).toEqual({ width: 1024, height: 512 });
    expect(fitSize({ width: 832, height: 1216 }, 2048)).toEqual({ width: 832, height: 1216 });
  });
});

const harbor: IdentityAnswer = {
  id: 'idn_h',
  name: 'harbor',
  slug: 'harbor',
  description: '',
  productPhotos: false,
  available: true,
};
const ember: IdentityAnswer = { ...harbor, id: 'idn_e', name: 'ember', slug: 'ember', available: false };

const stored: StoredGeneration = {
  id: 'req_1',
  licenseId: 'lic_1',
  type: 'text_to_image',
  status: 'COMPLETED',
  identity: { id: 'idn_h', name: 'harbor', slug: 'harbor' },
  prompt: 'still water',
  negativePrompt: 'people',
  seed: 4294967295,
  steps: 42,
  cfgScale: 3.5,
  width: 2048,
  height: 1152,
  numOutputs: 4,
  outputFormat: 'webp',
  referenceMode: 'reference',
  preserveBranding: false,
  outputUrl: null,
  outputs: [],
  errorMessage: null,
  creditsCharged: 12,
  referenceImagesUsed: 0,
  processingTimeMs: 1,
  modelVersion: null,
  createdAt: '2026-11-21T00:00:00.000Z',
  startedAt: null,
  completedAt: null,
};

describe('filling the form from a stored request', () => {
  test('brings every setting and its seed', () => {
    expect(fillFromStored(stored, pro, [ember, harbor])).toEqual({
      values: {
        identityId: 'idn_h',
        prompt: 'still water',
        negativePrompt: 'people',
        width: '2048',
        height: '1152',
        customSize: false,
        numOutputs: 4,
        outputFormat: 'webp',
        steps: '42',
        guidance: '3.5',
        seed: '4294967295',
        referenceMode: 'reference',
        preserveBranding: false,
      },
      notes: [],
    });
  });

  test('stays within the tier and says what it changed', () => {
    const { values, notes } = fillFromStored(stored, starter, [harbor]);
    expect(values).toMatchObject({ width: '1024', height: '576', numOutputs: 1, customSize: false });
    expect(validate(values, starter)).toEqual({});
    expect(notes).toEqual([
      'The size is 1024 × 576 instead of 2048 × 1152: Starter allows 1024 pixels a side.',
      'It makes one image instead of 4: that is what Starter allows in a request.',
    ]);
  });

  test('says so when the license does not cover its identity, or it is not there now', () => {
    const other = { ...harbor, id: 'idn_x', name: 'drift' };
    const uncovered = fillFromStored(stored, pro, [ember, other]);
    expect(uncovered.values.identityId).toBe('idn_x');
    expect(uncovered.notes).toEqual(['Your license does not cover harbor: drift is chosen instead.']);
    const absent = fillFromStored({ ...stored, identity: ember }, pro, [ember]);
    expect(absent.values.identityId).toBe('');
    expect(absent.notes).toEqual([
      'ember has no active model right now: no other identity is available either.',
    ]);
  });

  test('brings how its reference images were used, unless it had none', () => {
    const exact = { ...stored, referenceMode: 'exact_product', preserveBranding: true } as const;
    const { values } = fillFromStored({ ...exact, type: 'exact_product' }, pro, [harbor]);
    expect(values).toMatchObject({ referenceMode: 'exact_product', preserveBranding: true });
    const plain = fillFromStored(exact, pro, [harbor]);
    expect(plain.values).toMatchObject({ referenceMode: 'reference', preserveBranding: false });
  });

  test('shows a size that is no preset as a custom one', () => {
    const { values } = fillFromStored({ ...stored, width: 640, height: 704 }, pro, [harbor]);
    expect(values).toMatchObject({ width: '640', height: '704', customSize: true });
  });
});

describe('keeping what was chosen', () => {
  test('a form without an identity gets the first that is available, and nothing is said', () => {
    const fitted = fitToIdentities(defaultValues, [ember, harbor]);
    expect(fitted).toEqual({ values: { ...defaultValues, identityId: 'idn_h' }, notes: [] });
  });

  test('what is being typed is left alone', () => {
    const typed = { ...valid, width: '20', height: '' };
    expect(fitToTier(typed, starter)).toEqual({ values: typed, notes: [] });
  });

  test('settings are kept for the tab and prompts never leave memory', () => {
    const { storage, items } = memoryStorage();
    const form = createFormStore(() => storage);
    form.change({ prompt: 'secret plan', negativePrompt: 'secret too', seed: '5', numOutputs: 2 });
    expect(form.values().prompt).toBe('secret plan');
    expect(JSON.stringify([...items])).not.toContain('secret');
    expect(createFormStore(() => storage).values()).toEqual({ ...defaultValues, seed: '5', numOutputs: 2 });
  });

  test('a storage that is closed, or holds something else, leaves the defaults', () => {
    const closed = (): TabStorage => {
      throw new Error('storage is blocked');
    };
    const form = createFormStore(closed);
    form.change({ seed: '9' });
    expect(form.values()).toEqual({ ...defaultValues, seed: '9' });
    const { storage, items } = memoryStorage();
    items.set('playground-form', '{"seed":7,"prompt":"x","width":"640","constructor":"y"}');
    expect(createFormStore(() => storage).values()).toEqual({ ...defaultValues, width: '640' });
    items.set('playground-form', 'not json');
    expect(createFormStore(() => storage).values()).toEqual(defaultValues);
  });
});

function memoryStorage() {
  const items = new Map<string, string>();
  const storage: TabStorage = {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
  };
  return { storage, items };
}
