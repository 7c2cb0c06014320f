import { describe, expect, test } from '@jest/globals';
import { dht, dqt, dri, jpegOf, smallJpeg, sof, sos, tables, type SampleScan } from './jpeg-parts.ts';
import { problem, segment } from './samples.ts';

const fine = 'none: it was accepted';
const notWhole = 'must be whole: a part of it is missing';
const wrongTable = 'must be undamaged: one of its tables is wrong';
const wrongScan = 'must be undamaged: one of its scans is wrong';
const wrongComponents = 'must be undamaged: its components are wrong';
const progressive = { code: 0xc2 };
const dcFirst = sos({ range: [0, 0, 0], data: Buffer.alloc(8) });

/** A Huffman table from its code counts and symbols. */
const huffman = (head: number, counts: number[], symbols: number[]) =>
  segment(0xc4, [head, ...counts, ...Array<number>(16 - counts.length).fill(0), ...symbols]);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

type Component = [number, number, number];
const sampled = (...samplings: number[]) => samplings.map((sampling, i): Component => [i + 1, sampling, 0]);

/** The fewest bytes of data with which a JPEG is whole; one less, and it is not. */
async function expectLeast(bytes: number, jpegWith: (data: Buffer) => Buffer): Promise<void> {
  expect(await problem(jpegWith(Buffer.alloc(bytes)))).toBe(fine);
  expect(await problem(jpegWith(Buffer.alloc(bytes - 1)))).toBe(notWhole);
}

describe('the tables of a JPEG', () => {
  test('are numbered from 0 to 3, and a picture may use any of them', async () => {
    for (const id of [0, 1, 2, 3]) {
      const jpeg = jpegOf(
        dqt(id),
        dht('dc', id),
        dht('ac', id),
        sof({ components: [[1, 0x11, id]] }),
        sos({ components: [[1, id * 17]] }),
      );
      expect(await problem(jpeg)).toBe(fine);
    }
    expect(await problem(jpegOf(dht('ac', 4), tables(), sof(), sos()))).toBe(wrongTable);
  });

  test('may be of 16 bits each where they quantize, and several in one segment', async () => {
    const wide = [0x10, ...Array<number>(128).fill(1)];
    const narrow = [1, ...Array<number>(64).fill(1)];
    const codes = [0x00, 1, ...Array<number>(15).fill(0), 0];
    const more = [0x10, 1, ...Array<number>(15).fill(0), 0];
    const frame = sof({ components: [[1, 0x11, 1]] });
    expect(
      await problem(
        jpegOf(segment(0xdb, [...wide, ...narrow]), segment(0xc4, [...codes, ...more]), frame, sos()),
      ),
    ).toBe(fine);
    expect(await problem(jpegOf(segment(0xdb, wide.slice(0, -1)), tables(), sof(), sos()))).toBe(notWhole);
  });

  test('of codes hold 256 symbols at most, and DC differences of at most 15 bits', async () => {
    const all = [...Array<number>(7).fill(0), 254, 2];
    expect(await problem(jpegOf(huffman(0x11, all, upTo(256)), tables(), sof(), sos()))).toBe(fine);
    const more = [...Array<number>(7).fill(0), 254, 3];
    expect(await problem(jpegOf(huffman(0x11, more, upTo(257)), tables(), sof(), sos()))).toBe(wrongTable);
    expect(await problem(jpegOf(huffman(0x01, [1], [15]), tables(), sof(), sos()))).toBe(fine);
    expect(await problem(jpegOf(huffman(0x11, [1], [255]), tables(), sof(), sos()))).toBe(fine);
  });

  test('of codes may use all but the last code of a length', async () => {
    expect(await problem(jpegOf(huffman(1, [0, 3], [0, 1, 2]), tables(), sof(), sos()))).toBe(fine);
    expect(await problem(jpegOf(huffman(1, [0, 4], [0, 1, 2, 3]), tables(), sof(), sos()))).toBe(wrongTable);
    expect(await problem(jpegOf(huffman(1, [1, 1, 1], [0, 1, 2]), tables(), sof(), sos()))).toBe(fine);
    expect(await problem(jpegOf(huffman(1, [1, 1, 2], [0, 1, 2, 3]), tables(), sof(), sos()))).toBe(
      wrongTable,
    );
    const ones = Array<number>(15).fill(1);
    expect(await problem(jpegOf(huffman(1, [...ones, 1], upTo(16)), tables(), sof(), sos()))).toBe(fine);
    expect(await problem(jpegOf(huffman(1, [...ones, 2], [...upTo(16), 0]), tables(), sof(), sos()))).toBe(
      wrongTable,
    );
  });
});

