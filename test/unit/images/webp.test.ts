import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import {
  accepted,
  cleaned,
  decode,
  each,
  notWhole,
  part,
  planted,
  problem,
  realFile,
  testCleaned,
  testProblems,
  webpChunks,
  webpOf,
  type Part,
} from './samples.ts';

interface Lossy {
  width?: number;
  height?: number;
  version?: number;
  /** What its first partition is said to take. */
  partition?: number;
  /** What follows its header. */
  rest?: number;
}

/** RFC 6386, 9.1. */
function lossy({ width = 64, height = 64, version = 0, partition = 3, rest = 4 }: Lossy = {}): Part {
  const data = Buffer.alloc(10 + rest);
  data.writeUIntLE((version << 1) | (1 << 4) | (partition << 5), 0, 3);
  data.writeUIntBE(0x9d012a, 3, 3);
  data.writeUInt16LE(width, 6);
  data.writeUInt16LE(height, 8);
  return part('VP8 ', data);
}

/** RFC 9649, 3.4. */
function lossless({ width = 64, height = 64, alpha = 0, version = 0 } = {}): Part {
  const data = Buffer.alloc(6);
  data.writeUInt8(0x2f);
  data.writeUInt32LE((width - 1 + (height - 1) * 2 ** 14 + alpha * 2 ** 28 + version * 2 ** 29) >>> 0, 1);
  return part('VP8L', data);
}

function extended({ width = 64, height = 64, flags = 0 } = {}): Part {
  const data = Buffer.alloc(10);
  data.writeUInt8(flags);
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return part('VP8X', data);
}

/** Head: how the values were prepared (two bits), filtered (two bits) and compressed (two bits). */
const alpha = (head: number, length = 64 * 64) =>
  part('ALPH', Buffer.concat([Buffer.of(head), Buffer.alloc(length)]));
const withAlpha = (one: Part) => webpOf([extended({ flags: 0x10 }), one, lossy()]);

/** A chunk with one of its bytes changed. */
function changed({ name, data }: Part, at: number, change: (byte: number) => number): Part {
  const copy = Buffer.from(data);
  copy[at] = change(copy[at]!);
  return part(name, copy);
}

/** A lossy picture of 34 bytes in a file that says another length. */
function ofLength(length: number): Buffer {
  const webp = webpOf([lossy()]);
  webp.writeUInt32LE(length, 4);
  return webp;
}

/** A picture whose only chunk has an odd length, and no byte behind it. */
function oddWithoutPadding(): Buffer {
  const bare = webpOf([lossy({ rest: 5 })]).subarray(0, -1);
  bare.writeUInt32LE(bare.length - 8, 4);
  return bare;
}

const layered = await realFile('a WebP with alpha and a color profile');
const realLossy = await realFile('a lossy WebP');
const realLossless = await realFile('a lossless WebP');
const [head, profile, alphaOfReal, image] = webpChunks(layered) as [Part, Part, Part, Part];
const names = (webp: Buffer) => webpChunks(webp).map(({ name }) => name);

test('a WebP cut off anywhere is not whole, also where its length is made to fit', async () => {
  for (const webp of [realLossy, realLossless, layered]) {
    for (let length = 12; length < webp.length; length += length < 200 ? 1 : 37) {
      expect(await problem(webp.subarray(0, length))).toBe(notWhole);
      const fitted = Buffer.from(webp.subarray(0, length));
      fitted.writeUInt32LE(length - 8, 4);
      // Layers end at the end of a chunk, before the image comes.
      expect(await problem(fitted)).toBe(notWhole);
    }
  }
});

test('a WebP as an encoder animates it is animated', async () => {
  const frames = await sharp([realLossy, realLossless], { join: { animated: true } })
    .webp()
    .toBuffer();
  expect(names(frames)).toContain('ANMF');
  expect(await problem(frames)).toBe('must not be animated');
});

