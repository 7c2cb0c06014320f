import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import sharp from 'sharp';
import { encodePicture } from '../src/art/picture-file.ts';
import { encodePng } from '../src/art/png.ts';
import { xmpPacket } from '../src/art/xmp.ts';
import { decodePng, readFacts } from './support/painting.ts';

describe('a PNG file', () => {
  test('decodes to the same pixels, whatever they are', async () => {
    const image = fc
      .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }))
      .chain(([width, height]) =>
        fc
          .uint8Array({ minLength: width * height * 3, maxLength: width * height * 3 })
          .map((bytes) => ({ width, height, bytes })),
      );
    await fc.assert(
      fc.asyncProperty(image, async (pixels) => {
        const decoded = await decodePng(encodePng(pixels, {}));
        expect(decoded).toMatchObject({ width: pixels.width, height: pixels.height });
        expect(Buffer.compare(decoded.bytes, pixels.bytes)).toBe(0);
      }),
    );
  });
});

const size = { width: 64, height: 48 };
/** Red and blue columns, two pixels each, which half of the color resolution would mix. */
const bytes = Uint8Array.from({ length: size.width * size.height * 3 }, (_, i) => {
  const isRed = Math.floor((Math.floor(i / 3) % size.width) / 2) % 2 === 0;
  return i % 3 === (isRed ? 0 : 2) ? 220 : 20;
});
const pixels = { ...size, bytes };
const xmp = xmpPacket('painter-1', { seed: 1 });

describe.each(['png', 'webp', 'jpeg'] as const)('a %s file', (format) => {
  test.each([
    ['4,000 characters with the longest escapes', '漢\u0001'.repeat(2000)],
    ['4,000 characters with the longest in XML', '&'.repeat(4000)],
  ])('carries %s in its XMP', async (_what, prompt) => {
    const facts = { prompt, negativePrompt: prompt };
    const file = await encodePicture(pixels, format, xmpPacket('painter-1', facts));

    expect(await readFacts(file)).toEqual(facts);
  });
});

test('a JPEG keeps its color in full resolution', async () => {
  const file = await encodePicture(pixels, 'jpeg', xmp);
  const shown = await sharp(file).raw().toBuffer();

  expect((await sharp(file).metadata()).chromaSubsampling).toBe('4:4:4');
  const worst = Math.max(...shown.map((value, i) => Math.abs(value - bytes[i]!)));
  expect(worst).toBeLessThan(40);
});
