import { describe, expect, test } from '@jest/globals';
import { dht, dqt, dri, jpegOf, restartedData, smallJpeg, sof, sos, tables } from './jpeg-parts.ts';
import { cleaned, decode, problem, realFile, segment } from './samples.ts';

const notWhole = 'must be whole: a part of it is missing';
const three: [number, number, number][] = [
  [1, 0x11, 0],
  [2, 0x11, 0],
  [3, 0x11, 0],
];
const progressive = { code: 0xc2 };
const dcFirst = sos({ range: [0, 0, 0], data: Buffer.alloc(8) });
const wrongTable = 'must be undamaged: one of its tables is wrong';
const wrongScan = 'must be undamaged: one of its scans is wrong';
const wrongComponents = 'must be undamaged: its components are wrong';

/** A Huffman table from its code counts and symbols. */
const huffman = (counts: number[], symbols: number[], id = 0) =>
  segment(0xc4, [id, ...counts, ...Array<number>(16 - counts.length).fill(0), ...symbols]);

describe('a JPEG', () => {
  test('cut off anywhere is not whole', async () => {
    for (const jpeg of [smallJpeg(), await realFile('a progressive JPEG')]) {
      // Every place near its segments, and some within the data.
      for (let length = 4; length < jpeg.length; length += length < 700 ? 1 : 61) {
        expect([length, await problem(jpeg.subarray(0, length))]).toEqual([length, notWhole]);
      }
      expect(await problem(jpeg.subarray(0, -1))).toBe(notWhole);
      expect(await problem(jpeg.subarray(0, -2))).toBe(notWhole);
    }
  });

  test('whose data is too short for its size is not whole, although it ends as it should', async () => {
    expect((await decode(await cleaned(smallJpeg()))).width).toBe(64);
    expect(await problem(smallJpeg({}, { data: Buffer.alloc(15) }))).toBe(notWhole);
    expect(await problem(smallJpeg({ widthPx: 65 }))).toBe(notWhole);
    expect(await problem(smallJpeg({ widthPx: 8000, heightPx: 5000 }))).toBe(notWhole);
    // Stuffed zeros are no data.
    const stuffed = Buffer.from('ff00'.repeat(15), 'hex');
    expect(await problem(smallJpeg({}, { data: stuffed }))).toBe(notWhole);
    expect(await problem(jpegOf(tables(), sof(progressive), dcFirst.subarray(0, -1)))).toBe(notWhole);
  });

  test.each([
    ['no size', jpegOf(tables(), sos()), 'it has image data before its size'],
    ['two sizes', jpegOf(tables(), sof(), sof(), sos()), 'it has two frames'],
    ['no image data', jpegOf(tables(), sof()), 'it ends before its image data'],
    ['nothing', jpegOf(), 'it ends before its image data'],
    [
      'a lone restart marker',
      jpegOf(Buffer.from([0xff, 0xd0, 0, 2]), tables(), sof(), sos()),
      'it has a segment that does not belong there',
    ],
    [
      'a number of lines',
      jpegOf(tables(), sof(), sos(), segment(0xdc, [0, 64])),
      'it has a segment that does not belong there',
    ],
    [
      'text between segments',
      jpegOf(tables(), Buffer.from('<script>'), sof(), sos()),
      'something stands between its segments',
    ],
    [
      'a segment without length',
      jpegOf(Buffer.from([0xff, 0xe1, 0, 1])),
      'one of its segments has no length',
    ],
    ['too many segments', jpegOf(...Array<Buffer>(20_001).fill(dri(8))), 'it has too many segments'],
    ['a long restart interval', jpegOf(tables(), segment(0xdd, [0, 0, 8])), 'its restart interval is wrong'],
  ])('with %s is refused', async (_what, jpeg, how) => {
    expect(await problem(jpeg)).toBe(`must be undamaged: ${how}`);
  });

  test('of a lossless, hierarchical or arithmetic process, or of 12 bits, is refused', async () => {
    for (const code of [0xc3, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf]) {
      expect(await problem(smallJpeg({ code }))).toBe('must be a baseline or progressive JPEG');
    }
    expect(await problem(smallJpeg({ precision: 12, code: 0xc1 }))).toBe(
      'must be a JPEG of 8 bits per component',
    );
    expect(await problem(smallJpeg({ code: 0xc1 }))).toMatch(/^none/);
  });

  test.each<[string, [number, number, number][]]>([
    ['none', []],
    ['two', three.slice(0, 2)],
    ['five', [...three, ...three]],
    ['two of one name', [three[0]!, three[0]!, three[1]!]],
    ['no samples across', [[1, 0x01, 0]]],
    ['no samples down', [[1, 0x10, 0]]],
    ['five samples across', [[1, 0x51, 0]]],
    [
      'three samples beside two',
      [
        [1, 0x31, 0],
        [2, 0x21, 0],
        [3, 0x11, 0],
      ],
    ],
  ])('with %s as its components is refused', async (_what, components) => {
    expect(await problem(smallJpeg({ components }))).toBe(wrongComponents);
  });

  test('that says more components than it names is refused', async () => {
    const short = segment(0xc0, [8, 0, 64, 0, 64, 3, 1, 0x11, 0]);
    expect(await problem(jpegOf(tables(), short, sos()))).toBe(wrongComponents);
  });
});

