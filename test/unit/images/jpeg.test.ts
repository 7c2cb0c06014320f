import { describe, expect, test } from '@jest/globals';
import {
  dht,
  dqt,
  jpegOf,
  sampled,
  scan,
  segment,
  smallJpeg,
  sof,
  sos,
  tables,
  withSegments,
} from './jpeg-parts.ts';
import { accepted, cleaned, decode, each, notWhole, problem, realFile, testProblems } from './samples.ts';

const withTables = (...found: Buffer[]) => jpegOf(...found, sof(), sos());
/** A right JPEG with one more table before the others. */
const withTable = (table: Buffer) => withTables(table, tables());
const withComponents = (...components: [number, number, number][]) => smallJpeg({ components });
const withSampling = (sampling: number) => withComponents([1, sampling, 0]);
const zeros = (count: number) => Array<number>(count).fill(0);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

/** A Huffman table from its code counts and symbols. */
const huffman = (head: number, counts: number[], symbols: number[]) =>
  segment(0xc4, [head, ...counts, ...zeros(16 - counts.length), ...symbols]);
const codes = (head: number) => [head, 1, ...zeros(16)];
const wide = [0x10, ...Array<number>(128).fill(1)];
const narrow = [1, ...Array<number>(64).fill(1)];
const ones = Array<number>(15).fill(1);

/** A picture all of whose tables have this number. */
const allTables = (id: number) =>
  jpegOf(
    dqt(id),
    dht('dc', id),
    dht('ac', id),
    sof({ components: [[1, 0x11, id]] }),
    sos({ components: [[1, id * 17]] }),
  );

/** A picture of three components whose scan takes these tables, of those that the file has. */
const namedTables = (has: Buffer[], ...heads: number[]) =>
  jpegOf(
    ...has,
    sof({ components: [7, 8, 9].map((id) => [id, 0x11, id === 7 ? 0 : 1]) }),
    sos({ components: heads.map((head, i) => [7 + i, head]), data: Buffer.alloc(48) }),
  );
const sixTables = [dqt(), dht('dc', 1), dht('ac', 2), dht('dc', 3), dht('ac', 3), dqt(1)];

test('a JPEG cut off anywhere is not whole', async () => {
  for (const jpeg of [smallJpeg(), await realFile('a progressive JPEG')]) {
    // Every place near its segments, and some within the data.
    for (let length = 4; length < jpeg.length; length += length < 700 ? 1 : 61)
      expect([length, await problem(jpeg.subarray(0, length))]).toEqual([length, notWhole]);
    expect(await problem(jpeg.subarray(0, -1))).toBe(notWhole);
    expect(await problem(jpeg.subarray(0, -2))).toBe(notWhole);
  }
});

test('a JPEG made by hand is one that decoders show', async () => {
  expect((await decode(await cleaned(smallJpeg()))).width).toBe(64);
});

describe('of a JPEG is said', () => {
  testProblems({
    [accepted]: {
      'an extended sequential one': smallJpeg({ code: 0xc1 }),
      ...each('samples across and down:', [0x11, 0x14, 0x41, 0x44], withSampling),
    },
    'must be undamaged: it has image data before its size': { 'no size': jpegOf(tables(), sos()) },
    'must be undamaged: it has two frames': { 'two sizes': jpegOf(tables(), sof(), sof(), sos()) },
    'must be undamaged: it ends before its image data': {
      'no image data': jpegOf(tables(), sof()),
      nothing: jpegOf(),
    },
    'must be undamaged: something stands between its segments': {
      'a script': jpegOf(tables(), Buffer.from('<script>'), sof(), sos()),
    },
    'must be undamaged: its restart interval is wrong': {
      'one of three bytes': jpegOf(tables(), segment(0xdd, [0, 0, 8])),
    },
    'must be undamaged: it has a segment that does not belong there': {
      'a lone restart marker': jpegOf(Buffer.from([0xff, 0xd0, 0, 2]), tables(), sof(), sos()),
      'a number of lines': jpegOf(tables(), sof(), sos(), segment(0xdc, [0, 64])),
      ...each('the marker', [0x00, 0x01, 0xbf, 0xd1, 0xd7, 0xd8, 0xdf, 0xf0, 0xfd], (code) =>
        withSegments(smallJpeg(), segment(code, 'abcd')),
      ),
    },
    'must be undamaged: one of its segments has no length': each('the length', [0, 1], (length) =>
      withSegments(smallJpeg(), Buffer.from([0xff, 0xfe, 0, length])),
    ),
    'must be a JPEG of 8 bits per component': { 'one of 12': smallJpeg({ precision: 12, code: 0xc1 }) },
    'must be a baseline or progressive JPEG': each(
      'a lossless, hierarchical or arithmetic process:',
      [0xc3, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf],
      (code) => smallJpeg({ code }),
    ),
    'must be undamaged: its components are wrong': {
      none: withComponents(),
      two: withComponents(...sampled(0x11, 0x11)),
      five: withComponents(...sampled(0x11, 0x11, 0x11, 0x11, 0x11)),
      'two of one name': withComponents([1, 0x11, 0], [1, 0x11, 0], [2, 0x11, 0]),
      'fewer than it says': jpegOf(tables(), segment(0xc0, [8, 0, 64, 0, 64, 3, 1, 0x11, 0]), sos()),
      ...each('no or too many samples:', [0x15, 0x51, 0x01, 0x10], withSampling),
      'samples across that do not divide the finest': withComponents(...sampled(0x31, 0x21, 0x11)),
      'samples down that do not': withComponents(...sampled(0x13, 0x12, 0x11)),
      'samples of a later one that do not': withComponents(...sampled(0x11, 0x11, 0x32, 0x21)),
    },
  });
});

