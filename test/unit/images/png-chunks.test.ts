import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import {
  cleaned,
  decode,
  each,
  header,
  imageData,
  part,
  planted,
  png,
  pngChunks,
  pngOf,
  testCleaned,
  type Part,
} from './samples.ts';

const palette = (colors: number) => part('PLTE', Buffer.alloc(colors * 3));
const packed = imageData(64 * 65).data;

type Kind = { colorType?: number; bitDepth?: number };
/** A PNG that stays as it is. */
const kept = (kind: Kind, ...before: Part[]): [Buffer, Buffer] => [
  png({ ...kind, before }),
  png({ ...kind, before }),
];
/** A PNG that loses the last of these chunks. */
const lost = (kind: Kind, ...before: Part[]): [Buffer, Buffer] => [
  png({ ...kind, before }),
  png({ ...kind, before: before.slice(0, -1) }),
];
const indexed = { colorType: 3 };

describe('of the other chunks of a PNG', () => {
  const names = 'tEXt zTXt iTXt eXIf tIME pHYs sPLT hIST bKGD vpAg caBX gdAT aAAa zZZz'.split(' ');
  testCleaned({
    ...each('goes:', names, (name) => {
      const text = part(name, planted);
      return [png({ before: [text], after: [text] }), png()];
    }),
    'tRNS beside alpha goes': lost({ colorType: 6 }, part('tRNS', 'abcdef')),
    'tRNS beside gray alpha goes': lost({ colorType: 4 }, part('tRNS', 'ab')),
    ...each('a palette goes that only suggests, color type', [0, 2, 6], (colorType) =>
      lost({ colorType }, palette(8)),
    ),
    'a second of a kind goes': lost({}, part('gAMA', 'aaaa'), part('gAMA', 'bbbb')),
    'transparency before its palette goes': [
      png({ ...indexed, before: [part('tRNS', 'a'), palette(2)] }),
      png({ ...indexed, before: [palette(2)] }),
    ],
    'image data in many chunks, some empty, becomes one': [
      pngOf([
        header(),
        part('IDAT'),
        part('IDAT', packed.subarray(0, 1)),
        part('IDAT'),
        part('IDAT', packed.subarray(1)),
        part('IEND'),
      ]),
      png(),
    ],
    'all that say what the colors mean stay, in their order': kept(
      indexed,
      part('cICP', '\x01\x0d\0\x01'),
      part('sRGB', '\0'),
      part('gAMA', '\0\0\xb1\x8f'),
      part('cHRM', Buffer.alloc(32, 1)),
      part('sBIT', '\x08\x08\x08'),
      palette(2),
      part('tRNS', '\x01\x02'),
    ),
  });

  test('what decoders ignore leaves a picture that they show', async () => {
    const bytes = await cleaned(png({ colorType: 2, before: [part('PLTE', planted.slice(0, 24))] }));
    expect((await decode(bytes)).width).toBe(64);
  });
});

