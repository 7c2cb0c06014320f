import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import {
  cleaned,
  header,
  imageData,
  part,
  planted,
  pngChunks,
  pngOf,
  problem,
  realFile,
  realFiles,
  smallPng,
  type Part,
} from './samples.ts';

const end = part('IEND');
const gray = header(64, 64, { colorType: 0 });
const indexed = header(64, 64, { colorType: 3 });
const palette = part('PLTE', Buffer.alloc(6));
const grayData = imageData(64 * 65);

describe('a PNG', () => {
  test('cut off anywhere is not whole', async () => {
    const png = smallPng([part('gAMA', '\0\0\0\x01')]);
    for (let length = 8; length < png.length; length++) {
      expect(await problem(png.subarray(0, length))).toBe('must be whole: a part of it is missing');
    }
    expect(await problem(png)).toMatch(/^none/);
  });

  test('with one wrong bit in any byte after its signature is refused: all chunks have checksums', async () => {
    const png = smallPng([part('gAMA', '\0\0\0\x01')]);
    for (let at = 8; at < png.length; at++) {
      const wrong = Buffer.from(png);
      wrong[at]! ^= 1;
      expect(await problem(wrong)).toMatch(/^must be (un|whole)/);
    }
  });

  test.each([
    [
      'no header first',
      pngOf([part('gAMA', 'abcd'), gray, grayData, end]),
      'it does not start with its header',
    ],
    ['two headers', smallPng([gray]), 'it has a chunk IHDR, which does not belong there'],
    ['a short header', pngOf([part('IHDR', 'abc'), grayData, end]), 'its header has the wrong length'],
    [
      'an unknown critical chunk',
      smallPng([part('CgBI', 'abcd')]),
      'it has a chunk CgBI, which does not belong there',
    ],
    ['a chunk without a name', smallPng([part('<?p>', 'abcd')]), 'one of its chunks has no valid name'],
    ['no image data', pngOf([gray, end]), 'its end is wrong'],
    ['an end with content', pngOf([gray, grayData, part('IEND', 'x')]), 'its end is wrong'],
    ['interrupted data', smallPng([grayData, part('tEXt', 'a')]), 'its image data is interrupted'],
    ['a missing palette', pngOf([indexed, grayData, end]), 'it has no palette'],
    ['a palette after the data', smallPng([], [palette]), 'its palette is wrong'],
    ['two palettes', pngOf([indexed, palette, palette, grayData, end]), 'its palette is wrong'],
    [
      'a palette of half a color',
      pngOf([indexed, part('PLTE', 'abcd'), grayData, end]),
      'its palette is wrong',
    ],
    ['an empty palette', pngOf([indexed, part('PLTE'), grayData, end]), 'its palette is wrong'],
    [
      'more colors than its depth has',
      pngOf([
        header(64, 64, { colorType: 3, bitDepth: 1 }),
        part('PLTE', Buffer.alloc(9)),
        imageData(64 * 9),
        end,
      ]),
      'its palette is wrong',
    ],
    ['too many chunks', smallPng(Array<Part>(20_000).fill(part('aaAa'))), 'it has too many chunks'],
  ])('with %s is refused', async (_what, png, how) => {
    expect(await problem(png)).toBe(`must be undamaged: ${how}`);
  });

  test('has only the bit depths of its color type, and known methods', async () => {
    const allowed: Record<number, number[]> = {
      0: [1, 2, 4, 8, 16],
      2: [8, 16],
      3: [1, 2, 4, 8],
      4: [8, 16],
      6: [8, 16],
    };
    for (let colorType = 0; colorType < 8; colorType++) {
      for (let bitDepth = 0; bitDepth < 18; bitDepth++) {
        const said = await problem(
          pngOf([header(64, 64, { bitDepth, colorType }), palette, imageData(9), end]),
        );
        const isAllowed = allowed[colorType]?.includes(bitDepth) ?? false;
        expect(said === 'must be undamaged: its bit depth and color type do not go together').toBe(
          !isAllowed,
        );
      }
    }
    for (const place of [10, 11, 12]) {
      const data = Buffer.from(gray.data);
      data[place] = 2;
      const png = pngOf([part('IHDR', data), grayData, end]);
      expect(await problem(png)).toBe('must be undamaged: its header names unknown methods');
    }
  });

  test.each(['acTL', 'fcTL', 'fdAT'])('with %s is animated, before or after its image data', async (name) => {
    expect(await problem(smallPng([part(name, Buffer.alloc(26))]))).toBe('must not be animated');
    expect(await problem(smallPng([], [part(name, Buffer.alloc(26))]))).toBe('must not be animated');
  });

  test.each([
    ['a ZIP', 'PK\x05\x06' + '\0'.repeat(18), '22 bytes follow'],
    ['HTML', '<script>alert(1)</script>', '25 bytes follow'],
    ['one zero', '\0', '1 byte follows'],
    ['another PNG', smallPng().toString('latin1'), `${smallPng().length} bytes follow`],
  ])('with %s behind its end is refused', async (_what, text, follow) => {
    const png = Buffer.concat([smallPng(), Buffer.from(text, 'latin1')]);
    expect(await problem(png)).toBe(`must hold one image and nothing else: ${follow} its end`);
  });
});

