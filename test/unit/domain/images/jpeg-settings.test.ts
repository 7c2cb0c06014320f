import { describe, expect, test } from '@jest/globals';
import { dri, eoi, jpegOf, smallJpeg, sof, soi, sos, tables } from './jpeg-parts.ts';
import { cleaned, problem, segment, withSegments } from './samples.ts';

const fine = 'none: it was accepted';
const notWhole = 'must be whole: a part of it is missing';
const plain = smallJpeg();
const jfif = (last: string) => segment(0xe0, `JFIF\0\x01\x02\x01\0\x48\0\x48\0${last}`);
const adobe = (transform: number) => segment(0xee, `Adobe\0\x64\0\0\0\0${String.fromCharCode(transform)}`);

/** An ICC profile of this length. */
function profileOf(length: number): Buffer {
  const profile = Buffer.alloc(length, 1);
  profile.writeUInt32BE(length);
  profile.write('acsp', 36);
  return profile;
}
const profilePart = (number: number, count: number, data: Uint8Array) =>
  segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.from([number, count]), data]));

async function expectKept(segments: Buffer[], kept: Buffer[]): Promise<void> {
  const bytes = await cleaned(withSegments(plain, ...segments));
  expect(bytes.equals(withSegments(plain, ...kept))).toBe(true);
}