describe('in its right length only stays', () => {
  const zeros = (name: string, length: number) => part(name, Buffer.alloc(length));
  testCleaned({
    'a palette of one color': kept(indexed, palette(1)),
    'transparency of a gray': kept({}, zeros('tRNS', 2)),
    ...each('not transparency of a gray in bytes:', [0, 1, 3, 6], (length) =>
      lost({}, zeros('tRNS', length)),
    ),
    'transparency of a color': kept({ colorType: 2 }, zeros('tRNS', 6)),
    ...each('not transparency of a color in bytes:', [0, 2, 5, 7], (length) =>
      lost({ colorType: 2 }, zeros('tRNS', length)),
    ),
    ...each('transparency of three colors in bytes:', [1, 2, 3], (length) =>
      kept(indexed, palette(3), zeros('tRNS', length)),
    ),
    ...each('not transparency of three colors in bytes:', [0, 4], (length) =>
      lost(indexed, palette(3), zeros('tRNS', length)),
    ),
    ...each('gAMA, cICP or cHRM:', ['gAMA 4', 'cICP 4', 'cHRM 32'], (chunk) => {
      const [name, length] = chunk.split(' ');
      return kept({}, zeros(name!, Number(length)));
    }),
    ...each('not gAMA in bytes:', [0, 3, 5], (length) => lost({}, zeros('gAMA', length))),
    ...each('not cICP in bytes:', [0, 3, 5], (length) => lost({}, zeros('cICP', length))),
    ...each('not cHRM in bytes:', [0, 31, 33], (length) => lost({}, zeros('cHRM', length))),
    ...each('sRGB with the intent', [0, 1, 2, 3], (intent) => kept({}, part('sRGB', Buffer.of(intent)))),
    ...each('not sRGB with', [[4], [0, 0], []], (bytes) => lost({}, part('sRGB', Buffer.from(bytes)))),
    ...each('none of them behind a palette:', ['gAMA', 'sRGB', 'sBIT'], (name) =>
      lost(indexed, palette(2), part(name, { gAMA: 'abcd', sRGB: '\0', sBIT: '\x08\x08\x08' }[name]!)),
    ),
    ...each('none of them behind the image data:', ['gAMA', 'sRGB', 'sBIT'], (name) => [
      png({ after: [part(name, { gAMA: 'abcd', sRGB: '\0', sBIT: '\x08' }[name]!)] }),
      png(),
    ]),
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
    const isKept = async (...bits: number[]) => {
      const before = [part('sBIT', Buffer.from(bits)), ...(colorType === 3 ? [palette(2)] : [])];
      const chunks = pngChunks(await cleaned(png({ colorType, bitDepth: most, before })));
      return chunks.some(({ name }) => name === 'sBIT');
    };
    const same = (value: number, length = count) => isKept(...Array<number>(length).fill(value));
    for (const value of [1, most]) expect(await same(value)).toBe(true);
    for (const value of [0, most + 1]) expect(await same(value)).toBe(false);
    for (const length of [count - 1, count + 1]) expect(await same(1, length)).toBe(false);
    expect(await isKept(0, ...Array<number>(count - 1).fill(1))).toBe(false);
  });

  testCleaned({
    'sBIT of a palette, by the eight bits of its colors': kept(
      { colorType: 3, bitDepth: 1 },
      part('sBIT', '\x08\x08\x08'),
      palette(2),
    ),
  });
});

describe('the color profile of a PNG', () => {
  const profile = (length: number) => {
    const bytes = Buffer.alloc(length);
    bytes.writeUInt32BE(length);
    bytes.write('acsp', 36);
    return bytes;
  };
  const most = 4 * 1024 * 1024;
  const small = deflateSync(profile(400));
  const large = deflateSync(profile(most));
  const iccp = (name: string, data: Uint8Array, method = '\0') =>
    part('iCCP', Buffer.concat([Buffer.from(`${name}\0${method}`, 'latin1'), data]));
  const without = (...before: Part[]): [Buffer, Buffer] => [png({ before }), png()];
  const renamed = (one: Part, data = small): [Buffer, Buffer] => [
    png({ before: [one] }),
    png({ before: [iccp('i', data)] }),
  ];

  testCleaned({
    'stays without its name and without what follows it': renamed(
      iccp(planted, Buffer.concat([small, Buffer.from(planted)])),
    ),
    'stays with a name of one character': renamed(iccp('n', small)),
    'stays with a name of 79 characters': renamed(iccp('n'.repeat(79), small)),
    'goes with a name of none': without(iccp('', small)),
    'goes with a name of 80 characters': without(iccp('n'.repeat(80), small)),
    'goes where there is only a name': without(part('iCCP', 'only a name')),
    'goes where its method is unknown': without(iccp('n', small, '\x01')),
    'stays in 4 MiB': renamed(iccp('n', large), large),
    'goes beyond 4 MiB': without(iccp('n', deflateSync(profile(most + 1)))),
    'goes where it is none': without(iccp('n', deflateSync(Buffer.from(planted.repeat(20))))),
    'goes where it is cut short': without(iccp('n', small.subarray(0, -1))),
    'goes where it is not compressed': without(iccp('n', profile(400))),
    'goes where it is empty': without(iccp('n', Buffer.alloc(0))),
    'is the first one only, so that thousands of them are never inflated': without(
      iccp('n', Buffer.from(planted)),
      iccp('n', small),
    ),
  });
});
