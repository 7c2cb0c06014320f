import { describe, expect, test } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import { inspectImage } from '../../../../shared/domain/images/inspect-image.ts';
import {
  cleaned,
  decode,
  height,
  isStable,
  planted,
  realFile,
  realFiles,
  segment,
  width,
  withSegments,
} from './samples.ts';

const metadata = (image: Sharp, orientation: number) =>
  image
    .withMetadata({ orientation })
    .withExifMerge({
      IFD0: { ImageDescription: planted, Copyright: planted },
      IFD3: { GPSAreaInformation: planted },
    })
    .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${planted}</x:xmpmeta>`);

describe.each(Object.keys(realFiles))('%s', (name) => {
  test('is accepted with its size, and shows the same pixels and color profile once cleaned', async () => {
    const original = await realFile(name);
    const result = await inspectImage(original);
    if ('problem' in result) throw new Error(result.problem);
    const { image } = result;
    const seen = await decode(original);
    expect([image.format, image.widthPx, image.heightPx]).toEqual([seen.format, width, height]);
    expect(await decode(image.bytes)).toEqual(seen);
    expect(await isStable(image.bytes)).toBe(true);
    expect(image.bytes.length).toBeLessThanOrEqual(original.length);
  });

  test('loses EXIF, GPS and XMP, and nothing of the picture', async () => {
    const original = await metadata(realFiles[name]!(), 1).toBuffer();
    expect(original.includes(planted)).toBe(true);
    const bytes = await cleaned(original);
    expect(bytes.includes(planted)).toBe(false);
    const [before, after] = [await decode(original), await decode(bytes)];
    expect({ ...after, orientation: 1 }).toEqual(before);
  });
});

describe('the orientation of a JPEG', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('%i is kept, alone', async (orientation) => {
    const original = await metadata(realFiles['a JPEG of 4:2:0']!(), orientation).toBuffer();
    const bytes = await cleaned(original);
    expect((await decode(bytes)).orientation ?? 1).toBe(orientation);
    expect(bytes.includes(planted)).toBe(false);
    expect(bytes.includes('Exif')).toBe(orientation !== 1);
    const upright = (file: Buffer) => sharp(file).autoOrient().raw().toBuffer();
    expect((await upright(bytes)).equals(await upright(original))).toBe(true);
    expect(await isStable(bytes)).toBe(true);
  });

  /** Tag, type, count and value of one entry, as an EXIF segment in Intel's order. */
  const exif = (tag: number, type: number, count: number, value: number) => {
    const tiff = Buffer.from('II*\0\x08\0\0\0\x01\0' + '\0'.repeat(16), 'latin1');
    tiff.writeUInt16LE(tag, 10);
    tiff.writeUInt16LE(type, 12);
    tiff.writeUInt32LE(count, 14);
    tiff.writeUInt16LE(value, 18);
    return segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff]));
  };

  test('is read in Intel byte order too, and from the first EXIF segment', async () => {
    const original = withSegments(
      await realFile('a JPEG of 4:2:0'),
      exif(0x112, 3, 1, 8),
      exif(0x112, 3, 1, 3),
    );
    expect((await decode(await cleaned(original))).orientation).toBe(8);
  });

  test.each([
    ['of another type', exif(0x112, 4, 1, 6)],
    ['given twice', exif(0x112, 3, 2, 6)],
    ['of 0', exif(0x112, 3, 1, 0)],
    ['of 9', exif(0x112, 3, 1, 9)],
    ['under another tag', exif(0x113, 3, 1, 6)],
    ['in a directory that is cut short', exif(0x112, 3, 1, 6).subarray(0, -2)],
    ['behind a directory far away', segment(0xe1, 'Exif\0\0MM\0*\xff\xff\xff\xff')],
    ['in no byte order', segment(0xe1, 'Exif\0\0XX\0*\0\0\0\x08')],
    ['in nothing', segment(0xe1, 'Exif\0\0')],
  ])('%s is no orientation and does no harm', async (_what, bytes) => {
    const exifSegment = Buffer.from(bytes);
    exifSegment.writeUInt16BE(exifSegment.length - 2, 2);
    const plain = await realFile('a JPEG of 4:2:0');
    expect((await cleaned(withSegments(plain, exifSegment))).equals(await cleaned(plain))).toBe(true);
  });
});
