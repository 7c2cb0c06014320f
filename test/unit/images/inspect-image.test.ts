import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import sharp from 'sharp';
import { referenceLimits } from '../../../shared/images/image-types.ts';
import { imageSize } from '../../../shared/images/image-size.ts';
import { inspectImage } from '../../../shared/images/inspect-image.ts';
import { pngHeader } from '../../support/png.ts';

const [width, height] = [120, 90];
const scene = () => sharp({ create: { width, height, channels: 4, background: '#b4472b80' } });
const opaque = () => scene().removeAlpha();

/** Every kind of file that people send, as an encoder writes it. */
const kinds = {
  'a PNG': opaque().png(),
  'a PNG with alpha': scene().png(),
  'a JPEG': opaque().jpeg(),
  'a progressive JPEG': opaque().jpeg({ progressive: true }),
  'a JPEG in CMYK': opaque().toColourspace('cmyk').jpeg(),
  'a JPEG with a color profile': opaque().withIccProfile('p3').jpeg(),
  'a lossy WebP': opaque().webp(),
  'a lossless WebP': opaque().webp({ lossless: true }),
  'a WebP with alpha': scene().webp(),
  'a WebP that is stored turned': opaque().withMetadata({ orientation: 6 }).webp(),
};
const files = new Map(
  await Promise.all(
    Object.entries(kinds).map(async ([kind, image]) => [kind, await image.toBuffer()] as const),
  ),
);
const [jpeg, png, webp] = [files.get('a JPEG')!, files.get('a PNG')!, files.get('a lossy WebP')!];
const frames = await Promise.all(
  ['red', 'blue'].map((background) => opaque().flatten({ background }).png().toBuffer()),
);
const animation = await sharp(frames, { join: { animated: true } })
  .webp()
  .toBuffer();
const [gif, avif] = await Promise.all([opaque().gif().toBuffer(), opaque().avif().toBuffer()]);

const text = (content: string) => Buffer.from(content, 'latin1');
const problem = (bytes: Uint8Array) => {
  const result = inspectImage(bytes);
  return 'problem' in result ? result.problem : null;
};
const sizeOf = (bytes: Uint8Array) => {
  const result = inspectImage(bytes);
  return 'problem' in result
    ? result.problem
    : [result.image.format, result.image.widthPx, result.image.heightPx];
};

test.each([...files])('%s has the size that its file stores', (kind, file) => {
  expect(sizeOf(file)).toEqual([/PNG|JPEG|WebP/.exec(kind)![0].toLowerCase(), width, height]);
});

test('a file that lies within a larger buffer is read in its own bounds', () => {
  for (const file of [jpeg, png, webp]) {
    const around = Buffer.concat([text('before'), file, text('after')]);
    expect(sizeOf(new Uint8Array(around.buffer, around.byteOffset + 6, file.length))).toEqual(sizeOf(file));
  }
});

/** What every decoder passes over, and so does the service. */
const before = (bytes: Buffer) => Buffer.concat([jpeg.subarray(0, 20), bytes, jpeg.subarray(20)]);
test.each([
  [
    'a motion photo: a video behind a JPEG',
    Buffer.concat([jpeg, text('\0\0\0\x18ftypmp42'), Buffer.alloc(5000)]),
  ],
  ['a second JPEG behind the first', Buffer.concat([jpeg, jpeg])],
  ['a line break behind a PNG', Buffer.concat([png, text('\r\n')])],
  ['fill bytes before a marker', before(Buffer.alloc(9, 0xff))],
  ['strays between segments', before(text('\0\0stray'))],
  [
    'a camera’s notes of many kilobytes',
    before(Buffer.concat([text('\xff\xe1\xff\xff'), Buffer.alloc(65_533)])),
  ],
  ['an animation', animation],
])('%s is taken', (_what, file) => expect(problem(file)).toBeNull());

describe('a file that is no PNG, JPEG or WebP', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a cut signature', text('\x89PNG\r\n\x1a')],
    ['HTML', text('<!doctype html><img src=x onerror=alert(1)>')],
    ['SVG', text('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['GIF', gif],
    ['AVIF', avif],
    ['HEIC', text('\0\0\0\x18ftypheic')],
    ['sound in RIFF', text('RIFF\x24\0\0\0WAVEfmt ')],
    ['a PNG spoiled by a text transfer', Buffer.concat([text('\x89PNG\n\x1a\n'), png.subarray(8)])],
    ['HTML before a PNG', Buffer.concat([text('<b>'), png])],
  ])('%s is refused as such', (_what, bytes) =>
    expect(problem(bytes)).toBe('must be a PNG, JPEG or WebP image'),
  );
});

test.each([
  ['a JPEG that ends before its size', jpeg.subarray(0, 100)],
  ['a JPEG whose image data comes before its size', text('\xff\xd8\xff\xda\0\x0c' + '\0'.repeat(99))],
  [
    'a JPEG of fill bytes alone',
    Buffer.concat([text('\xff\xd8'), Buffer.alloc(referenceLimits.maxBytes - 2, 0xff)]),
  ],
  ['a JPEG of segments without a length', text('\xff\xd8' + '\xff\xe0\0\0'.repeat(1000))],
  ['a PNG that ends before its size', png.subarray(0, 20)],
  [
    'a PNG that begins with another chunk',
    Buffer.concat([png.subarray(0, 12), text('CgBI'), png.subarray(16)]),
  ],
  ['a WebP that ends before its size', webp.subarray(0, 29)],
  [
    'a WebP that begins with another chunk',
    Buffer.concat([webp.subarray(0, 12), text('EXIF'), webp.subarray(16)]),
  ],
])('%s is refused', (_what, bytes) =>
  expect(problem(bytes)).toBe("must be undamaged: its size can't be read"),
);

