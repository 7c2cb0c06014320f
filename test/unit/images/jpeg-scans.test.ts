import { describe, expect, test } from '@jest/globals';
import {
  chosen,
  dqt,
  dri,
  eoi,
  jpegOf,
  progressive,
  restartedData,
  sampled,
  scan,
  segment,
  smallJpeg,
  sof,
  soi,
  sos,
  tables,
  type SampleScan,
} from './jpeg-parts.ts';
import { accepted, cleaned, decode, each, notWhole, problem, testCleaned, testProblems } from './samples.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const withData = (text: string) => smallJpeg({}, { data: hex(text) });
const withScan = (one: SampleScan) => smallJpeg({}, one);
const restarted = (interval: number, data: Buffer) => jpegOf(tables(), dri(interval), sof(), sos({ data }));
/** A picture of components with these samplings, which come together. */
const together = (...samplings: number[]) =>
  jpegOf(
    tables(),
    sof({ components: sampled(...samplings) }),
    sos({ components: chosen(...samplings.map((_, i) => i + 1)), data: Buffer.alloc(500) }),
  );

const dc = scan(0, 0, 0);
const three = sof({ components: sampled(0x11, 0x11, 0x11) });
const one = (id: number) => sos({ components: chosen(id) });
const progressiveThree = (...scans: Buffer[]) =>
  jpegOf(tables(), sof({ code: 0xc2, components: sampled(0x11, 0x11, 0x11) }), ...scans);
const dcOfThree = sos({ components: chosen(1, 2, 3), range: [0, 0, 0], data: Buffer.alloc(24) });
const acOf = (...ids: number[]) => sos({ components: chosen(...ids), range: [1, 63, 0] });

describe('of the scans of a JPEG is said', () => {
  testProblems({
    [accepted]: {
      'a last coefficient of zero, as some encoders write it': withScan({ range: [0, 0, 0] }),
      'ten blocks a unit together': together(0x42, 0x11, 0x11),
      'sixteen blocks alone': together(0x44),
      'DC from its high bits on': progressive(scan(0, 0, 2), scan(0, 0, 0x21), scan(0, 0, 0x10)),
      'AC from its high bits on': progressive(dc, scan(1, 63, 2), scan(1, 63, 0x21), scan(1, 63, 0x10)),
      '13 bits left out': progressive(scan(0, 0, 13)),
      'a single coefficient': progressive(dc, scan(5, 5, 0)),
      'the last coefficient': progressive(dc, scan(63, 63, 0)),
      'DC of several components, and AC of one': progressiveThree(dcOfThree, acOf(2)),
    },
    'must be undamaged: one of its scans is wrong': {
      'no component': withScan({ components: [] }),
      'five components': withScan({ components: chosen(1, 1, 1, 1, 1) }),
      'an unknown component': withScan({ components: chosen(9) }),
      'one component twice': withScan({ components: chosen(1, 1) }),
      'another length': jpegOf(tables(), sof(), segment(0xda, [1, 1, 0, 0, 63, 0, 0])),
      'eleven blocks a unit together': together(0x42, 0x21, 0x11),
      'no DC': withScan({ range: [1, 63, 0] }),
      'no last coefficient': withScan({ range: [0, 62, 0] }),
      'a shift': withScan({ range: [0, 63, 1] }),
      'a high shift': withScan({ range: [0, 63, 0x10] }),
      'DC with AC': progressive(dc, scan(0, 5, 0)),
      'an inverted range': progressive(dc, scan(5, 4, 0)),
      'a range beyond the block': progressive(dc, scan(5, 64, 0)),
      '14 bits left out': progressive(scan(0, 0, 14)),
      '14 bits left out of AC': progressive(dc, scan(1, 63, 14)),
      'two bits at once': progressive(dc, scan(0, 0, 0x20)),
      'no bit more than before': progressive(scan(0, 0, 1), scan(0, 0, 0x11)),
      'a bit less than before': progressive(scan(0, 0, 1), scan(0, 0, 0x12)),
      'AC of several components': progressiveThree(dcOfThree, acOf(1, 2)),
    },
    'must be undamaged: its scans are in the wrong order': {
      'AC before DC': progressive(scan(1, 63, 0), dc),
      'DC twice': progressive(dc, dc),
    },
    'must be undamaged: it ends before its image data': {
      'a component that is missing': jpegOf(tables(), three, one(1), one(2)),
    },
    'must be undamaged: one of its components comes twice': {
      'the first of three': jpegOf(tables(), three, one(1), one(1), one(2), one(3)),
    },
  });

  test.each([
    ['a progressive one', progressive(dc, scan(1, 63, 0))],
    ['one of components that come one by one', jpegOf(tables(), three, one(1), one(2), one(3))],
  ])('nothing of %s, which decoders show', async (_what, jpeg) => {
    expect((await decode(await cleaned(jpeg))).width).toBe(64);
  });

  test('that they are at most 100: a small progressive file could keep a decoder busy for minutes', async () => {
    const jpeg = (count: number) =>
      progressive(dc, ...Array<Buffer>(count - 1).fill(scan(1, 63, 0, Buffer.alloc(0))));
    expect(await problem(jpeg(100))).toBe(accepted);
    expect(await problem(jpeg(101))).toBe('must be a JPEG of at most 100 scans');
  });
});