describe('of the tables of a JPEG is said', () => {
  testProblems({
    [accepted]: {
      ...each('all of the number', [0, 1, 2, 3], allTables),
      'several in one segment, some of 16 bits': jpegOf(
        segment(0xdb, [...wide, ...narrow]),
        segment(0xc4, [...codes(0x00), ...codes(0x10)]),
        sof({ components: [[1, 0x11, 1]] }),
        sos(),
      ),
      '256 symbols': withTable(huffman(0x11, [...zeros(7), 254, 2], upTo(256))),
      'a DC difference of 15 bits': withTable(huffman(0x01, [1], [15])),
      'an AC symbol of 255': withTable(huffman(0x11, [1], [255])),
      'all but the last code of two bits': withTable(huffman(1, [0, 3], [0, 1, 2])),
      'all but the last code of each length': withTable(huffman(1, [1, 1, 1], [0, 1, 2])),
      'all but the last code of 16 bits': withTable(huffman(1, [...ones, 1], upTo(16))),
      'each component its own': namedTables(sixTables, 0x12, 0x33, 0x32),
    },
    'must be undamaged: one of its tables is wrong': {
      'a quantization table 4': withTable(dqt(4)),
      'a quantization table of 24 bits': withTable(dqt(0x20)),
      'a DC table 4': withTable(dht('dc', 4)),
      'an AC table 4': withTable(dht('ac', 4)),
      'a Huffman table of another kind': withTable(dht('dc', 0x20)),
      'no codes': withTable(huffman(0, [], [])),
      'a DC difference of 16 bits': withTable(huffman(0, [1], [16])),
      'one beside a smaller one': withTable(huffman(0, [0, 2], [0, 16])),
      'more codes than symbols': withTable(huffman(16, [...zeros(8), 200, 200], zeros(400))),
      '257 symbols': withTable(huffman(0x11, [...zeros(7), 254, 3], upTo(257))),
      'the last code of two bits': withTable(huffman(1, [0, 4], [0, 1, 2, 3])),
      'the last code of three bits': withTable(huffman(1, [1, 1, 2], [0, 1, 2, 3])),
      'the last code of 16 bits': withTable(huffman(1, [...ones, 2], [...upTo(16), 0])),
    },
    'must be undamaged: one of its tables is missing': {
      quantization: withTables(dht('dc'), dht('ac')),
      DC: withTables(dqt(), dht('ac')),
      AC: withTables(dqt(), dht('dc')),
      'another quantization': smallJpeg({ components: [[1, 0x11, 3]] }),
      'another DC': smallJpeg({}, { components: [[1, 0x10]] }),
      'another AC': smallJpeg({}, { components: [[1, 0x01]] }),
      'progressive DC': jpegOf(dqt(), dht('ac'), sof({ code: 0xc2 }), scan(0, 0, 0)),
      'progressive AC': jpegOf(dqt(), dht('dc'), sof({ code: 0xc2 }), scan(0, 0, 0), scan(1, 63, 0)),
      "the second component's quantization": namedTables(sixTables.slice(0, -1), 0x12, 0x33, 0x32),
      "the first component's": namedTables(sixTables, 0x21, 0x33, 0x32),
      "the second component's": namedTables(sixTables, 0x12, 0x30, 0x32),
      "the third component's": namedTables(sixTables, 0x12, 0x33, 0x02),
    },
    [notWhole]: {
      'quantization cut short': withTables(segment(0xdb, [0, 1, 2])),
      'quantization of 16 bits cut short': withTable(segment(0xdb, wide.slice(0, -1))),
      'codes cut short': withTables(segment(0xc4, [0, 1])),
    },
  });
});