describe('the components of a JPEG', () => {
  test('have one to four samples across and down', async () => {
    for (const sampling of [0x11, 0x14, 0x41, 0x44])
      expect(await problem(smallJpeg({ components: [[1, sampling, 0]] }))).toBe(fine);
    for (const sampling of [0x15, 0x51, 0x01, 0x10])
      expect(await problem(smallJpeg({ components: [[1, sampling, 0]] }))).toBe(wrongComponents);
  });

  test('divide the finest of them, across and down', async () => {
    for (const samplings of [
      [0x31, 0x21, 0x11],
      [0x13, 0x12, 0x11],
      [0x11, 0x11, 0x32, 0x21],
    ])
      expect(await problem(smallJpeg({ components: sampled(...samplings) }))).toBe(wrongComponents);
  });
});

describe('the data of a JPEG takes at least', () => {
  const scan = (data: Buffer, components: [number, number][] = [[1, 0]], range?: SampleScan['range']) =>
    sos({ components, data, ...(range && { range }) });

  test('the shortest code of each of its tables for each block', async () => {
    // Two bits for DC and three for AC: 64 blocks of 5 bits.
    const codes = [dqt(), huffman(0, [0, 2], [0, 1]), huffman(0x10, [0, 0, 2], [0, 1])];
    await expectLeast(40, (data) => jpegOf(...codes, sof(), scan(data)));
  });

  test('a block for each started eight pixels across and down', async () => {
    // 9 × 10 blocks of 2 bits.
    await expectLeast(23, (data) => smallJpeg({ widthPx: 72, heightPx: 80 }, { data }));
    // 10 × 11 blocks.
    await expectLeast(28, (data) => smallJpeg({ widthPx: 73, heightPx: 81 }, { data }));
  });

  test('whole units of all its components where they come together', async () => {
    const frame = sof({ widthPx: 72, heightPx: 104, components: sampled(0x21, 0x11, 0x11) });
    const all: [number, number][] = [1, 2, 3].map((id) => [id, 0]);
    // 5 × 13 units of (2 + 1 + 1) blocks of 2 bits.
    await expectLeast(65, (data) => jpegOf(tables(), frame, scan(data, all)));
    const down = sof({ widthPx: 104, heightPx: 72, components: sampled(0x12, 0x11, 0x11) });
    await expectLeast(65, (data) => jpegOf(tables(), down, scan(data, all)));
  });

  test('blocks of its own samples where a component comes alone', async () => {
    const frame = sof({ widthPx: 72, heightPx: 104, components: sampled(0x22, 0x21, 0x12) });
    const enough = [1, 2, 3].map((id) => scan(Buffer.alloc(200), [[id, 0]]));
    // 9 × 13, then 9 × 7, then 5 × 13 blocks of 2 bits.
    for (const [i, least] of [30, 16, 17].entries()) {
      await expectLeast(least, (data) =>
        jpegOf(tables(), frame, ...enough.with(i, scan(data, [[i + 1, 0]]))),
      );
    }
  });

  test('one bit for each block where DC is refined, and nothing for AC', async () => {
    const rough = sos({ range: [0, 0, 1], data: Buffer.alloc(8) });
    await expectLeast(8, (data) =>
      jpegOf(tables(), sof(progressive), rough, scan(data, [[1, 0]], [0, 0, 0x10])),
    );
    expect(
      await problem(jpegOf(tables(), sof(progressive), dcFirst, scan(Buffer.alloc(0), [[1, 0]], [1, 63, 0]))),
    ).toBe(fine);
  });
});