describe('of a WebP is said', () => {
  const sizes = 'must be 64 to 8192 pixels wide and high; it is';
  const follow = (many: string) => `must hold one image and nothing else: ${many} its end`;
  testProblems({
    [accepted]: {
      ...each('a lossy frame of version', [0, 1, 2, 3], (version) => webpOf([lossy({ version })])),
      'a byte more than the first partition': webpOf([lossy({ partition: 2 ** 18, rest: 2 ** 18 + 1 })]),
      'a lossy size with bits that only suggest a scale': webpOf([
        lossy({ width: 0xc000 + 65, height: 0x4000 + 66 }),
      ]),
      'a lossless size of 64 × 8192': webpOf([lossless({ width: 64, height: 8192, alpha: 1 })]),
      ...each('the flag', [1, 4, 8, 0x10, 0x20, 0x40, 0x80], (flags) =>
        webpOf([extended({ flags }), lossy()]),
      ),
      'a byte of transparency for each pixel': withAlpha(alpha(0, 64 * 64)),
      'a byte of transparency that is compressed': withAlpha(alpha(1, 1)),
      ...each('transparency with the head', [0, 1, 4, 8, 12, 16, 17, 29], (one) => withAlpha(alpha(one))),
    },
    [notWhole]: {
      'no image': webpOf([extended()]),
      nothing: webpOf([]),
      ...each('more than there is, a length of', [27, 0x7fffffff, 0xffffffff], ofLength),
      'no more than the first partition': webpOf([lossy({ partition: 4, rest: 4 })]),
      'no more than a large partition': webpOf([lossy({ partition: 2 ** 18, rest: 2 ** 18 })]),
      'a pixel without transparency': withAlpha(alpha(0, 64 * 64 - 1)),
      'empty transparency': withAlpha(part('ALPH')),
      'no byte behind a chunk of an odd length': oddWithoutPadding(),
    },
    [follow('4 bytes follow')]: {
      'a ZIP': Buffer.concat([webpOf([lossy()]), Buffer.from('PK\x05\x06')]),
    },
    [follow('1 byte follows')]: {
      'one more': Buffer.concat([webpOf([lossy()]), Buffer.of(1)]),
      'a length of one less': ofLength(25),
    },
    [follow('15 bytes follow')]: { 'a length of 11': ofLength(11) },
    [follow('22 bytes follow')]: { 'a length of 4': ofLength(4) },
    [follow('26 bytes follow')]: { 'a length of 0': ofLength(0) },
    'must not be animated': {
      ANIM: webpOf([extended(), part('ANIM', Buffer.alloc(6)), lossy()]),
      ANMF: webpOf([extended(), part('ANMF', Buffer.alloc(26))]),
      'ANMF behind its image': webpOf([lossy(), part('ANMF', Buffer.alloc(26))]),
      'the flag for it': webpOf([extended({ flags: 2 }), lossy()]),
    },
    'must hold one image and nothing else: it holds a second one': {
      'of the same kind': webpOf([lossy(), lossy()]),
      'of another kind': webpOf([lossy(), lossless()]),
    },
    'must be undamaged: it does not start with its image or its header': {
      'something else first': webpOf([part('JUNK', planted), lossy()]),
    },
    'must be undamaged: its chunks are in the wrong order': {
      'two headers': webpOf([extended(), extended(), lossy()]),
      'a header behind its image': webpOf([lossy(), extended()]),
    },
    'must be undamaged: its header has the wrong length': each('bytes:', [9, 11], (length) => {
      const data = Buffer.concat([extended().data, Buffer.alloc(1)]);
      return webpOf([part('VP8X', data.subarray(0, length)), lossy()]);
    }),
    'must be undamaged: its header and its image differ in size': each(
      'a header of',
      [{ width: 65 }, { height: 65 }, { width: 64 + 2 ** 16 }, { height: 64 + 2 ** 16 }],
      (size) => webpOf([extended(size), lossy()]),
    ),
    'must be undamaged: its image header is wrong': {
      'a frame that depends on another': webpOf([changed(lossy(), 0, (byte) => byte | 1)]),
      'a frame that is not shown': webpOf([changed(lossy(), 0, (byte) => byte & ~16)]),
      'another start code': webpOf([changed(lossy(), 3, () => 0)]),
      'another lossless signature': webpOf([changed(lossless(), 0, () => 0)]),
      ...each('a lossy frame of version', [4, 7], (version) => webpOf([lossy({ version })])),
      ...each('a lossless frame of version', [1, 2, 4, 7], (version) => webpOf([lossless({ version })])),
    },
    'must be undamaged: its transparency is wrong': each('the head', [2, 3, 32, 48, 64, 128], (one) =>
      withAlpha(alpha(one)),
    ),
    [`${sizes} 0 × 90`]: { lossy: webpOf([lossy({ width: 0, height: 90 })]) },
    [`${sizes} 16383 × 66`]: { lossy: webpOf([lossy({ width: 0xffff, height: 0x4000 + 66 })]) },
    [`${sizes} 70 × 16383`]: { lossy: webpOf([lossy({ width: 70, height: 0xffff })]) },
    [`${sizes} 16384 × 65`]: { lossless: webpOf([lossless({ width: 16384, height: 65 })]) },
    [`${sizes} 65 × 16384`]: { lossless: webpOf([lossless({ width: 65, height: 16384 })]) },
    'must have at most 40 megapixels; it is 8192 × 8192': {
      lossy: webpOf([lossy({ width: 8192, height: 8192 })]),
    },
  });
});

