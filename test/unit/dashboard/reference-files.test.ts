import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import sharp, { type Sharp } from 'sharp';
import { formatFileSize } from '../../../dashboard/src/lib/format.ts';
import { inspectFile } from '../../../dashboard/src/screens/playground/references/add-references.ts';
import {
  referenceLimits,
  uploadLifetimeMs,
} from '../../../dashboard/src/screens/playground/references/reference.ts';
import { referenceLimits as serviceLimits } from '../../../shared/images/image-types.ts';
import { inspectImage } from '../../../shared/images/inspect-image.ts';
import { uploadLifetimeSeconds } from '../../../shared/images/upload.ts';
import { pngHeader } from '../../support/png.ts';

test('the limits are the service’s', () => {
  expect(referenceLimits).toEqual(serviceLimits);
  expect(uploadLifetimeMs).toBe(uploadLifetimeSeconds * 1000);
});

test('sizes are rounded up, so that what is above a limit never reads like it', () => {
  const megabyte = 1024 * 1024;
  const sizes = [1024, 1025, 10 * megabyte, 10 * megabyte + 1].map(formatFileSize);
  expect(sizes).toEqual(['1 KB', '2 KB', '10 MB', '10.1 MB']);
});

const blank = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: '#b4472b80' } });

const encoders: Record<string, (image: Sharp) => Sharp> = {
  png: (image) => image.png(),
  jpeg: (image) => image.jpeg(),
  'progressive jpeg': (image) => image.jpeg({ progressive: true }),
  webp: (image) => image.removeAlpha().webp(),
  'webp with transparency': (image) => image.webp(),
  'lossless webp': (image) => image.webp({ lossless: true }),
};

describe('a file is looked at by its bytes, and', () => {
  test.each(Object.keys(encoders))('a %s of any size is what the service says it is', async (kind) => {
    const side = fc.integer({ min: 64, max: 700 });
    const property = fc.asyncProperty(side, side, async (widthPx, heightPx) => {
      const bytes = await encoders[kind]!(blank(widthPx, heightPx)).toBuffer();
      const { format } = (inspectImage(bytes) as any).image;
      expect(inspectImage(bytes)).toMatchObject({ image: { widthPx, heightPx } });
      expect(await inspectFile(new Blob([bytes]))).toEqual({ picture: { format, widthPx, heightPx } });
    });
    await fc.assert(property, { numRuns: 12 });
  });

  test('a photo’s size is found behind whatever its camera wrote before it', async () => {
    const jpeg = await blank(300, 200).jpeg().toBuffer();
    const note = Buffer.alloc(65_535 + 2, 0x41);
    note.set([0xff, 0xed, 0xff, 0xff]);
    const photo = new Blob([jpeg.subarray(0, 2), note, note, note, jpeg.subarray(2)]);
    expect(await inspectFile(photo)).toEqual({ picture: { format: 'jpeg', widthPx: 300, heightPx: 200 } });
  });

  test.each<[string, string | Uint8Array, RegExp]>([
    ['an SVG', '\ufeff<?xml version="1.0"?>\n<!-- a --><svg xmlns="x"/>', /^SVG drawings can’t be used/],
    ['a GIF', 'GIF89a……', /^GIF images can’t be used/],
    ['a PDF', '%PDF-1.7', /^PDF/],
    ['a HEIC photo', '\0\0\0\x18ftypheic\0\0\0\0', /^HEIC photos can’t be used. Save it as JPEG/],
    ['an AVIF image', '\0\0\0\x18ftypavif\0\0\0\0', /^AVIF/],
    ['a page', '<html><body>svg</body></html>', /^It is not a PNG/],
    ['an empty file', '', /^It is empty/],
    ['the beginning of a PNG', pngHeader(64, 64).subarray(0, 20), /damaged/],
    ['the beginning of a JPEG', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16), /damaged/],
    ['the beginning of a WebP', 'RIFF\0\0\0\0WEBPVP8 ', /damaged/],
  ])('%s is refused with what to do', async (_, content, problem) => {
    const bytes = typeof content === 'string' ? content : new Uint8Array(content);
    const name = { type: 'image/png' };
    expect(await inspectFile(new Blob([bytes], name))).toEqual({ problem: expect.stringMatching(problem) });
  });

  test('a file above the limit is refused with its size', async () => {
    const png = await blank(64, 64).png().toBuffer();
    const padded = new Blob([png, new Uint8Array(referenceLimits.maxBytes - png.length)]);
    expect(await inspectFile(padded)).toHaveProperty('picture');
    expect(await inspectFile(new Blob([padded, 'x']))).toEqual({
      problem: 'It has 10.1 MB; at most 10 MB can be sent.',
    });
  });

  test.each([
    [64, 64, undefined],
    [8192, 4882, undefined],
    [63, 64, 'It has 63 × 64 pixels; each side needs at least 64.'],
    [8193, 64, 'It has 8193 × 64 pixels; a side may have at most 8192.'],
    [8192, 4883, 'It has 8192 × 4883 pixels; at most 40 megapixels can be used.'],
  ])('a picture of %d × %d is taken, or refused with its dimensions', async (width, height, problem) => {
    const found = await inspectFile(new Blob([pngHeader(width, height)]));
    expect('problem' in found ? found.problem : undefined).toBe(problem);
  });

  test('no bytes make it throw, and a file that can’t be read is named so', async () => {
    const starts = fc.constantFrom('89504e470d0a1a0a', 'ffd8ff', '52494646000000005745425056503820', '');
    const rest = fc.uint8Array({ maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(starts, rest, async (start, bytes) => {
        const found = await inspectFile(new Blob([Buffer.from(start, 'hex'), new Uint8Array(bytes)]));
        expect(Object.keys(found)).toHaveLength(1);
      }),
    );
    const folder = { size: 0, slice: () => ({ arrayBuffer: () => Promise.reject(new Error('a folder')) }) };
    expect(await inspectFile(folder as unknown as Blob)).toEqual({
      problem: expect.stringMatching(/^It can’t be read/),
    });
  });
});
