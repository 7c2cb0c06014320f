import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { encodePreview } from '../src/art/preview.ts';

const pixelsOf = (width: number, height: number, at: (x: number, y: number) => number) => {
  const bytes = new Uint8Array(width * height * 3);
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, to += 3) bytes.fill(at(x, y), to, to + 3);
  }
  return { width, height, bytes };
};

describe('a preview', () => {
  test.each([
    [640, 512, 512, 410],
    [64, 96, 64, 96],
  ])('of %i × %i pixels has %i × %i', async (width, height, shownWidth, shownHeight) => {
    const file = await encodePreview(
      pixelsOf(width, height, () => 90),
      '<xmp/>',
    );
    const { format, width: w, height: h } = await sharp(file).metadata();
    expect([format, w, h]).toEqual(['webp', shownWidth, shownHeight]);
  });

  test('of noise has fewer details, and not more than 60 kB', async () => {
    let state = 1;
    const bytes = new Uint8Array(512 * 512 * 3).map(() => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return state >>> 24;
    });
    const file = await encodePreview({ width: 512, height: 512, bytes }, '<xmp/>');
    expect(file!.length).toBeLessThanOrEqual(60_000);
  });

  test('of a fine pattern is as bright as the pattern', async () => {
    const board = pixelsOf(1024, 1024, (x, y) => ((x + y) % 2) * 255);
    const file = await encodePreview(board, '<xmp/>');
    const { channels } = await sharp(file).stats();
    // Half of the light is code 188. Half of the codes, 128, would be a fifth of the light.
    for (const { mean } of channels) expect(Math.abs(mean - 188)).toBeLessThan(3);
  });
});
