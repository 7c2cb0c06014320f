import { createHash } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { PictureOrder } from '../../../local/painter/art/paint.ts';
import { formNames } from '../../../local/painter/art/styles/forms.ts';
import { MODEL_VERSION } from '../../../local/painter/model-version.ts';
import { createPool } from '../../../local/painter/pool.ts';
import { decodePng } from '../../unit/painter/png-decoder.ts';
import type { DecodedPng } from '../../unit/painter/png-decoder.ts';
import { compositionCorrelation, contrast, meanColour, meanDifference } from './compare.ts';

const order: PictureOrder = {
  prompt: 'a quiet sea with a boat',
  negativePrompt: '',
  seed: 7,
  numInferenceSteps: 30,
  guidanceScale: 7.5,
  width: 512,
  height: 512,
  identityId: 'idn_test',
  style: 'harbor',
  outputFormat: 'png',
};

const pool = createPool(2);
const never = new AbortController().signal;
afterAll(() => pool.close());

const file = async (changes: Partial<PictureOrder> = {}): Promise<Uint8Array> =>
  (await pool.paint({ ...order, ...changes }, never, () => undefined)).file;
const paint = async (changes: Partial<PictureOrder> = {}): Promise<DecodedPng> =>
  decodePng(await file(changes));

describe('every style', () => {
  test.each([...formNames, 'unknown'])(
    '%s paints a valid PNG of the size asked for, the same bytes twice',
    async (style) => {
      const [once, again] = await Promise.all([file({ style, width: 576 }), file({ style, width: 576 })]);

      expect(Buffer.compare(once, again)).toBe(0);
      const picture = decodePng(once);
      expect([picture.width, picture.height]).toEqual([576, 512]);
      expect(picture.chunks.slice(0, 3)).toEqual(['IHDR', 'iTXt', 'iTXt']);
    },
  );

  test.each(formNames)('%s fills tall and wide pictures with light and dark', async (style) => {
    const pictures = await Promise.all([paint({ style, height: 1024 }), paint({ style, width: 1024 })]);

    for (const picture of pictures) expect(contrast(picture)).toBeGreaterThan(40);
  });

  test('no two styles paint alike, and neither do two identities without a style', async () => {
    const pictures = await Promise.all(formNames.map((style) => paint({ style })));
    for (let i = 1; i < pictures.length; i += 1) {
      expect(meanDifference(pictures[i - 1]!, pictures[i]!)).toBeGreaterThan(12);
    }
    const [one, other] = await Promise.all(['a', 'b'].map((identityId) => paint({ style: '', identityId })));
    expect(meanDifference(one!, other!)).toBeGreaterThan(8);
  });
});

/** The beginning of the SHA-256 of each style's pixels; they may only change together with the model's version. */
const pinned: Record<string, string> = {
  aurora: '24a5365c4773e639',
  basalt: 'ae703a5527852de9',
  citrine: 'e9e3b1f322355248',
  drift: '58adf8ece1e113dd',
  ember: 'e575b92bdf2ee739',
  flint: 'e65c3dbd000febff',
  glacier: '6f4bda30bde2bc8c',
  harbor: 'cc6c20cd474fde8f',
};

test.each(formNames)('%s still paints what this version of the model has always painted', async (style) => {
  const asked = { style, prompt: 'a quiet morning', identityId: 'x' };
  const digest = createHash('sha256')
    .update((await paint(asked)).bytes)
    .digest('hex');

  expect([MODEL_VERSION, digest.slice(0, 16)]).toEqual(['painter-1', pinned[style]]);
});

describe('what shapes a picture', () => {
  test.each<[string, Partial<PictureOrder>, number]>([
    ['the seed', { seed: 8 }, 6],
    ['the prompt', { prompt: 'a quiet sea with a boat, again' }, 6],
    ['a recognised word', { prompt: 'a quiet sea with a boat at night' }, 6],
    ['a negative word', { negativePrompt: 'boat' }, 0.5],
    ['the steps', { numInferenceSteps: 50 }, 0.2],
    ['the guidance', { guidanceScale: 16 }, 0.2],
    ['the style', { style: 'drift' }, 12],
  ])('%s changes it', async (_name, changes, atLeast) => {
    const [before, after] = await Promise.all([paint(), paint(changes)]);

    expect(meanDifference(before, after)).toBeGreaterThan(atLeast);
  });

  test.each(formNames)('%s keeps its composition when only the steps change', async (style) => {
    const [coarse, fine] = await Promise.all(
      [20, 50].map((numInferenceSteps) => paint({ style, numInferenceSteps })),
    );

    expect(compositionCorrelation(coarse!, fine!)).toBeGreaterThan(0.9);
    expect(meanDifference(coarse!, fine!)).toBeGreaterThan(0.1);
  });

  test('a colour in the prompt shows, the more the higher the guidance, and not when it is refused', async () => {
    const redness = async (changes: Partial<PictureOrder>): Promise<number> => {
      const [red, green, blue] = meanColour(
        await paint({ style: 'drift', prompt: 'red', seed: 3, ...changes }),
      );
      return red / (green + blue);
    };
    const [strong, weak, refused] = await Promise.all([
      redness({ guidanceScale: 20 }),
      redness({ guidanceScale: 1 }),
      redness({ guidanceScale: 20, negativePrompt: 'red' }),
    ]);

    expect(strong).toBeGreaterThan(weak * 1.2);
    expect(strong).toBeGreaterThan(refused * 1.2);
  });

  test('night is darker than noon', async () => {
    const brightness = async (prompt: string): Promise<number> =>
      meanColour(await paint({ prompt })).reduce((sum, value) => sum + value, 0);

    expect(await brightness('the sea at night')).toBeLessThan((await brightness('the sea at noon')) * 0.75);
  });
});

test('metadata says how the picture was made, and nothing of when or by which request', async () => {
  const prompt = 'Größe 漢字 🎨 "quoted"\n\u0000 end';
  const { texts } = await paint({ prompt, negativePrompt: 'fog', seed: 4294967295 });

  expect(Object.keys(texts)).toEqual(['parameters', 'Software']);
  expect(texts.Software).toBe(MODEL_VERSION);
  const { style, identityId: _, outputFormat: __, ...asked } = order;
  expect(JSON.parse(texts.parameters!)).toEqual({
    ...asked,
    identity: style,
    prompt,
    negativePrompt: 'fog',
    seed: 4294967295,
    modelVersion: MODEL_VERSION,
  });
});

describe('a picture under way', () => {
  test('reports its steps, and stops within moments when it is given up', async () => {
    const steps: number[] = [];
    const giveUp = new AbortController();
    const reason = new Error('nobody waits');
    const working = pool.paint({ ...order, width: 2048, height: 2048 }, giveUp.signal, (step) => {
      steps.push(step);
      if (step >= 5) giveUp.abort(reason);
    });

    await expect(working).rejects.toBe(reason);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    const start = performance.now();
    await Promise.all([file(), file()]);
    expect(performance.now() - start).toBeLessThan(3_000);
  });

  test('that cannot be painted fails, and the next one is painted all the same', async () => {
    const broken = pool.paint({ ...order, numInferenceSteps: -1, width: -1 }, never, () => undefined);

    await expect(broken).rejects.toThrow();
    expect((await paint()).width).toBe(512);
  });
});
