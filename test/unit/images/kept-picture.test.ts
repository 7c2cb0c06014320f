import { describe, expect, test } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import { orientationOnly } from '../../../shared/images/exif-orientation.ts';
import { inspectImage } from '../../../shared/images/inspect-image.ts';
import { segment, withSegments } from './jpeg-parts.ts';
import { cleaned, decode, height, isStable, planted, realFile, realFiles, width } from './samples.ts';

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

  test('is that of the first EXIF segment', async () => {
    const [turned, other] = [8, 3].map((value) => segment(0xe1, orientationOnly(value)));
    const original = withSegments(await realFile('a JPEG of 4:2:0'), turned!, other!);
    expect((await decode(await cleaned(original))).orientation).toBe(8);
  });
});