describe('the tables of a JPEG', () => {
  test.each([
    ['a quantization table 4', dqt(4)],
    ['a quantization table of 24 bits', dqt(0x20)],
    ['a Huffman table 4', dht('dc', 4)],
    ['a Huffman table of another kind', dht('dc', 0x20)],
    ['no codes', huffman([], [])],
    ['too many codes of a length', huffman([3], [0, 1, 2])],
    ['too many codes in all', huffman([1, 3], [0, 1, 2, 3])],
    ['a code of ones only', huffman([2], [0, 1])],
    ['a DC difference of 16 bits', huffman([1], [16])],
    [
      'more codes than symbols',
      segment(0xc4, [16, ...Array<number>(8).fill(0), 200, 200, ...Array<number>(406).fill(0)]),
    ],
  ])('with %s are wrong', async (_what, table) => {
    expect(await problem(jpegOf(table, tables(), sof(), sos()))).toBe(wrongTable);
  });

  test.each([
    ['quantization', jpegOf(dht('dc'), dht('ac'), sof(), sos())],
    ['DC', jpegOf(dqt(), dht('ac'), sof(), sos())],
    ['AC', jpegOf(dqt(), dht('dc'), sof(), sos())],
    ['another quantization', smallJpeg({ components: [[1, 0x11, 3]] })],
    ['another DC', smallJpeg({}, { components: [[1, 0x10]] })],
    ['another AC', smallJpeg({}, { components: [[1, 0x01]] })],
    ['progressive DC', jpegOf(dqt(), dht('ac'), sof(progressive), dcFirst)],
    ['progressive AC', jpegOf(dqt(), dht('dc'), sof(progressive), dcFirst, sos({ range: [1, 63, 0] }))],
  ])('lack the one for %s', async (_what, jpeg) => {
    expect(await problem(jpeg)).toBe('must be undamaged: one of its tables is missing');
  });

  test('cut short are not whole', async () => {
    expect(await problem(jpegOf(segment(0xdb, [0, 1, 2]), sof(), sos()))).toBe(notWhole);
    expect(await problem(jpegOf(segment(0xc4, [0, 1]), sof(), sos()))).toBe(notWhole);
  });
});