describe('the image data of a PNG', () => {
  const little = 'must be undamaged: it holds less image data than its size says';
  const much = 'must be undamaged: it holds more image data than its size says';

  test('has exactly the length that the size says, for every color type, depth and interlacing', async () => {
    for (const name of Object.keys(realFiles).filter((one) => one.includes('PNG'))) {
      const chunks = pngChunks(await realFile(name));
      const taller = chunks.map((chunk) => ({ ...chunk, data: Buffer.from(chunk.data) }));
      taller[0]!.data.writeUInt32BE(taller[0]!.data.readUInt32BE(4) + 1, 4);
      // The rows of an interlaced picture change places with its height, so that other bytes are read as filters.
      const wrong = 'must be undamaged: its image data is wrong';
      const interlaced = name.includes('interlaced');
      expect(interlaced ? [little, wrong] : [little]).toContain(await problem(pngOf(taller)));
      taller[0]!.data.writeUInt32BE(taller[0]!.data.readUInt32BE(4) - 2, 4);
      expect(interlaced ? [much, wrong] : [much]).toContain(await problem(pngOf(taller)));
    }
  });

  test('that is a bomb is too much, or too little', async () => {
    const bomb = pngOf([
      header(8192, 4882, { colorType: 0 }),
      part('IDAT', deflateSync(Buffer.alloc(200e6))),
      end,
    ]);
    expect(bomb.length).toBeLessThan(200_000);
    expect(await problem(bomb)).toBe(much);
    expect(await problem(pngOf([header(8192, 4882), imageData(8193), end]))).toBe(little);
  });

  test.each([
    ['lacks all', [imageData(0)]],
    ['lacks one byte', [imageData(64 * 65 - 1)]],
    ['lacks a row', [imageData(63 * 65)]],
  ])('that %s is too little', async (_what, data) =>
    expect(await problem(pngOf([gray, ...data, end]))).toBe(little),
  );

  test('of one byte too many is too much', async () => {
    expect(await problem(pngOf([gray, imageData(64 * 65 + 1), end]))).toBe(much);
  });

  test('may come in many chunks, some empty', async () => {
    const { data } = grayData;
    const cut = [
      part('IDAT'),
      part('IDAT', data.subarray(0, 1)),
      part('IDAT'),
      part('IDAT', data.subarray(1)),
    ];
    expect((await cleaned(pngOf([gray, ...cut, end]))).equals(smallPng())).toBe(true);
  });

  test.each([
    ['empty', Buffer.alloc(0), 'its compressed data is wrong'],
    ['cut short', grayData.data.subarray(0, -1), 'its compressed data is wrong'],
    ['not compressed', Buffer.alloc(64 * 65, 7), 'its compressed data is wrong'],
    [
      'followed by something',
      Buffer.concat([grayData.data, Buffer.from(planted)]),
      'something follows its image data',
    ],
    ['of an unknown filter', deflateSync(Buffer.alloc(64 * 65, 5)), 'its image data is wrong'],
  ])('that is %s is refused', async (_what, data, how) => {
    expect(await problem(pngOf([gray, part('IDAT', data), end]))).toBe(`must be undamaged: ${how}`);
  });
});