describe('of the chunks of a WebP', () => {
  /** A header with every flag but the one for animation, and all that is reserved. */
  const full = part('VP8X', Buffer.concat([Buffer.from([0xfd, 255, 255, 255]), head.data.subarray(4)]));
  const flagged = (flags: number) => changed(head, 0, () => flags);
  const stay = (...chunks: Part[]): [Buffer, Buffer] => [webpOf(chunks), webpOf(chunks)];
  const [first, second] = [alpha(1, 3), alpha(1, 5)];
  const hasAlpha = extended({ flags: 0x10 });

  testCleaned({
    ...each('go, wherever they stand:', ['EXIF', 'XMP ', 'JUNK', 'VP8Z', 'PK\x05\x06'], (name) => {
      const text = part(name, `${planted}!`);
      return [webpOf([flagged(0x3c), text, profile, alphaOfReal, image, text]), layered];
    }),
    'text behind an image without a header goes': [
      webpOf([lossy(), part('EXIF', planted)]),
      webpOf([lossy()]),
    ],
    'layers behind the image go': [webpOf([head, image, profile, alphaOfReal]), webpOf([flagged(0), image])],
    'layers without a header go': [webpOf([lossy(), profile, alphaOfReal]), webpOf([lossy()])],
    'a profile that is none goes': [
      webpOf([head, part('ICCP', planted.repeat(9)), image]),
      webpOf([flagged(0), image]),
    ],
    'the order becomes that of the format': [webpOf([head, alphaOfReal, profile, image]), layered],
    'flags name what is left: nothing': [webpOf([full, image]), webpOf([flagged(0), image])],
    'flags name what is left: a profile': [
      webpOf([full, profile, image]),
      webpOf([flagged(0x20), profile, image]),
    ],
    'flags name what is left: transparency': [
      webpOf([full, alphaOfReal, image]),
      webpOf([flagged(0x10), alphaOfReal, image]),
    ],
    'flags name what is left: both': [
      webpOf([full, profile, alphaOfReal, image]),
      webpOf([flagged(0x30), profile, alphaOfReal, image]),
    ],
    'flags name the alpha of a lossless image': [
      webpOf([extended(), lossless({ alpha: 1 })]),
      webpOf([hasAlpha, lossless({ alpha: 1 })]),
    ],
    'flags name no alpha of a lossless image without it': stay(extended(), lossless()),
    'transparency beside a lossless image, which holds its own, goes unseen': [
      webpOf([hasAlpha, alpha(2), lossless()]),
      webpOf([extended(), lossless()]),
    ],
    'the first transparency stays alone': [
      webpOf([hasAlpha, first, second, lossy()]),
      webpOf([hasAlpha, first, lossy()]),
    ],
    ...each('sizes stay:', [{}, { width: 8192, height: 65 }, { width: 65, height: 8192 }], (size) =>
      stay(extended(size), lossy(size)),
    ),
    'a byte behind an odd length does not count': stay(lossy({ rest: 5 })),
    'lengths and padding come out right': [
      webpOf([hasAlpha, alpha(1, 2), lossy({ rest: 5 }), part('EXIF', 'abc')]),
      webpOf([hasAlpha, alpha(1, 2), lossy({ rest: 5 })]),
    ],
  });

  test('a padding that hides a byte comes out as zero, and the picture is shown', async () => {
    const [{ data }] = webpChunks(realLossy) as [Part];
    const padded = webpOf([part('VP8 ', Buffer.concat([data, Buffer.alloc(1 + (data.length % 2))]))]);
    padded[padded.length - 1] = 0x50;
    const clean = await cleaned(padded);
    expect(clean.at(-1)).toBe(0);
    expect((await decode(clean)).width).toBe(120);
  });
});