describe('the frame of a JPEG', () => {
  /** A segment, which says 120 × 90 pixels where it is a frame. */
  const segment = (marker: number) => `\xff${String.fromCharCode(marker)}\0\x09\x08\0\x5a\0\x78\0\0`;
  const sizeIn = (...parts: string[]) => imageSize('jpeg', text(`\xff\xd8${parts.join('')}`));
  const size = { widthPx: 120, heightPx: 90 };
  const frame = segment(0xc0);

  test('is of 13 kinds', () => {
    const found = Array.from({ length: 256 }, (_, marker) => marker).filter((marker) =>
      sizeIn(segment(marker)),
    );
    expect(found.map((marker) => marker.toString(16)).join(' ')).toBe(
      'c0 c1 c2 c3 c5 c6 c7 c9 ca cb cd ce cf',
    );
  });

  test.each([
    ['markers without a length', ['\xff\x01', '\xff\xd0', '\xff\xd7', '\xff\xd8']],
    ['fill bytes', ['\xff', '\xff\xff']],
    ['an 0xff that is no marker', ['\xff\0']],
    ['a frame within a segment', ['\xff\xe1\0\x0b\xff\xc0\0\x09\x08\0\x01\0\x01', '\xff\x02\0\x04\xff\xc1']],
  ])('is found behind %s', (_what, parts) => {
    for (const part of parts) expect([part, sizeIn(part, frame)]).toEqual([part, size]);
  });

  test.each([
    ['the end', '\xff\xd9\0\x02'],
    ['its data', '\xff\xda\0\x02'],
  ])('is not looked for behind %s of the image', (_what, part) => expect(sizeIn(part, frame)).toBeNull());
});

test('a PNG has its size in its first 24 bytes', () => {
  expect(imageSize('png', png.subarray(0, 24))).toEqual({ widthPx: width, heightPx: height });
  expect(imageSize('png', png.subarray(0, 23))).toBeNull();
});

test('the size in bytes is at most 10 MiB, to the byte, and judged before all else', () => {
  const padded = Buffer.concat([png, Buffer.alloc(referenceLimits.maxBytes - png.length)]);
  expect(problem(padded)).toBeNull();
  const said = 'must be at most 10 MiB; it is 10,485,761 bytes';
  expect(problem(Buffer.concat([padded, Buffer.alloc(1)]))).toBe(said);
  expect(problem(Buffer.alloc(referenceLimits.maxBytes + 1))).toBe(said);
});

describe('the size in pixels', () => {
  const headers: ((widthPx: number, heightPx: number) => Uint8Array | null)[] = [
    pngHeader,
    (widthPx, heightPx) => {
      const file = text('\xff\xd8\xff\xc0\0\x11\x08\0\0\0\0');
      if (Math.max(widthPx, heightPx) > 0xffff) return null;
      file.writeUInt16BE(heightPx, 7);
      file.writeUInt16BE(widthPx, 9);
      return file;
    },
    (widthPx, heightPx) => {
      const file = text('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0' + '\0'.repeat(10));
      if (Math.min(widthPx, heightPx) < 1 || Math.max(widthPx, heightPx) > 2 ** 24) return null;
      file.writeUIntLE(widthPx - 1, 24, 3);
      file.writeUIntLE(heightPx - 1, 27, 3);
      return file;
    },
  ];
  const outside = (size: string) => `must be 64 to 8192 pixels wide and high; it is ${size}`;
  const tooMany = (size: string) => `must have at most 40 megapixels; it is ${size}`;

  test.each([
    [64, 64, null],
    [8192, 4882, null],
    [8000, 5000, null],
    [4882, 8192, null],
    [0, 64, outside],
    [63, 64, outside],
    [64, 63, outside],
    [8193, 64, outside],
    [64, 8193, outside],
    [2 ** 24, 64, outside],
    [64, 2 ** 24, outside],
    [2 ** 32 - 1, 64, outside],
    [8192, 4883, tooMany],
    [6325, 6325, tooMany],
  ])('%i × %i is judged by the limits, in every format', (widthPx, heightPx, said) => {
    const made = headers.flatMap((header) => header(widthPx, heightPx) ?? []);
    expect(made.length).toBeGreaterThan(0);
    for (const file of made) expect(problem(file)).toBe(said && said(`${widthPx} × ${heightPx}`));
  });
});

test('whatever the bytes, the answer is a size within the limits or the end of a sentence', () => {
  const starts = ['', '\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR', '\xff\xd8\xff', 'RIFF\x40\0\0\0WEBPVP8'].map(text);
  const anyStart = fc
    .tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 300 }))
    .map((parts) => Buffer.concat(parts));
  const anyChange = fc
    .tuple(fc.constantFrom(jpeg, png, webp), fc.nat(700), fc.uint8Array({ maxLength: 8 }))
    .map(([file, at, bytes]) => Buffer.concat([file.subarray(0, at), bytes, file.subarray(at + 4)]));
  const { minSidePx, maxSidePx } = referenceLimits;
  fc.assert(
    fc.property(fc.oneof(anyStart, anyChange), (bytes) => {
      const result = inspectImage(bytes);
      if ('problem' in result) return /^must (be|have) [^\n]{5,90}$/.test(result.problem);
      const { widthPx, heightPx } = result.image;
      return [widthPx, heightPx].every((side) => side >= minSidePx && side <= maxSidePx);
    }),
    { numRuns: 2000 },
  );
});
