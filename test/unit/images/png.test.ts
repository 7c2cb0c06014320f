import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import {
  accepted,
  channels,
  each,
  header,
  imageData,
  notWhole,
  part,
  planted,
  png,
  pngOf,
  problem,
  testProblems,
  type Part,
} from './samples.ts';

const end = part('IEND');
const palette = (colors: number) => part('PLTE', Buffer.alloc(colors * 3));
const animation = (name: string) => part(name, Buffer.alloc(26));
const filler = (count: number) => Array<Part>(count).fill(part('aaAa'));
const behind = (text: string) => Buffer.concat([png(), Buffer.from(text, 'latin1')]);
const idat = (data: Buffer) => png({ data: part('IDAT', data) });
const little = 'must be undamaged: it holds less image data than its size says';
const much = 'must be undamaged: it holds more image data than its size says';
const packed = imageData(64 * 65).data;

/** Rows that one filter prepared, but the last, which another did. */
function filtered(filter: number, last = filter): Buffer {
  const rows = Buffer.alloc(64 * 65);
  for (let row = 0; row < 64; row++) rows[row * 65] = row === 63 ? last : filter;
  return idat(deflateSync(rows));
}

/** A header with 2 at one of its places. */
function oddHeader(place: number): Buffer {
  const data = Buffer.from(header().data);
  data[place] = 2;
  return pngOf([part('IHDR', data), imageData(64 * 65), end]);
}

describe('a PNG', () => {
  const whole = png({ before: [part('gAMA', '\0\0\0\x01')] });

  test('cut off anywhere is not whole', async () => {
    for (let length = 8; length < whole.length; length++)
      expect(await problem(whole.subarray(0, length))).toBe(notWhole);
    expect(await problem(whole)).toBe(accepted);
  });

  test('with one wrong bit in any byte after its signature is refused: all chunks have checksums', async () => {
    for (let at = 8; at < whole.length; at++) {
      const wrong = Buffer.from(whole);
      wrong[at]! ^= 1;
      expect(await problem(wrong)).toMatch(/^must be (un|whole)/);
    }
  });

  test('has only the bit depths of its color type', async () => {
    const allowed: Record<number, number[]> = {
      0: [1, 2, 4, 8, 16],
      2: [8, 16],
      3: [1, 2, 4, 8],
      4: [8, 16],
      6: [8, 16],
    };
    for (let colorType = 0; colorType < 8; colorType++) {
      for (let bitDepth = 0; bitDepth < 18; bitDepth++) {
        const said = await problem(png({ bitDepth, colorType, before: [palette(2)], data: imageData(9) }));
        const isRefused = said === 'must be undamaged: its bit depth and color type do not go together';
        expect([colorType, bitDepth, !isRefused]).toEqual([
          colorType,
          bitDepth,
          allowed[colorType]?.includes(bitDepth) ?? false,
        ]);
      }
    }
  });

  test('that is a bomb is too much, or too little', async () => {
    const bomb = png({ widthPx: 8192, heightPx: 4882, data: imageData(200e6) });
    expect(bomb.length).toBeLessThan(200_000);
    expect(await problem(bomb)).toBe(much);
    expect(await problem(png({ widthPx: 8192, heightPx: 4882, data: imageData(8193) }))).toBe(little);
  });
});