describe('the scans of a JPEG', () => {
  test.each([
    ['of no component', sos({ components: [] })],
    ['of five components', sos({ components: Array.from({ length: 5 }, () => [1, 0] as [number, number]) })],
    ['of an unknown component', sos({ components: [[9, 0]] })],
    [
      'of one component twice',
      sos({
        components: [
          [1, 0],
          [1, 0],
        ],
      }),
    ],
    ['of another length', segment(0xda, [1, 1, 0, 0, 63, 0, 0])],
    ['of some coefficients', sos({ range: [0, 20, 0] })],
    ['of none but the last', sos({ range: [63, 63, 0] })],
    ['of lower bits', sos({ range: [0, 63, 1] })],
  ])('%s are wrong', async (_what, scan) =>
    expect(await problem(jpegOf(tables(), sof(), scan))).toBe(wrongScan),
  );

  test.each([
    ['DC with AC', [dcFirst, sos({ range: [0, 5, 0] })]],
    ['an inverted range', [dcFirst, sos({ range: [5, 4, 0] })]],
    ['a range beyond the block', [dcFirst, sos({ range: [5, 64, 0] })]],
    ['14 bits left out', [sos({ range: [0, 0, 14] })]],
    ['two bits at once', [dcFirst, sos({ range: [0, 0, 0x20] })]],
  ])('with %s are wrong in a progressive JPEG', async (_what, scans) => {
    expect(await problem(jpegOf(tables(), sof(progressive), ...scans))).toBe(wrongScan);
  });

  test('of a progressive JPEG bring DC once, and first', async () => {
    const order = 'must be undamaged: its scans are in the wrong order';
    const ac = sos({ range: [1, 63, 0] });
    expect(await problem(jpegOf(tables(), sof(progressive), ac, dcFirst))).toBe(order);
    expect(await problem(jpegOf(tables(), sof(progressive), dcFirst, dcFirst))).toBe(order);
    const jpeg = await cleaned(jpegOf(tables(), sof(progressive), dcFirst, ac));
    expect((await decode(jpeg)).width).toBe(64);
  });

  test('may bring the components one by one, each once', async () => {
    const one = (id: number) => sos({ components: [[id, 0]] });
    const frame = sof({ components: three });
    expect((await decode(await cleaned(jpegOf(tables(), frame, one(1), one(2), one(3))))).width).toBe(64);
    const missing = 'must be undamaged: it ends before its image data';
    expect(await problem(jpegOf(tables(), frame, one(1), one(2)))).toBe(missing);
    const twice = 'must be undamaged: one of its components comes twice';
    expect(await problem(jpegOf(tables(), frame, one(1), one(1), one(2), one(3)))).toBe(twice);
  });

  test('together hold at most ten blocks a unit', async () => {
    const frame = sof({
      components: [
        [1, 0x42, 0],
        [2, 0x21, 0],
        [3, 0x11, 0],
      ],
    });
    const scan = sos({
      components: [
        [1, 0],
        [2, 0],
        [3, 0],
      ],
      data: Buffer.alloc(500),
    });
    expect(await problem(jpegOf(tables(), frame, scan))).toBe(wrongScan);
  });

  test('are at most 100: a small progressive file could keep a decoder busy for minutes', async () => {
    const refinements = (count: number) =>
      Array<Buffer>(count).fill(sos({ range: [1, 63, 0], data: Buffer.alloc(0) }));
    const jpeg = (count: number) => jpegOf(tables(), sof(progressive), dcFirst, ...refinements(count - 1));
    expect(await problem(jpeg(100))).toMatch(/^none/);
    expect(await problem(jpeg(101))).toBe('must be a JPEG of at most 100 scans');
  });
});

describe('the restart markers of a JPEG', () => {
  const restarted = (interval: number, data: Buffer) => jpegOf(tables(), dri(interval), sof(), sos({ data }));

  test('come as often as the size says, in their order', async () => {
    for (const interval of [4, 8, 16, 32, 64]) {
      const jpeg = restarted(interval, restartedData(interval));
      expect((await cleaned(jpeg)).equals(jpeg)).toBe(true);
      expect((await decode(jpeg)).width).toBe(64);
    }
    expect(await problem(restarted(4, restartedData(8)))).toBe(notWhole);
    const many = 'must be undamaged: it has more restart markers than its size says';
    expect(await problem(restarted(8, restartedData(4)))).toBe(many);
    expect(await problem(smallJpeg({}, { data: restartedData(8) }))).toBe(many);
  });

  test('in another order are refused', async () => {
    expect(await problem(restarted(8, restartedData(8, 1)))).toMatch(/^must be/);
  });
});
