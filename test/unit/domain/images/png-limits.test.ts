import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import {
  cleaned,
  header,
  imageData,
  part,
  pngChunks,
  pngOf,
  problem,
  smallPng,
  type Part,
} from './samples.ts';

const fine = 'none: it was accepted';
const end = part('IEND');
const wrongPalette = 'must be undamaged: its palette is wrong';
const channels: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const palette = (colors: number) => part('PLTE', Buffer.alloc(colors * 3));

/** A PNG of 64 × 64 with these chunks before its image data. */
function pngWith({ colorType = 0, bitDepth = 8 }, ...before: Part[]): Buffer {
  const rowBytes = 1 + (64 * channels[colorType]! * bitDepth) / 8;
  return pngOf([header(64, 64, { colorType, bitDepth }), ...before, imageData(64 * rowBytes), end]);
}

async function isKept(kind: { colorType?: number; bitDepth?: number }, ...before: Part[]): Promise<boolean> {
  const names = pngChunks(await cleaned(pngWith(kind, ...before))).map(({ name }) => name);
  return names.includes(before.at(-1)!.name);
}

describe('a palette', () => {
  test.each([
    [1, 2],
    [2, 4],
    [4, 16],
    [8, 256],
  ])('of %i bits has at most %i colors', async (bitDepth, most) => {
    const kind = { colorType: 3, bitDepth };
    expect(await problem(pngWith(kind, palette(most)))).toBe(fine);
    expect(await problem(pngWith(kind, palette(most + 1)))).toBe(wrongPalette);
    expect(await isKept(kind, palette(1))).toBe(true);
  });

  test('that only suggests colors has at most 256, and goes', async () => {
    for (const colorType of [2, 6]) {
      expect(await problem(pngWith({ colorType }, palette(256)))).toBe(fine);
      expect(await problem(pngWith({ colorType }, palette(257)))).toBe(wrongPalette);
      expect(await isKept({ colorType }, palette(2))).toBe(false);
    }
    expect(await problem(pngWith({ colorType: 0, bitDepth: 1 }, palette(256)))).toBe(fine);
  });

  test.each([1, 2, 4, 5])('of %i bytes is of no whole colors', async (length) => {
    expect(await problem(pngWith({ colorType: 3 }, part('PLTE', Buffer.alloc(length))))).toBe(wrongPalette);
  });
});

describe('transparency', () => {
  const shades = (length: number) => part('tRNS', Buffer.alloc(length));

  test.each([
    [0, 2],
    [2, 6],
  ])('of color type %i has exactly %i bytes', async (colorType, length) => {
    expect(await isKept({ colorType }, shades(length))).toBe(true);
    for (const wrong of [0, length - 1, length + 1, 8 - length])
      expect(await isKept({ colorType }, shades(wrong))).toBe(false);
  });

  test('of a palette has one byte for each color or fewer, but one', async () => {
    for (const length of [1, 2, 3])
      expect(await isKept({ colorType: 3 }, palette(3), shades(length))).toBe(true);
    for (const length of [0, 4])
      expect(await isKept({ colorType: 3 }, palette(3), shades(length))).toBe(false);
  });
});

describe('what says what the colors mean stays in its right length only:', () => {
  test.each([
    ['gAMA', 4],
    ['cICP', 4],
    ['cHRM', 32],
  ])('%s of %i bytes', async (name, length) => {
    expect(await isKept({}, part(name, Buffer.alloc(length)))).toBe(true);
    for (const wrong of [0, length - 1, length + 1])
      expect(await isKept({}, part(name, Buffer.alloc(wrong)))).toBe(false);
  });

  test('sRGB with one of its four intents', async () => {
    for (const intent of [0, 1, 2, 3]) expect(await isKept({}, part('sRGB', Buffer.of(intent)))).toBe(true);
    for (const wrong of [Buffer.of(4), Buffer.of(0, 0), Buffer.of()])
      expect(await isKept({}, part('sRGB', wrong))).toBe(false);
  });

  test.each([
    [0, 1, 8],
    [2, 3, 8],
    [3, 3, 8],
    [4, 2, 8],
    [6, 4, 8],
    [0, 1, 16],
    [2, 3, 16],
  ])('sBIT of color type %i with %i numbers from 1 to %i', async (colorType, count, most) => {
    const bits = (...values: number[]) => part('sBIT', Buffer.from(values));
    const kind = { colorType, bitDepth: most };
    const before = (sbit: Part) => pngWith(kind, sbit, ...(colorType === 3 ? [palette(2)] : []));
    const kept = async (sbit: Part) =>
      pngChunks(await cleaned(before(sbit))).some(({ name }) => name === 'sBIT');
    const same = (value: number, length = count) => bits(...Array<number>(length).fill(value));
    for (const value of [1, most]) expect(await kept(same(value))).toBe(true);
    for (const value of [0, most + 1]) expect(await kept(same(value))).toBe(false);
    for (const length of [count - 1, count + 1]) expect(await kept(same(1, length))).toBe(false);
    expect(await kept(bits(0, ...Array<number>(count - 1).fill(1)))).toBe(false);
  });

  test('sBIT of a palette goes by the eight bits of its colors', async () => {
    const sbit = part('sBIT', Buffer.of(8, 8, 8));
    const png = pngWith({ colorType: 3, bitDepth: 1 }, sbit, palette(2));
    expect(pngChunks(await cleaned(png)).map(({ name }) => name)).toContain('sBIT');
  });

  test('none of them behind a palette, or behind the image data', async () => {
    for (const one of [part('gAMA', 'abcd'), part('sRGB', '\0'), part('sBIT', '\x08\x08\x08')]) {
      expect(await isKept({ colorType: 3 }, palette(2), one)).toBe(false);
      expect((await cleaned(smallPng([], [one]))).equals(smallPng())).toBe(true);
    }
  });
});