describe('the data of a JPEG takes at least', () => {
  /** Two bits for DC and three for AC. */
  const longCodes = [
    dqt(),
    segment(0xc4, [0, 0, 2, ...Array<number>(14).fill(0), 0, 1]),
    segment(0xc4, [0x10, 0, 0, 2, ...Array<number>(13).fill(0), 0, 1]),
  ];
  const units = (widthPx: number, heightPx: number, sampling: number) => (data: Buffer) =>
    jpegOf(
      tables(),
      sof({ widthPx, heightPx, components: sampled(sampling, 0x11, 0x11) }),
      sos({ components: chosen(1, 2, 3), data }),
    );
  const alone = (id: number) => (data: Buffer) =>
    jpegOf(
      tables(),
      sof({ widthPx: 72, heightPx: 104, components: sampled(0x22, 0x21, 0x12) }),
      ...[1, 2, 3].map((other) =>
        sos({ components: chosen(other), data: other === id ? data : Buffer.alloc(200) }),
      ),
    );

  test.each<[what: string, leastBytes: number, jpegWith: (data: Buffer) => Buffer]>([
    [
      'the shortest code of each table for each of 64 blocks',
      40,
      (data) => jpegOf(...longCodes, sof(), sos({ data })),
    ],
    ['2 bits for each of 9 × 10 blocks', 23, (data) => smallJpeg({ widthPx: 72, heightPx: 80 }, { data })],
    [
      '2 bits for each of 10 × 11 started blocks',
      28,
      (data) => smallJpeg({ widthPx: 73, heightPx: 81 }, { data }),
    ],
    ['5 × 13 units of (2 + 1 + 1) blocks together', 65, units(72, 104, 0x21)],
    ['13 × 5 units of (2 + 1 + 1) blocks together', 65, units(104, 72, 0x12)],
    ['9 × 13 blocks of the first component alone', 30, alone(1)],
    ['9 × 7 blocks of the second component alone', 16, alone(2)],
    ['5 × 13 blocks of the third component alone', 17, alone(3)],
    ['1 bit for each block where DC begins', 8, (data) => progressive(scan(0, 0, 0, data))],
    [
      '1 bit for each block where DC is refined',
      8,
      (data) => progressive(scan(0, 0, 1), scan(0, 0, 0x10, data)),
    ],
  ])('%s', async (_what, leastBytes, jpegWith) => {
    expect(await problem(jpegWith(Buffer.alloc(leastBytes)))).toBe(accepted);
    expect(await problem(jpegWith(Buffer.alloc(leastBytes - 1)))).toBe(notWhole);
  });
});

describe('of the compressed data of a JPEG is said', () => {
  const open = Buffer.concat([soi, tables(), sof(), sos()]);
  const run = '00'.repeat(8);
  testProblems({
    [accepted]: {
      'a stuffed byte counts as one': withData('ff00'.repeat(16)),
      'fill bytes behind it': withData(`${'00'.repeat(16)}ffffff`),
      'fill bytes before a restart marker': restarted(32, hex(`${run}ffffffd0${run}`)),
      'a restart interval longer than the picture': restarted(65, Buffer.alloc(16)),
      'the last restart interval, which counts': jpegOf(tables(), dri(8), dri(0), sof(), sos()),
      'its end right behind it': Buffer.concat([open, eoi]),
    },
    [notWhole]: {
      'a byte too few': smallJpeg({}, { data: Buffer.alloc(15) }),
      'too little for one more pixel': smallJpeg({ widthPx: 65 }),
      'too little by far': smallJpeg({ widthPx: 8000, heightPx: 5000 }),
      'stuffed zeros, which are no data': withData('ff00'.repeat(15)),
      'fill bytes, which are none': withData(`${'00'.repeat(15)}ffffff`),
      'too little between restart markers': restarted(32, hex(`${run}ffffffd0${run.slice(2)}`)),
      'too few restart markers': restarted(4, restartedData(8)),
      'no restart marker': restarted(63, Buffer.alloc(16)),
      'a zero behind fill bytes, which ends it': withData(`${'00'.repeat(16)}ffff00`),
      ...each('an end with', ['', 'ff', 'ffff', 'ff00'], (rest) => Buffer.concat([open, hex(rest)])),
    },
    'must be undamaged: it has more restart markers than its size says': {
      'one each four blocks in place of eight': restarted(8, restartedData(4)),
      'none asked for': smallJpeg({}, { data: restartedData(8) }),
    },
  });

  test('that restart markers in another order are wrong', async () => {
    expect(await problem(restarted(8, restartedData(8, 1)))).toMatch(/^must be/);
  });

  testCleaned(
    each('nothing of restart markers as often as the interval says:', [4, 8, 16, 32, 64], (interval) => [
      restarted(interval, restartedData(interval)),
      restarted(interval, restartedData(interval)),
    ]),
  );

  test('nothing of restart markers that decoders follow', async () => {
    expect((await decode(restarted(4, restartedData(4)))).width).toBe(64);
  });
});
