import { describe, expect, test } from '@jest/globals';
import type { PictureOptions } from '../../src/art/paint.ts';
import { formNames } from '../../src/art/styles/forms.ts';
import { paint } from '../support/painting.ts';
import { compositionCorrelation, contrast, meanColor, meanDifference } from './compare.ts';

describe('every style', () => {
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

  test.each(formNames)('%s keeps its composition when only the steps change', async (style) => {
    const [coarse, fine] = await Promise.all(
      [20, 50].map((numInferenceSteps) => paint({ style, numInferenceSteps })),
    );

    expect(compositionCorrelation(coarse!, fine!)).toBeGreaterThan(0.9);
    expect(meanDifference(coarse!, fine!)).toBeGreaterThan(0.1);
  });
});

describe('what shapes a picture', () => {
  test.each<[string, Partial<PictureOptions>, number]>([
    ['the seed', { seed: 8 }, 6],
    ['the prompt', { prompt: 'a quiet sea with a boat, again' }, 6],
    ['a recognized word', { prompt: 'a quiet sea with a boat at night' }, 6],
    ['a negative word', { negativePrompt: 'boat' }, 0.5],
    ['the steps', { numInferenceSteps: 50 }, 0.2],
    ['the guidance', { guidanceScale: 16 }, 0.2],
    ['the style', { style: 'drift' }, 12],
  ])('%s changes it visibly', async (_name, changes, atLeast) => {
    const [before, after] = await Promise.all([
      paint({ numInferenceSteps: 30 }),
      paint({ numInferenceSteps: 30, ...changes }),
    ]);

    expect(meanDifference(before, after)).toBeGreaterThan(atLeast);
  });

  test('a color in the prompt shows, the more the higher the guidance, and not when it is refused', async () => {
    const redness = async (changes: Partial<PictureOptions>): Promise<number> => {
      const [red, green, blue] = meanColor(
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
      meanColor(await paint({ prompt })).reduce((sum, value) => sum + value, 0);

    expect(await brightness('the sea at night')).toBeLessThan((await brightness('the sea at noon')) * 0.75);
  });
});