describe('the scans of a JPEG', () => {
  const all: [number, number][] = [1, 2, 3].map((id) => [id, 0]);

  test('hold at most ten blocks a unit together, and sixteen alone', async () => {
    const data = Buffer.alloc(500);
    const ten = sof({ components: sampled(0x42, 0x11, 0x11) });
    expect(await problem(jpegOf(tables(), ten, sos({ components: all, data })))).toBe(fine);
    const eleven = sof({ components: sampled(0x42, 0x21, 0x11) });
    expect(await problem(jpegOf(tables(), eleven, sos({ components: all, data })))).toBe(wrongScan);
    const sixteen = sof({ components: sampled(0x44) });
    expect(await problem(jpegOf(tables(), sixteen, sos({ data })))).toBe(fine);
  });

  test('of a sequential JPEG may leave their last coefficient at zero, as some encoders do', async () => {
    expect(await problem(smallJpeg({}, { range: [0, 0, 0] }))).toBe(fine);
    for (const range of [
      [1, 63, 0],
      [0, 62, 0],
      [0, 63, 0x10],
    ] as [number, number, number][])
      expect(await problem(smallJpeg({}, { range }))).toBe(wrongScan);
  });

  test.each<[string, [number, number, number][], string]>([
    [
      'DC from its high bits on',
      [
        [0, 0, 2],
        [0, 0, 0x21],
        [0, 0, 0x10],
      ],
      fine,
    ],
    [
      'AC from its high bits on',
      [
        [0, 0, 0],
        [1, 63, 2],
        [1, 63, 0x21],
        [1, 63, 0x10],
      ],
      fine,
    ],
    ['13 bits left out', [[0, 0, 13]], fine],
    [
      'a single coefficient',
      [
        [0, 0, 0],
        [5, 5, 0],
      ],
      fine,
    ],
    [
      'the last coefficient',
      [
        [0, 0, 0],
        [63, 63, 0],
      ],
      fine,
    ],
    [
      'no bit more than before',
      [
        [0, 0, 1],
        [0, 0, 0x11],
      ],
      wrongScan,
    ],
    [
      'a bit less than before',
      [
        [0, 0, 1],
        [0, 0, 0x12],
      ],
      wrongScan,
    ],
    [
      '14 bits left out of AC',
      [
        [0, 0, 0],
        [1, 63, 14],
      ],
      wrongScan,
    ],
  ])('of a progressive JPEG with %s', async (_what, ranges, said) => {
    const scans = ranges.map((range) => sos({ range, data: Buffer.alloc(8) }));
    expect(await problem(jpegOf(tables(), sof(progressive), ...scans))).toBe(said);
  });

  test('of a progressive JPEG bring DC of several components, and AC of one', async () => {
    const frame = sof({ ...progressive, components: sampled(0x11, 0x11, 0x11) });
    const scan = (components: [number, number][], range: [number, number, number]) =>
      sos({ components, range, data: Buffer.alloc(24) });
    const dc = scan(all, [0, 0, 0]);
    expect(await problem(jpegOf(tables(), frame, dc, scan([[2, 0]], [1, 63, 0])))).toBe(fine);
    expect(await problem(jpegOf(tables(), frame, dc, scan(all.slice(0, 2), [1, 63, 0])))).toBe(wrongScan);
  });

  test('take their tables as the file names them, each component its own', async () => {
    const codes = [dqt(), dqt(1), dht('dc', 1), dht('ac', 2), dht('dc', 3), dht('ac', 3)];
    const frame = sof({
      components: [
        [7, 0x11, 0],
        [8, 0x11, 1],
        [9, 0x11, 1],
      ],
    });
    const scan = (...heads: number[]) =>
      sos({ components: heads.map((head, i) => [7 + i, head]), data: Buffer.alloc(48) });
    expect(await problem(jpegOf(...codes, frame, scan(0x12, 0x33, 0x32)))).toBe(fine);
    const missing = 'must be undamaged: one of its tables is missing';
    const few = codes.filter((_, i) => i !== 1);
    expect(await problem(jpegOf(...few, frame, scan(0x12, 0x33, 0x32)))).toBe(missing);
    for (const heads of [
      [0x21, 0x33, 0x32],
      [0x12, 0x30, 0x32],
      [0x12, 0x33, 0x02],
    ])
      expect(await problem(jpegOf(...codes, frame, scan(...heads)))).toBe(missing);
  });
});

test('a restart interval longer than the picture asks for no marker, and the last one given counts', async () => {
  expect(await problem(jpegOf(tables(), dri(65), sof(), sos()))).toBe(fine);
  expect(await problem(jpegOf(tables(), dri(8), dri(0), sof(), sos()))).toBe(fine);
  expect(await problem(jpegOf(tables(), dri(63), sof(), sos()))).toBe(notWhole);
});