describe('the color profile of a PNG', () => {
  const profile = (length: number) => {
    const bytes = Buffer.alloc(length);
    bytes.writeUInt32BE(length);
    bytes.write('acsp', 36);
    return bytes;
  };
  const packed = deflateSync(profile(200));
  const iccp = (name: string, data: Buffer, method = '\0') =>
    part('iCCP', Buffer.concat([Buffer.from(`${name}\0${method}`, 'latin1'), data]));

  test('has a name of 1 to 79 characters', async () => {
    for (const length of [1, 79]) expect(await isKept({}, iccp('n'.repeat(length), packed))).toBe(true);
    for (const length of [0, 80]) expect(await isKept({}, iccp('n'.repeat(length), packed))).toBe(false);
    expect(await isKept({}, part('iCCP', 'only a name'))).toBe(false);
  });

  test('is compressed by the one known method', async () => {
    expect(await isKept({}, iccp('n', packed, '\x01'))).toBe(false);
  });

  test('is at most 4 MiB', async () => {
    const most = 4 * 1024 * 1024;
    expect(await isKept({}, iccp('n', deflateSync(profile(most))))).toBe(true);
    expect(await isKept({}, iccp('n', deflateSync(profile(most + 1))))).toBe(false);
  });
});

describe('the chunks of a PNG', () => {
  test('are at most 20,000 behind its header', async () => {
    const filler = (count: number) => Array<Part>(count).fill(part('aaAa'));
    expect(await problem(smallPng(filler(19_998)))).toBe(fine);
    expect(await problem(smallPng(filler(19_999)))).toBe('must be undamaged: it has too many chunks');
  });

  test.each(['aa1a', '1aAa', 'aaA1', 'a Aa', 'aaA[', '`aAa', 'aaA@', '{aAa'])(
    'are not named %j: names are of four letters',
    async (name) => {
      expect(await problem(smallPng([part(name)]))).toBe(
        'must be undamaged: one of its chunks has no valid name',
      );
    },
  );

  test.each(['aAAa', 'zZZz'])('that are named %s do not matter', async (name) => {
    expect((await cleaned(smallPng([part(name)]))).equals(smallPng())).toBe(true);
  });

  test.each(['AAAA', 'ZaAa'])('that are named %s do, so that a picture with one is refused', async (name) => {
    expect(await problem(smallPng([part(name)]))).toBe(
      `must be undamaged: it has a chunk ${name}, which does not belong there`,
    );
  });

  test('end with the one that says so', async () => {
    for (const [bytes, said] of [
      ['a', '1 byte follows'],
      ['ab', '2 bytes follow'],
    ] as const)
      expect(await problem(Buffer.concat([smallPng(), Buffer.from(bytes)]))).toBe(
        `must hold one image and nothing else: ${said} its end`,
      );
  });
});

describe('the image data of a PNG', () => {
  test.each([0, 1, 2, 3, 4])('has rows that were prepared by the filter %i', async (filter) => {
    const rows = Buffer.alloc(64 * 65);
    for (let row = 0; row < 64; row++) rows[row * 65] = filter;
    const png = (data: Buffer) =>
      pngOf([header(64, 64, { colorType: 0 }), part('IDAT', deflateSync(data)), end]);
    expect(await problem(png(rows))).toBe(fine);
    rows[63 * 65] = 5;
    expect(await problem(png(rows))).toBe('must be undamaged: its image data is wrong');
  });

  test.each([
    [64, 64],
    [65, 67],
    [71, 66],
    [68, 69],
  ])('of an interlaced picture of %i × %i are its seven passes, to the byte', async (width, height) => {
    const passes = [
      [0, 0, 8, 8],
      [4, 0, 8, 8],
      [0, 4, 4, 8],
      [2, 0, 4, 4],
      [0, 2, 2, 4],
      [1, 0, 2, 2],
      [0, 1, 1, 2],
    ];
    for (const [colorType, bitDepth] of [
      [0, 1],
      [0, 2],
      [2, 16],
    ] as const) {
      const bits = channels[colorType]! * bitDepth;
      let length = 0;
      for (const [left, top, across, down] of passes as [number, number, number, number][]) {
        const [columns, rows] = [Math.ceil((width - left) / across), Math.ceil((height - top) / down)];
        length += rows * (1 + Math.ceil((columns * bits) / 8));
      }
      const png = (bytes: number) =>
        pngOf([header(width, height, { colorType, bitDepth, interlace: 1 }), imageData(bytes), end]);
      expect(await problem(png(length))).toBe(fine);
      expect(await problem(png(length - 1))).toBe(
        'must be undamaged: it holds less image data than its size says',
      );
      expect(await problem(png(length + 1))).toBe(
        'must be undamaged: it holds more image data than its size says',
      );
    }
  });
});
