import { describe, expect, test } from '@jest/globals';
import type { IdentityAnswer, StoredGeneration } from '../../../dashboard/src/lib/types.ts';
import type { TabStorage } from '../../../dashboard/src/lib/drafts.ts';
import {
  chooseIdentity,
  fillFromStored,
  fitToIdentities,
  fitToTier,
} from '../../../dashboard/src/screens/playground/fill-form.ts';
import {
  createFormStore,
  defaultValues,
  toBody,
  toSampleBody,
  validate,
  type FormValues,
} from '../../../dashboard/src/screens/playground/form-values.ts';
import { fitSize, isSame, presetsFor } from '../../../dashboard/src/screens/playground/sizes.ts';
import { createGenerationBody } from '../../../shared/generations/contract.ts';
import { comparedWith, versionError } from '../../../dashboard/src/screens/playground/versions.ts';
import { storedGeneration } from '../../support/stored-generation.ts';

const pro = { tier: 'Pro', maxOutputs: 4, maxSidePx: 2048 };
const starter = { tier: 'Starter', maxOutputs: 1, maxSidePx: 1024 };
const valid: FormValues = { ...defaultValues, identityId: 'idn_1', prompt: 'a quiet bay' };

/** Whether the API accepts what the form would send. */
function apiTakes(values: FormValues): boolean {
  const { licenseId: _, ...body } = toBody(values, 'lic_1');
  return createGenerationBody.safeParse(body).success;
}

describe('validation', () => {
  test.each<[keyof FormValues, string[]]>([
    ['prompt', ['🌊'.repeat(1000), 'x'.repeat(1001), 'broken \ud800 text', 'nul \0']],
    ['negativePrompt', ['n'.repeat(500), 'n'.repeat(501)]],
    ['width', ['448', '512', '1000', '2048']],
    ['height', ['', '1e3', '1088']],
    ['steps', ['19', '20', '30.5', '50', '51']],
    ['guidance', ['0.5', '1', '7.25', '20', '20.5']],
    ['seed', ['-1', '0', '4294967295', '4294967296', 'abc']],
  ])('a %s is wrong if and only if the API refuses it', (name, texts) => {
    for (const text of texts) {
      const values = { ...valid, [name]: text };
      expect([text, Object.keys(validate(values, pro))]).toEqual([text, apiTakes(values) ? [] : [name]]);
    }
  });

  test('requires a prompt, and values that the tier allows', () => {
    const empty = { ...valid, prompt: ' \n ' };
    expect(validate(empty, pro)).toEqual({ prompt: 'Write what the image should show.' });
    const values = { ...valid, width: '1088', numOutputs: 2 };
    expect(validate(values, starter)).toEqual({
      width: 'Starter allows at most 1024 pixels.',
      numOutputs: 'Starter makes at most 1.',
    });
    expect(validate(values, pro)).toEqual({});
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
    const { licenseId: _, ...body } = toBody(valid, 'lic_1');
    expect(toSampleBody(valid, null)).toEqual(body);
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
  });
});

test.each([1024, 2048])('every preset of a tier of %d pixels is within it and taken by the API', (max) => {
  const presets = presetsFor(max);
  expect(presets.length).toBeGreaterThan(4);
  for (const { width, height } of presets) {
    const values = { ...valid, width: String(width), height: String(height) };
    expect(validate(values, { ...pro, maxSidePx: max })).toEqual({});
    expect(apiTakes(values)).toBe(true);
  }
});

test('a size above the tier keeps its shape in steps of 64', () => {
  expect(fitSize({ width: 2048, height: 512 }, 1024)).toEqual({ width: 1024, height: 512 });
  expect(fitSize({ width: 832, height: 1216 }, 2048)).toEqual({ width: 832, height: 1216 });
});

const usual = { width: 1024, height: 1024 };
const facts = { id: 'idn_1', name: 'harbor', slug: 'harbor', available: true, defaultSize: usual };
const harbor = facts as IdentityAnswer;
const tall: IdentityAnswer = { ...harbor, id: 'idn_t', defaultSize: { width: 768, height: 1344 } };
const ember: IdentityAnswer = { ...harbor, id: 'idn_e', name: 'ember', available: false };

const texts = { prompt: 'still water', negativePrompt: 'people' };
const numbers = { seed: 4294967295, steps: 42, cfgScale: 3.5, width: 2048, height: 1152, numOutputs: 4 };
const stored: StoredGeneration = { ...storedGeneration, ...texts, ...numbers, outputFormat: 'webp' };

