import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { encodePicture } from '../../../local/painter/art/picture-file.ts';
import { exifTexts } from '../../support/exif-texts.ts';

const size = { width: 64, height: 48 };
/** Red and blue columns, two pixels each, which half of the color resolution would mix. */
const bytes = Uint8Array.from({ length: size.width * size.height * 3 }, (_, i) => {
  const isRed = Math.floor((Math.floor(i / 3) % size.width) / 2) % 2 === 0;
  return i % 3 === (isRed ? 0 : 2) ? 220 : 20;
});
const pixels = { ...size, bytes };
const texts = { parameters: '{"prompt":"a sea"}', Software: 'painter-1' };
const lossy = ['webp', 'jpeg'] as const;

describe.each(lossy)('a %s file', (format) => {
  test('is RGB of the same size, and the same bytes each time', async () => {
    const [one, again] = await Promise.all([1, 2].map(() => encodePicture(pixels, format, texts)));

    expect(Buffer.compare(one!, again!)).toBe(0);
    expect(await sharp(one).metadata()).toMatchObject({ ...size, format, channels: 3, hasAlpha: false });
  });

  test.each([
    ['letters of every kind', 'Größe 漢字 🎨 "quoted" \\ \u0000\u007f\ud800 end'],
    ['4,000 characters with the longest escapes', '漢\u0001'.repeat(2000)],
  ])('carries %s', async (_what, prompt) => {
    const parameters = JSON.stringify({ prompt, negativePrompt: prompt });
    const file = await encodePicture(pixels, format, { ...texts, parameters });

    const { exif } = await sharp(file).metadata();
    expect(exifTexts(exif!).Software).toBe(texts.Software);
    expect(JSON.parse(exifTexts(exif!).parameters)).toEqual({ prompt, negativePrompt: prompt });
  });
});

test('a JPEG keeps its color in full resolution', async () => {
  const file = await encodePicture(pixels, 'jpeg', texts);
  const shown = await sharp(file).raw().toBuffer();

  expect((await sharp(file).metadata()).chromaSubsampling).toBe('4:4:4');
  const worst = Math.max(...shown.map((value, i) => Math.abs(value - bytes[i]!)));
  expect(worst).toBeLessThan(40);
});
