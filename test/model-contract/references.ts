import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import { drawn, meanDifference, orientations, plain, pngOf, type Orientation, type Scene } from './images.ts';
import type { Changes, ContractFixture, Picture } from './fixture.ts';

/** Four quarters of different colors, so that no two orientations look alike. */
const seen: Scene = (x, y) => [x < 90 ? 220 : 40, y < 50 ? 190 : 60, x < 90 && y < 50 ? 30 : 120];
const size = [200, 120] as const;
const whole = (): Sharp => drawn(seen, ...size);
const turned = (orientation: Orientation): Sharp =>
  drawn(seen, ...size, orientation).withMetadata({ orientation });
const encoders = {
  PNG: (image: Sharp) => image.png(),
  JPEG: (image: Sharp) => image.jpeg({ quality: 100, chromaSubsampling: '4:4:4' }),
  WebP: (image: Sharp) => image.webp({ lossless: true }),
};
const cmyk = whole().toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 100 });

function chunk(name: string, data: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(name), data, Buffer.alloc(4)]);
  bytes.writeUInt32BE(data.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}

/** Puts the first frame's chunks before a PNG's image data, and those of a second one, which is as small as can be, behind. */
async function animatedPng(): Promise<Buffer> {
  const file = await pngOf(whole());
  const [data, end] = [file.indexOf('IDAT') - 4, file.indexOf('IEND') - 4];
  const frame = (number: number, width: number, height: number): Buffer => {
    const control = Buffer.alloc(26);
    for (const [i, value] of [number, width, height].entries()) control.writeUInt32BE(value, i * 4);
    control.writeUInt16BE(1, 20);
    return chunk('fcTL', control);
  };
  const dot = await pngOf(plain('#00f', 1));
  const pixels = dot.subarray(dot.indexOf('IDAT') + 4, dot.indexOf('IEND') - 8);
  const start = [chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])), frame(0, 200, 120)];
  const second = [frame(1, 1, 1), chunk('fdAT', Buffer.concat([Buffer.from([0, 0, 0, 2]), pixels]))];
  return Buffer.concat([
    file.subarray(0, data),
    ...start,
    file.subarray(data, end),
    ...second,
    file.subarray(end),
  ]);
}

/** A PNG with a text whose checksum is wrong. */
async function wrongText(): Promise<Buffer> {
  const [file, text] = [await pngOf(whole()), chunk('tEXt', Buffer.from('Comment\0made by hand'))];
  text[text.length - 1]! ^= 1;
  return Buffer.concat([file.subarray(0, 33), text, file.subarray(33)]);
}

const kinds: [string, () => Promise<Buffer>][] = [
  ['a progressive JPEG', () => encoders.JPEG(whole()).jpeg({ progressive: true }).toBuffer()],
  ['a PNG of 16 bits', () => whole().toColourspace('rgb16').png().toBuffer()],
  ['a PNG with a palette', () => whole().png({ palette: true, colours: 16 }).toBuffer()],
  ['an interlaced PNG', () => whole().png({ progressive: true }).toBuffer()],
  ['the first frame of an animated PNG', animatedPng],
  [
    'the first frame of an animated WebP',
    async () =>
      sharp(await Promise.all([whole(), plain('#00f', ...size)].map(pngOf)), { join: { animated: true } })
        .webp({ lossless: true })
        .toBuffer(),
  ],
  [
    'a motion photo: a JPEG with a video behind it',
    async () =>
      Buffer.concat([
        await encoders.JPEG(turned(6)).toBuffer(),
        Buffer.from('\0\0\0\x18ftypmp42'),
        Buffer.alloc(5000),
      ]),
  ],
  ['a PNG with a text of a wrong checksum', wrongText],
];

export function referenceCases(fixture: ContractFixture): void {
  const generate = async (files: Buffer[], changes: Changes): Promise<Picture> => {
    const places = await Promise.all(files.map((file) => fixture.store.file(file)));
    const references = places.map(({ url }) => ({ url }));
    return (await fixture.generate({ references, ...changes })).pictures[0]!;
  };

  describe.each(['reference', 'exact_product'] as const)('in mode %s', (referenceMode) => {
    const seenOf = async (...files: Buffer[]): Promise<Buffer> =>
      (await generate(files, { referenceMode })).pixels;
    let png: Buffer;
    let upright: Buffer;
    /** How far a picture is off at least when one of its three references is not upright. */
    let different: number;
    beforeAll(async () => {
      png = await pngOf(whole());
      upright = await seenOf(png, png, png);
      const wrong = ([2, 3, 4] as const).map(async (orientation, place) => {
        const files = [png, png, png].with(place, await pngOf(drawn(seen, ...size, orientation)));
        return meanDifference(upright, await seenOf(...files));
      });
      different = Math.min(...(await Promise.all(wrong)));
    });

    test.each(orientations)('PNG, JPEG and WebP of orientation %i are upright', async (orientation) => {
      const files = Object.values(encoders).map((encode) => encode(turned(orientation)).toBuffer());
      const pixels = await seenOf(...(await Promise.all(files)));
      expect(meanDifference(upright, pixels)).toBeLessThan(different / 2);
    });

    test.each(kinds)('%s is seen as it is shown', async (_what, make) => {
      expect(meanDifference(upright, await seenOf(await make(), png, png))).toBeLessThan(different / 2);
    });

    test('a JPEG in CMYK is seen in the colors of its profile', async () => {
      const file = await cmyk.toBuffer();
      const inRgb = await pngOf(sharp(file).toColourspace('srgb'));
      const [one, other] = [await seenOf(file, png, png), await seenOf(inRgb, png, png)];
      expect(meanDifference(one, other)).toBeLessThan(different / 2);
    });

    test.each([false, true])(
      'nothing that a photo says of itself is in an image (with parameters: %s)',
      async (embedParameters) => {
        const secret = 'N 48.2082 E 16.3738, Secret Camera';
        const exif = {
          IFD0: { Make: secret, ImageDescription: secret },
          IFD3: { GPSAreaInformation: secret },
        };
        const photo = whole()
          .withExifMerge(exif)
          .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${secret}</x:xmpmeta>`);
        for (const outputFormat of ['png', 'webp', 'jpeg'] as const) {
          const file = await photo.clone().toFormat(outputFormat).toBuffer();
          expect(file.includes(secret)).toBe(true);
          // Any metadata beside XMP is refused as the picture is read.
          const {
            xmp,
            file: output,
            preview,
          } = await generate([file], { referenceMode, outputFormat, embedParameters });
          for (const said of [JSON.stringify(xmp), output, preview.file])
            expect(said.includes('Secret Camera')).toBe(false);
        }
      },
    );
  });
}
