import { describe, expect, test } from '@jest/globals';
import { cleaned, part, problem, webpChunks, webpOf, type Part } from './samples.ts';

const fine = 'none: it was accepted';
const notWhole = 'must be whole: a part of it is missing';
const wrongHeader = 'must be undamaged: its image header is wrong';

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

function extended(width = 64, height = 64, flags = 0): Part {
  const data = Buffer.alloc(10);
  data.writeUInt8(flags);
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return part('VP8X', data);
}

/** Head: how the values were prepared (two bits), filtered (two bits) and compressed (two bits). */
const alpha = (head: number, length = 64 * 64) =>
  part('ALPH', Buffer.concat([Buffer.of(head), Buffer.alloc(length)]));
const sizeOf = async (webp: Buffer) => (await problem(webp)).replace(/^.*it is /, '');

describe('a lossy frame', () => {
  test('is of one of four versions', async () => {
    for (const version of [0, 1, 2, 3]) expect(await problem(webpOf([lossy({ version })]))).toBe(fine);
    for (const version of [4, 7]) expect(await problem(webpOf([lossy({ version })]))).toBe(wrongHeader);
  });

  test('has more bytes than its first partition', async () => {
    expect(await problem(webpOf([lossy({ partition: 3, rest: 4 })]))).toBe(fine);
    expect(await problem(webpOf([lossy({ partition: 4, rest: 4 })]))).toBe(notWhole);
    expect(await problem(webpOf([lossy({ partition: 2 ** 18, rest: 2 ** 18 })]))).toBe(notWhole);
    expect(await problem(webpOf([lossy({ partition: 2 ** 18, rest: 2 ** 18 + 1 })]))).toBe(fine);
  });

  test('has its size in 14 bits: the others only suggest a scale', async () => {
    const scaled = webpOf([lossy({ width: 0xc000 + 65, height: 0x4000 + 66 })]);
    expect(await problem(scaled)).toBe(fine);
    expect(await sizeOf(webpOf([lossy({ width: 0xffff, height: 0x4000 + 66 })]))).toBe('16383 × 66');
    expect(await sizeOf(webpOf([lossy({ width: 70, height: 0xffff })]))).toBe('70 × 16383');
  });
});

describe('a lossless frame', () => {
  test('has its size in 14 bits each, counted from one', async () => {
    expect(await problem(webpOf([lossless({ width: 64, height: 8192, alpha: 1 })]))).toBe(fine);
    expect(await sizeOf(webpOf([lossless({ width: 16384, height: 65 })]))).toBe('16384 × 65');
    expect(await sizeOf(webpOf([lossless({ width: 65, height: 16384 })]))).toBe('65 × 16384');
  });

  test('is of the first version', async () => {
    for (const version of [1, 2, 4, 7])
      expect(await problem(webpOf([lossless({ version })]))).toBe(wrongHeader);
  });

  test.each([0, 1])('says itself whether it has alpha: %i', async (has) => {
    const bytes = await cleaned(webpOf([extended(), lossless({ alpha: has })]));
    expect(webpChunks(bytes)[0]!.data[0]).toBe(has * 0x10);
  });
});

describe('the header of a WebP', () => {
  test('has the size of its image, in 24 bits each', async () => {
    for (const [width, height] of [
      [64, 64],
      [8192, 65],
      [65, 8192],
    ] as const) {
      const webp = webpOf([extended(width, height), lossy({ width, height })]);
      expect((await cleaned(webp)).equals(webp)).toBe(true);
    }
    for (const [width, height] of [
      [65, 64],
      [64, 65],
      [64 + 2 ** 16, 64],
      [64, 64 + 2 ** 16],
    ] as const) {
      expect(await problem(webpOf([extended(width, height), lossy()]))).toBe(
        'must be undamaged: its header and its image differ in size',
      );
    }
  });

  test.each([9, 11])('of %i bytes is of the wrong length', async (length) => {
    const data = Buffer.concat([extended().data, Buffer.alloc(1)]).subarray(0, length);
    expect(await problem(webpOf([part('VP8X', data), lossy()]))).toBe(
      'must be undamaged: its header has the wrong length',
    );
  });

  test('may carry any flag but the one for animation', async () => {
    for (const flag of [1, 4, 8, 0x10, 0x20, 0x40, 0x80])
      expect(await problem(webpOf([extended(64, 64, flag), lossy()]))).toBe(fine);
    expect(await problem(webpOf([extended(64, 64, 2), lossy()]))).toBe('must not be animated');
  });
});

describe('transparency beside a lossy frame', () => {
  const withAlpha = (one: Part) => webpOf([extended(64, 64, 0x10), one, lossy()]);

  test('has at least a byte a pixel where it is not compressed', async () => {
    expect(await problem(withAlpha(alpha(0, 64 * 64)))).toBe(fine);
    expect(await problem(withAlpha(alpha(0, 64 * 64 - 1)))).toBe(notWhole);
    expect(await problem(withAlpha(alpha(1, 1)))).toBe(fine);
    expect(await problem(withAlpha(part('ALPH')))).toBe(notWhole);
  });

  test('is compressed and prepared in one of two ways, and filtered in any', async () => {
    for (const head of [0, 1, 4, 8, 12, 16, 17, 29]) expect(await problem(withAlpha(alpha(head)))).toBe(fine);
    for (const head of [2, 3, 32, 48, 64, 128])
      expect(await problem(withAlpha(alpha(head)))).toBe('must be undamaged: its transparency is wrong');
  });

  test('is the first one only, and stays as it is', async () => {
    const [first, second] = [alpha(1, 3), alpha(1, 5)];
    const bytes = await cleaned(webpOf([extended(64, 64, 0x10), first, second, lossy()]));
    expect(bytes.equals(webpOf([extended(64, 64, 0x10), first, lossy()]))).toBe(true);
  });

  test('is not looked at beside a lossless frame, which holds its own', async () => {
    const bytes = await cleaned(webpOf([extended(64, 64, 0x10), alpha(2), lossless()]));
    expect(bytes.equals(webpOf([extended(), lossless()]))).toBe(true);
  });
});

describe('the chunks of a WebP', () => {
  test('of an odd length are followed by a byte that does not count', async () => {
    const odd = lossy({ rest: 5 });
    expect((await cleaned(webpOf([odd]))).equals(webpOf([odd]))).toBe(true);
    const bare = webpOf([odd]).subarray(0, -1);
    bare.writeUInt32LE(bare.length - 8, 4);
    expect(await problem(bare)).toBe(notWhole);
  });

  test('say in all how long the file is', async () => {
    const webp = await cleaned(
      webpOf([extended(64, 64, 0x10), alpha(1, 2), lossy({ rest: 5 }), part('EXIF', 'abc')]),
    );
    expect(webp.readUInt32LE(4)).toBe(webp.length - 8);
    expect(webp.toString('latin1', 0, 4) + webp.toString('latin1', 8, 12)).toBe('RIFFWEBP');
  });

  test('are told in the one byte that follows them', async () => {
    const webp = Buffer.concat([webpOf([lossy()]), Buffer.of(1)]);
    expect(await problem(webp)).toBe('must hold one image and nothing else: 1 byte follows its end');
  });
});
