import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { referenceLimits } from '../../../shared/images/image-types.ts';
import { inspectImage } from '../../../shared/images/inspect-image.ts';
import { smallJpeg } from './jpeg-parts.ts';
import { accepted, imageData, part, png, problem, realFile } from './samples.ts';

const red = sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } });
const [gif, avif, tiff] = [
  await red.clone().gif().toBuffer(),
  await red.clone().avif().toBuffer(),
  await red.clone().tiff().toBuffer(),
];

describe('a file that is no PNG, JPEG or WebP', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from([0x89])],
    ['a cut signature', Buffer.from('\x89PNG\r\n\x1a', 'latin1')],
    ['text', Buffer.from('PNG')],
    ['HTML', Buffer.from('<!doctype html><img src=x onerror=alert(1)>')],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['GIF', gif],
    ['AVIF', avif],
    ['TIFF', tiff],
    ['PDF', Buffer.from('%PDF-1.7\n')],
    ['ZIP', Buffer.from('PK\x03\x04')],
    ['HEIC', Buffer.from('\0\0\0\x18ftypheic')],
    ['sound in RIFF', Buffer.from('RIFF\x24\0\0\0WAVEfmt ')],
    [
      'a PNG spoiled by a text transfer',
      Buffer.concat([Buffer.from('\x89PNG\n\x1a\n', 'latin1'), png().subarray(8)]),
    ],
    ['HTML before a PNG', Buffer.concat([Buffer.from('<b>'), png()])],
  ])('%s is refused as such', async (_what, bytes) => {
    expect(await problem(bytes)).toBe('must be a PNG, JPEG or WebP image');
  });
});

describe('the size in bytes', () => {
  test('is at most 10 MiB, to the byte, and judged before all else', async () => {
    const { maxBytes } = referenceLimits;
    const padding = (length: number) => part('tEXt', Buffer.alloc(length));
    const file = png({ before: [padding(maxBytes - png().length - 12)] });
    expect(file.length).toBe(maxBytes);
    expect(await problem(file)).toBe(accepted);
    expect(await problem(Buffer.concat([file, Buffer.alloc(1)]))).toBe(
      'must be at most 10 MiB; it is 10,485,761 bytes',
    );
    expect(await problem(Buffer.alloc(maxBytes + 1))).toBe('must be at most 10 MiB; it is 10,485,761 bytes');
  });
});

describe('the size in pixels', () => {
  const sized = (widthPx: number, heightPx: number) => png({ widthPx, heightPx, data: imageData(9) });
  const jpeg = (widthPx: number, heightPx: number) => smallJpeg({ widthPx, heightPx });

  test.each([
    [0, 0],
    [0, 64],
    [63, 64],
    [64, 63],
    [1, 8192],
    [9000, 100],
    [8193, 64],
    [64, 8193],
    [65535, 65535],
  ])('%i × %i is refused with the limits', async (width, height) => {
    const said = `must be 64 to 8192 pixels wide and high; it is ${width} × ${height}`;
    expect(await problem(sized(width, height))).toBe(said);
    expect(await problem(jpeg(width, height))).toBe(said);
  });

  test.each([0x80000000, 0xffffffff, 0x7fffffff])('a PNG %i pixels wide is refused', async (width) => {
    expect(await problem(sized(width, 64))).toBe(
      `must be 64 to 8192 pixels wide and high; it is ${width} × 64`,
    );
  });

  test.each([
    [8192, 4883],
    [8192, 8192],
    [6325, 6325],
  ])('%i × %i has too many pixels', async (width, height) => {
    const said = `must have at most 40 megapixels; it is ${width} × ${height}`;
    expect(await problem(sized(width, height))).toBe(said);
    expect(await problem(jpeg(width, height))).toBe(said);
  });

  test.each([
    [64, 64],
    [8192, 64],
    [64, 8192],
    [8192, 4882],
    [8000, 5000],
  ])('%i × %i is accepted', async (width, height) => {
    expect(await inspectImage(png({ widthPx: width, heightPx: height, bitDepth: 1 }))).toMatchObject({
      image: { widthPx: width, heightPx: height },
    });
    const data = Buffer.alloc(Math.ceil((Math.ceil(width / 8) * Math.ceil(height / 8)) / 4));
    const result = await inspectImage(smallJpeg({ widthPx: width, heightPx: height }, { data }));
    expect(result).toMatchObject({ image: { widthPx: width, heightPx: height } });
  });
});

test('a file that lies within a larger buffer is read in its own bounds', async () => {
  for (const name of ['a PNG in color', 'a progressive JPEG', 'a WebP with alpha and a color profile']) {
    const file = await realFile(name);
    const around = Buffer.concat([Buffer.from('before'), file, Buffer.from('after')]);
    const within = new Uint8Array(around.buffer, around.byteOffset + 6, file.length);
    expect(await inspectImage(within)).toMatchObject({ image: { widthPx: 120, heightPx: 90 } });
  }
});