describe('of the settings of a JPEG', () => {
  test('the first JFIF counts, if it is whole', async () => {
    const other = segment(0xe0, 'JFIF\0\x01\x01\0\0\x01\0\x01\0\0');
    await expectKept([jfif('\0'), other], [jfif('\0')]);
    await expectKept([other, jfif('\0')], [other]);
    await expectKept([segment(0xe0, 'JFIF\0\x01\x02\x01\0\x48\0\x48\0')], []);
  });

  test('the last Adobe counts, if it is whole', async () => {
    await expectKept([adobe(0), adobe(1)], [adobe(1)]);
    await expectKept([adobe(1), adobe(0)], [adobe(0)]);
    await expectKept([segment(0xee, 'Adobe\0\x64\0\0\0\0')], []);
  });

  test('each counts under its own marker only', async () => {
    for (const code of [0xe1, 0xe2, 0xee, 0xef])
      await expectKept([segment(code, jfif('\0').subarray(4))], []);
    for (const code of [0xe0, 0xe1, 0xe2, 0xed]) await expectKept([segment(code, adobe(0).subarray(4))], []);
    const profile = profilePart(1, 1, profileOf(200));
    for (const code of [0xe0, 0xe1, 0xe3, 0xee]) await expectKept([segment(code, profile.subarray(4))], []);
    const tiff = 'MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0';
    for (const code of [0xe0, 0xe2, 0xee]) await expectKept([segment(code, `Exif\0\0${tiff}`)], []);
    await expectKept([segment(0xe1, `Exif\0\0${tiff}`)], [segment(0xe1, `Exif\0\0${tiff}`)]);
  });

  test('the orientation counts behind other segments of its marker', async () => {
    const tiff = 'MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0';
    const exif = segment(0xe1, `Exif\0\0${tiff}`);
    await expectKept([segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0<x/>'), exif], [exif]);
    await expectKept([segment(0xe1, `exif\0\0${tiff}`)], []);
  });

  test('all are written in one order, whatever theirs was', async () => {
    const [first, second] = [adobe(1), profilePart(1, 1, profileOf(200))];
    await expectKept([second, first, jfif('\0')], [jfif('\0'), first, second]);
  });
});

describe('the color profile of a JPEG', () => {
  test('is written in as few segments as can be', async () => {
    const exact = profileOf(65_519);
    await expectKept([profilePart(1, 1, exact)], [profilePart(1, 1, exact)]);
    const [one, two] = [exact.subarray(0, 300), exact.subarray(300)];
    await expectKept([profilePart(1, 2, one), profilePart(2, 2, two)], [profilePart(1, 1, exact)]);
    const longer = profileOf(65_520);
    const parts = [profilePart(1, 2, longer.subarray(0, 65_519)), profilePart(2, 2, longer.subarray(65_519))];
    await expectKept(parts, parts);
  });

  test('has at least its header and a count of its tags', async () => {
    await expectKept([profilePart(1, 1, profileOf(132))], [profilePart(1, 1, profileOf(132))]);
    await expectKept([profilePart(1, 1, profileOf(131))], []);
    const unsigned = profileOf(200);
    unsigned.write('ACSP', 36);
    await expectKept([profilePart(1, 1, unsigned)], []);
  });

  test.each([
    ['two counts', [1, 2, 3], [3, 3, 2]],
    ['a number too high', [1, 3], [2, 2]],
    ['a number of zero', [0, 1], [2, 2]],
    ['fewer parts than it says', [1, 2], [3, 3]],
    ['more parts than it says', [1, 2, 3], [2, 2, 2]],
  ])('with %s is none', async (_what, numbers, counts) => {
    const profile = profileOf(300 * numbers.length);
    const parts = numbers.map((number, i) =>
      profilePart(number, counts[i]!, profile.subarray(i * 300, (i + 1) * 300)),
    );
    await expectKept(parts, []);
  });

  test('may have parts of one byte, and no empty one', async () => {
    const profile = profileOf(200);
    const [head, last] = [profile.subarray(0, 199), profile.subarray(199)];
    await expectKept([profilePart(1, 2, head), profilePart(2, 2, last)], [profilePart(1, 1, profile)]);
    const empty = profilePart(3, 3, Buffer.alloc(0));
    await expectKept([profilePart(1, 3, head), profilePart(2, 3, last), empty], []);
  });
});

describe('the segments of a JPEG', () => {
  test.each([0x00, 0x01, 0xbf, 0xd1, 0xd7, 0xd8, 0xdf, 0xf0, 0xfd])(
    'are none with the marker %i',
    async (code) => {
      expect(await problem(withSegments(plain, segment(code, 'abcd')))).toBe(
        'must be undamaged: it has a segment that does not belong there',
      );
    },
  );

  test('may be empty, but not without a length', async () => {
    await expectKept([segment(0xfe, '')], []);
    for (const length of [0, 1])
      expect(await problem(withSegments(plain, Buffer.from([0xff, 0xfe, 0, length])))).toBe(
        'must be undamaged: one of its segments has no length',
      );
  });

  test('are at most 20,000', async () => {
    const jpeg = (count: number) => jpegOf(...Array<Buffer>(count - 5).fill(dri(0)), tables(), sof(), sos());
    expect(await problem(jpeg(20_000))).toBe(fine);
    expect(await problem(jpeg(20_001))).toBe('must be undamaged: it has too many segments');
  });
});

describe('the compressed data of a JPEG', () => {
  const withData = (hex: string) => smallJpeg({}, { data: Buffer.from(hex, 'hex') });

  test('counts a stuffed byte as one, and fill bytes as none', async () => {
    expect(await problem(withData('ff00'.repeat(16)))).toBe(fine);
    expect(await problem(withData(`${'00'.repeat(16)}ffffff`))).toBe(fine);
    expect(await problem(withData(`${'00'.repeat(15)}ffffff`))).toBe(notWhole);
  });

  test('may have fill bytes before a restart marker', async () => {
    const run = Buffer.alloc(8);
    const data = Buffer.concat([run, Buffer.from('ffffffd0', 'hex'), run]);
    const restarted = (bytes: Buffer) => jpegOf(tables(), dri(32), sof(), sos({ data: bytes }));
    expect(await problem(restarted(data))).toBe(fine);
    expect(await problem(restarted(data.subarray(0, -1)))).toBe(notWhole);
  });

  test('ends where a zero stands behind fill bytes, which is no stuffed byte', async () => {
    expect(await problem(withData(`${'00'.repeat(16)}ffff00`))).toBe(notWhole);
  });

  test('that ends with the file, or at a marker cut in half, is not whole', async () => {
    const open = Buffer.concat([soi, tables(), sof(), sos()]);
    for (const rest of ['', 'ff', 'ffff', 'ff00'])
      expect(await problem(Buffer.concat([open, Buffer.from(rest, 'hex')]))).toBe(notWhole);
    expect(await problem(Buffer.concat([open, eoi]))).toBe(fine);
  });
});

test.each([
  [1, '1 byte follows'],
  [2, '2 bytes follow'],
  [1234, '1,234 bytes follow'],
])('how much stands behind the end is told: %i', async (count, said) => {
  expect(await problem(Buffer.concat([plain, Buffer.alloc(count, 0x41)]))).toBe(
    `must hold one image and nothing else: ${said} its end`,
  );
});
