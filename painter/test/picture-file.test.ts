import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import sharp from 'sharp';
import { encodePicture } from '../src/art/picture-file.ts';
import { encodePng } from '../src/art/png.ts';
import { decodePng } from './support/painting.ts';

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

  test('carries texts as UTF-8, also those that are no valid Unicode', async () => {
    const texts = { parameters: 'é 漢 🎨', Software: 'painter' };
    const pixels = { width: 1, height: 1, bytes: new Uint8Array(3) };

    expect((await decodePng(encodePng(pixels, texts))).texts).toEqual(texts);
    const { parameters } = (await decodePng(encodePng(pixels, { parameters: 'a\ud800b' }))).texts;
    expect(parameters).toBe('a\ufffdb');
  });
});

const size = { width: 64, height: 48 };
/** Red and blue columns, two pixels each, which half of the color resolution would mix. */
const bytes = Uint8Array.from({ length: size.width * size.height * 3 }, (_, i) => {
  const isRed = Math.floor((Math.floor(i / 3) % size.width) / 2) % 2 === 0;
  return i % 3 === (isRed ? 0 : 2) ? 220 : 20;
});
const pixels = { ...size, bytes };
const texts = { parameters: '{"prompt":"a sea"}', Software: 'painter-1' };

describe.each(['webp', 'jpeg'] as const)('a %s file', (format) => {
  test('is RGB of the same size, and the same bytes each time', async () => {
    const [one, again] = await Promise.all([1, 2].map(() => encodePicture(pixels, format, texts)));

    expect(Buffer.compare(one!, again!)).toBe(0);
    expect(await sharp(one).metadata()).toMatchObject({ ...size, format, channels: 3, hasAlpha: false });
  });

  test.each([
    ['letters of every kind', 'Größe 漢字 🎨 "quoted" \\ \u0000\u007f\ud800 end'],
    ['4,000 characters with the longest escapes', '漢\u0001'.repeat(2000)],
  ])('carries %s in its EXIF', async (_what, prompt) => {
    const parameters = JSON.stringify({ prompt, negativePrompt: prompt });
    const file = await encodePicture(pixels, format, { ...texts, parameters });

    const exif = (await sharp(file).metadata()).exif!.toString('latin1');
    expect(exif).toContain(`${texts.Software}\0`);
    // oxlint-disable-next-line no-control-regex -- zeros end the name of a comment's character code.
    expect(JSON.parse(/ASCII\0\0\0(\{.*\})/.exec(exif)![1]!)).toEqual({ prompt, negativePrompt: prompt });
  });
});

test('a JPEG keeps its color in full resolution', async () => {
  const file = await encodePicture(pixels, 'jpeg', texts);
  const shown = await sharp(file).raw().toBuffer();

  expect((await sharp(file).metadata()).chromaSubsampling).toBe('4:4:4');
  const worst = Math.max(...shown.map((value, i) => Math.abs(value - bytes[i]!)));
  expect(worst).toBeLessThan(40);
});