describe('filling the form from a stored request', () => {
  test('brings every setting, its seed and the version that made it', () => {
    const typed = { width: '2048', height: '1152', steps: '42', guidance: '3.5', seed: '4294967295' };
    const others = { identityId: 'idn_1', identityVersion: '1', numOutputs: 4, outputFormat: 'webp' };
    const values = { ...defaultValues, ...texts, ...typed, ...others, isOwnSize: true };
    expect(fillFromStored(stored, pro, [ember, harbor])).toEqual({ values, notes: [] });
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

  test('keeps its size where another identity takes its place', () => {
    const { values } = fillFromStored(stored, pro, [ember, tall]);
    expect(values).toMatchObject({ identityId: 'idn_t', width: '2048', height: '1152' });
  });
});

describe('the size of an identity', () => {
  const sized = (values: Partial<FormValues>, identity: IdentityAnswer, limits = pro) => {
    const { width, height, isOwnSize } = {
      ...valid,
      ...values,
      ...chooseIdentity({ ...valid, ...values }, identity, limits),
    };
    return [width, height, isOwnSize];
  };

  test('comes with it within the tier, also with the one that the form begins with', () => {
    expect(sized({}, tall)).toEqual(['768', '1344', false]);
    expect(sized({ width: '768', height: '1344', customSize: true }, harbor)).toEqual([
      '1024',
      '1024',
      false,
    ]);
    expect(sized({}, tall, starter)).toEqual(['576', '1024', false]);
    const { values } = fitToIdentities(defaultValues, [ember, tall], pro);
    expect(values).toMatchObject({ identityId: 'idn_t', width: '768', height: '1344' });
  });

  test('leaves one that was chosen since the last identity was', () => {
    const own = { width: '512', height: '512', isOwnSize: true };
    expect(sized(own, tall)).toEqual(['512', '512', false]);
    expect(sized({ ...own, isOwnSize: false }, tall)).toEqual(['768', '1344', false]);
    expect(sized(own, { ...tall, id: valid.identityId })).toEqual(['512', '512', true]);
  });

  test.each([1024, 2048])('is offered in a tier of %d pixels, and as many sizes as without it', (max) => {
    const offered = presetsFor(max);
    const own = { width: 704, height: 960 };
    const withOwn = presetsFor(max, own);
    expect(withOwn.length).toBe(offered.length);
    const places = withOwn.flatMap((preset, at) => (isSame(preset, own) ? [offered[at]!.label] : []));
    expect(places).toEqual(['Portrait']);
    expect(presetsFor(max, usual)).toEqual(offered);
  });
});

describe('keeping what was chosen', () => {
  test('a form without an identity gets the first available one, without a note', () => {
    const fitted = fitToIdentities(defaultValues, [ember, harbor], pro);
    expect(fitted).toEqual({ values: { ...defaultValues, identityId: 'idn_1' }, notes: [] });
  });

  test('a value that is being typed is not changed', () => {
    const typed = { ...valid, width: '20', height: '' };
    expect(fitToTier(typed, starter)).toEqual({ values: typed, notes: [] });
  });

  test('what was typed is kept in the tab’s storage, and invalid content of it is not used', () => {
    const items = new Map<string, string>();
    const storage = (): TabStorage => ({
      getItem: (key) => items.get(key) ?? null,
      setItem: (key, value) => void items.set(key, value),
    });
    const typed = { prompt: 'a plan', negativePrompt: 'fog', seed: '5', numOutputs: 2 };
    createFormStore(storage).change(typed);
    expect(createFormStore(storage).values()).toEqual({ ...defaultValues, ...typed });
    items.set('form', '{"seed":7,"prompt":null,"width":"640","constructor":"y"}');
    expect(createFormStore(storage).values()).toEqual({ ...defaultValues, width: '640' });
  });
});

test('what was chosen of versions is compared and sent where it is there, and another identity has other ones', () => {
  const versions = [3, 2, 1].map((version) => ({ version, active: version === 2 })) as never;
  const compared = (identityVersion: string, otherVersion: string) =>
    comparedWith({ identityVersion, otherVersion }, versions);
  expect([compared('', '3'), compared('3', '2'), compared('', '')]).toEqual([3, 2, null]);
  // The same twice, and one that is gone.
  expect([compared('', '2'), compared('3', '3'), compared('3', '9')]).toEqual([null, null, null]);
  expect([versionError({ ...valid, identityVersion: '9' }, versions), versionError(valid, versions)]).toEqual(
    ['Version 9 can’t be used any more. Choose another.', null],
  );
  const form = createFormStore(() => ({ getItem: () => null, setItem: () => {} }));
  form.change({ ...valid, identityVersion: '3', otherVersion: '2' });
  expect(toBody(form.values(), 'lic_1')).toMatchObject({ identityVersion: 3 });
  form.change({ identityId: 'idn_2' });
  expect(form.values()).toMatchObject({ identityVersion: '', otherVersion: '' });
  expect(toBody(form.values(), 'lic_1')).not.toHaveProperty('identityVersion');
});