describe('of a PNG is said', () => {
  testProblems({
    [accepted]: {
      ...each('rows of filter', [0, 1, 2, 3, 4], (filter) => filtered(filter)),
      '20,000 chunks behind its header': png({ before: filler(19_998) }),
      'two colors of one bit': png({ colorType: 3, bitDepth: 1, before: [palette(2)] }),
      'four colors of two bits': png({ colorType: 3, bitDepth: 2, before: [palette(4)] }),
      '16 colors of four bits': png({ colorType: 3, bitDepth: 4, before: [palette(16)] }),
      '256 colors of eight bits': png({ colorType: 3, before: [palette(256)] }),
      ...each('a suggested palette of 256 colors for color type', [0, 2, 6], (colorType) =>
        png({ colorType, before: [palette(256)] }),
      ),
      'a suggested palette, whatever the bit depth': png({ bitDepth: 1, before: [palette(256)] }),
    },
    'must be undamaged: it does not start with its header': {
      'another chunk first': pngOf([part('gAMA', 'abcd'), header(), imageData(64 * 65), end]),
    },
    'must be undamaged: its header has the wrong length': {
      'a short header': pngOf([part('IHDR', 'abc'), imageData(64 * 65), end]),
    },
    'must be undamaged: its header names unknown methods': each('the place', [10, 11, 12], oddHeader),
    'must be undamaged: it has a chunk IHDR, which does not belong there': {
      'two headers': png({ before: [header()] }),
    },
    'must be undamaged: the checksum of one of its chunks is wrong': {
      'its last byte is another one': Buffer.from(
        png().map((byte, at, all) => byte ^ Number(at === all.length - 1)),
      ),
    },
    'must be undamaged: it has too many chunks': { '20,001 of them': png({ before: filler(19_999) }) },
    'must be undamaged: one of its chunks has no valid name': each(
      'other than four letters:',
      ['aa1a', '1aAa', 'aaA1', 'a Aa', 'aaA[', '`aAa', 'aaA@', '{aAa'],
      (name) => png({ before: [part(name)] }),
    ),
    'must be undamaged: its end is wrong': {
      'no image data': pngOf([header(), end]),
      'an end with content': pngOf([header(), imageData(64 * 65), part('IEND', 'x')]),
    },
    'must be undamaged: its image data is interrupted': {
      'text within it': png({ before: [imageData(64 * 65), part('tEXt', 'a')] }),
    },
    'must be undamaged: it has no palette': { 'colors by number': png({ colorType: 3 }) },
    'must be undamaged: its palette is wrong': {
      'one after the data': png({ after: [palette(2)] }),
      'two of them': png({ colorType: 3, before: [palette(2), palette(2)] }),
      'an empty one': png({ colorType: 3, before: [palette(0)] }),
      'three colors of one bit': png({ colorType: 3, bitDepth: 1, before: [palette(3)] }),
      'five colors of two bits': png({ colorType: 3, bitDepth: 2, before: [palette(5)] }),
      '17 colors of four bits': png({ colorType: 3, bitDepth: 4, before: [palette(17)] }),
      '257 colors of eight bits': png({ colorType: 3, before: [palette(257)] }),
      ...each('a suggestion of 257 colors for color type', [2, 6], (colorType) =>
        png({ colorType, before: [palette(257)] }),
      ),
      ...each('no whole colors, bytes:', [1, 2, 4, 5], (length) =>
        png({ colorType: 3, before: [part('PLTE', Buffer.alloc(length))] }),
      ),
    },
    'must not be animated': {
      ...each('before its data', ['acTL', 'fcTL', 'fdAT'], (name) => png({ before: [animation(name)] })),
      ...each('behind its data', ['acTL', 'fcTL', 'fdAT'], (name) => png({ after: [animation(name)] })),
    },
    'must hold one image and nothing else: 22 bytes follow its end': {
      'a ZIP': behind('PK\x05\x06' + '\0'.repeat(18)),
    },
    'must hold one image and nothing else: 1 byte follows its end': { 'one zero': behind('\0') },
    [`must hold one image and nothing else: ${png().length} bytes follow its end`]: {
      'another PNG': behind(png().toString('latin1')),
    },
    [little]: { 'a byte too few': png({ data: imageData(64 * 65 - 1) }) },
    [much]: { 'a byte too many': png({ data: imageData(64 * 65 + 1) }) },
    'must be undamaged: its compressed data is wrong': {
      empty: idat(Buffer.alloc(0)),
      'cut short': idat(packed.subarray(0, -1)),
      'not compressed': idat(Buffer.alloc(64 * 65, 7)),
    },
    'must be undamaged: something follows its image data': {
      'a text': idat(Buffer.concat([packed, Buffer.from(planted)])),
    },
    'must be undamaged: its image data is wrong': each('a last row after filter', [0, 4], (filter) =>
      filtered(filter, 5),
    ),
  });

  test.each(['CgBI', 'AAAA', 'ZaAa'])(
    'that its chunk %s, which matters, does not belong there',
    async (name) => {
      expect(await problem(png({ before: [part(name, 'abcd')] }))).toBe(
        `must be undamaged: it has a chunk ${name}, which does not belong there`,
      );
    },
  );
});

test.each([
  [64, 64],
  [65, 67],
  [71, 66],
  [68, 69],
])('an interlaced PNG of %i × %i holds its seven passes, to the byte', async (widthPx, heightPx) => {
  const passes = ['0 0 8 8', '4 0 8 8', '0 4 4 8', '2 0 4 4', '0 2 2 4', '1 0 2 2', '0 1 1 2'];
  const kinds = [
    { colorType: 0, bitDepth: 1 },
    { colorType: 0, bitDepth: 2 },
    { colorType: 2, bitDepth: 16 },
  ];
  for (const { colorType, bitDepth } of kinds) {
    let length = 0;
    for (const pass of passes) {
      const [left, top, across, down] = pass.split(' ').map(Number) as [number, number, number, number];
      const columns = Math.ceil((widthPx - left) / across);
      const rowBytes = 1 + Math.ceil((columns * channels[colorType]! * bitDepth) / 8);
      length += Math.ceil((heightPx - top) / down) * rowBytes;
    }
    const said = (bytes: number) =>
      problem(png({ widthPx, heightPx, colorType, bitDepth, interlace: 1, data: imageData(bytes) }));
    expect([await said(length - 1), await said(length), await said(length + 1)]).toEqual([
      little,
      accepted,
      much,
    ]);
  }
});
