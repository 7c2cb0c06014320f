import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import {
  cleaned,
  decode,
  header,
  imageData,
  isStable,
  part,
  planted,
  pngChunks,
  pngOf,
  smallPng,
  type Part,
} from './samples.ts';

const palette = part('PLTE', Buffer.alloc(6));
const withColorType = (colorType: number, ...before: Part[]) => {
  const rowBytes = 1 + 64 * { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[colorType]!;
  return pngOf([header(64, 64, { colorType }), ...before, imageData(64 * rowBytes), part('IEND')]);
};
const names = async (png: Buffer) => pngChunks(await cleaned(png)).map(({ name }) => name);

describe('of the other chunks of a PNG', () => {
  test.each(['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME', 'pHYs', 'sPLT', 'hIST', 'bKGD', 'vpAg', 'caBX', 'gdAT'])(
    '%s is left out',
    async (name) => {
      const bytes = await cleaned(smallPng([part(name, planted)], [part(name, planted)]));
      expect(bytes.equals(smallPng())).toBe(true);
    },
  );

  test('those that say what the colors mean stay, in their order', async () => {
    const colors = [
      part('cICP', '\x01\x0d\0\x01'),
      part('sRGB', '\0'),
      part('gAMA', '\0\0\xb1\x8f'),
      part('cHRM', Buffer.alloc(32, 1)),
      part('sBIT', '\x08\x08\x08'),
    ];
    const shades = [part('PLTE', Buffer.alloc(6)), part('tRNS', '\x01\x02')];
    expect(await names(withColorType(3, ...colors, ...shades))).toEqual([
      'IHDR',
      'cICP',
      'sRGB',
      'gAMA',
      'cHRM',
      'sBIT',
      'PLTE',
      'tRNS',
      'IDAT',
      'IEND',
    ]);
    expect(await isStable(await cleaned(withColorType(3, ...colors, ...shades)))).toBe(true);
  });

  test.each<[string, number, Part[]]>([
    ['sRGB of two bytes', 0, [part('sRGB', 'ab')]],
    ['an unknown sRGB intent', 0, [part('sRGB', '\x04')]],
    ['a long gAMA', 0, [part('gAMA', planted)]],
    ['a long cHRM', 0, [part('cHRM', planted.repeat(2))]],
    ['a long cICP', 0, [part('cICP', planted)]],
    ['a long sBIT', 0, [part('sBIT', planted)]],
    ['sBIT above the depth', 0, [part('sBIT', '\x09')]],
    ['a long tRNS', 0, [part('tRNS', planted)]],
    ['tRNS beside alpha', 6, [part('tRNS', 'abcdef')]],
    ['tRNS beside gray alpha', 4, [part('tRNS', 'ab')]],
    ['a palette that is a suggestion', 2, [part('PLTE', planted.slice(0, 24))]],
    ['a palette for gray', 0, [part('PLTE', planted.slice(0, 24))]],
  ])('%s is left out, as decoders ignore it', async (_what, colorType, chunks) => {
    const bytes = await cleaned(withColorType(colorType, ...chunks));
    expect(bytes.equals(withColorType(colorType))).toBe(true);
    expect((await decode(bytes)).width).toBe(64);
  });

  test('only the first of its kind stays, and none behind the palette but transparency', async () => {
    const [first, second] = [part('gAMA', 'aaaa'), part('gAMA', 'bbbb')];
    expect((await cleaned(smallPng([first, second]))).equals(smallPng([first]))).toBe(true);
    expect(await names(withColorType(3, palette, first, part('tRNS', 'abc')))).toEqual([
      'IHDR',
      'PLTE',
      'IDAT',
      'IEND',
    ]);
    expect(await names(withColorType(3, part('tRNS', 'a'), palette))).toEqual([
      'IHDR',
      'PLTE',
      'IDAT',
      'IEND',
    ]);
  });
});

describe('the color profile of a PNG', () => {
  const profile = Buffer.alloc(400, 1);
  profile.writeUInt32BE(400);
  profile.write('acsp', 36);
  const chunk = (name: string, data: Buffer) =>
    part('iCCP', Buffer.concat([Buffer.from(`${name}\0\0`), data]));
  const packed = deflateSync(profile);

  test('stays without the name that it was given and without what follows it', async () => {
    const bytes = await cleaned(smallPng([chunk(planted, Buffer.concat([packed, Buffer.from(planted)]))]));
    expect(bytes.includes(planted)).toBe(false);
    expect(bytes.equals(smallPng([chunk('i', packed)]))).toBe(true);
    expect(await isStable(bytes)).toBe(true);
  });

  test.each([
    ['no profile', deflateSync(Buffer.from(planted.repeat(20)))],
    ['cut short', packed.subarray(0, -1)],
    ['not compressed', profile],
    ['too large', deflateSync(Buffer.alloc(5e6))],
    ['empty', Buffer.alloc(0)],
  ])('that is %s is left out', async (_what, data) => {
    expect((await cleaned(smallPng([chunk('a', data)]))).equals(smallPng())).toBe(true);
  });

  test('is the first one only, so that thousands of them are never inflated', async () => {
    const bytes = await cleaned(smallPng([chunk('a', Buffer.from(planted)), chunk('a', packed)]));
    expect(bytes.equals(smallPng())).toBe(true);
  });
});
