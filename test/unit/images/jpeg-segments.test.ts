import { describe, expect, test } from '@jest/globals';
import {
  dri,
  eoi,
  jpegOf,
  progressive,
  samsungTrailer,
  scan,
  segment,
  smallJpeg,
  sof,
  soi,
  sos,
  tables,
  withSegments,
} from './jpeg-parts.ts';
import {
  accepted,
  cleaned,
  decode,
  each,
  part,
  planted,
  png,
  problem,
  realFile,
  testCleaned,
  testProblems,
} from './samples.ts';

const plain = smallJpeg();
/** A JPEG with the first segments, of which the others are left. */
const leaves = (segments: Buffer[], left: Buffer[]): [Buffer, Buffer] => [
  withSegments(plain, ...segments),
  withSegments(plain, ...left),
];
const stay = (...segments: Buffer[]) => leaves(segments, segments);
const go = (...segments: Buffer[]) => leaves(segments, []);

test.each(Array.from({ length: 16 }, (_, i) => 0xe0 + i).concat(0xfe))(
  'the segment %i of a real JPEG goes, with what it hides',
  async (code) => {
    const real = await realFile('a JPEG of 4:2:0');
    for (const text of [
      planted,
      `<html>${planted}`,
      `PK\x05\x06${planted}`,
      `Exif\0\0${planted}`,
      `MPF\0${planted}`,
      `ICC_PROFILE\0\x01\x01${planted.repeat(9)}`,
      `http://ns.adobe.com/xap/1.0/\0${planted}`,
      `JFXX\0${planted}`,
    ]) {
      const jpeg = withSegments(real, segment(code, text), segment(code, text));
      expect((await cleaned(jpeg)).equals(await cleaned(real))).toBe(true);
    }
  },
);

describe('of the settings of a JPEG', () => {
  const start = 'JFIF\0\x01\x02\x01\0\x48\0\x48';
  const jfif = segment(0xe0, `${start}\0\0`);
  const otherJfif = segment(0xe0, 'JFIF\0\x01\x01\0\0\x01\0\x01\0\0');
  const adobe = (transform: number) => segment(0xee, `Adobe\0\x64\0\0\0\0${String.fromCharCode(transform)}`);
  const tiff = 'MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0';
  const exif = segment(0xe1, `Exif\0\0${tiff}`);
  const xmp = segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0<x/>');
  const profile = profileParts([1], profileOf(200))[0]!;
  /** The same content under another marker. */
  const goesAs = (content: Buffer) => (code: number) => go(segment(code, content.subarray(4)));
  const dc = scan(0, 0, 0);
  const fill = Buffer.alloc(5, 0xff);

  testCleaned({
    'JFIF stays without its thumbnail': leaves([segment(0xe0, `${start}\x09\x09${planted}`)], [jfif]),
    'Adobe stays without what follows it': leaves(
      [segment(0xee, adobe(0).toString('latin1', 4) + planted)],
      [adobe(0)],
    ),
    'the first JFIF counts': leaves([jfif, otherJfif], [jfif]),
    'the first JFIF counts, whichever it is': leaves([otherJfif, jfif], [otherJfif]),
    'a JFIF that is not whole goes': go(segment(0xe0, `${start}\0`)),
    'the last Adobe counts': leaves([adobe(0), adobe(1)], [adobe(1)]),
    'the last Adobe counts, whichever it is': leaves([adobe(1), adobe(0)], [adobe(0)]),
    'an Adobe that is not whole goes': go(segment(0xee, 'Adobe\0\x64\0\0\0\0')),
    ...each('JFIF goes under the marker', [0xe1, 0xe2, 0xee, 0xef], goesAs(jfif)),
    ...each('Adobe goes under the marker', [0xe0, 0xe1, 0xe2, 0xed], goesAs(adobe(0))),
    ...each('a profile goes under the marker', [0xe0, 0xe1, 0xe3, 0xee], goesAs(profile)),
    ...each('an orientation goes under the marker', [0xe0, 0xe2, 0xee], goesAs(exif)),
    'an orientation stays, behind other segments of its marker too': leaves([xmp, exif], [exif]),
    'an orientation in small letters goes': go(segment(0xe1, `exif\0\0${tiff}`)),
    'all are written in one order, whatever theirs was': leaves(
      [profile, adobe(1), jfif],
      [jfif, adobe(1), profile],
    ),
    'an empty comment goes': go(segment(0xfe, '')),
    'a picture in another format goes': go(segment(0xfe, png({ before: [part('tEXt', planted)] }))),
    'none count between scans': [
      progressive(dc, segment(0xfe, planted), segment(0xee, `Adobe${planted}`)),
      progressive(dc),
    ],
    'fill bytes before markers go': [
      Buffer.concat([soi, fill, tables(), fill, sof(), fill, sos(), fill, eoi]),
      plain,
    ],
  });
});

/** An ICC profile of this length. */
function profileOf(length: number): Buffer {
  const profile = Buffer.alloc(length, 1);
  profile.writeUInt32BE(length);
  profile.write('acsp', 36);
  return profile;
}

/** A profile in parts with these numbers and counts, cut at these places. */
function profileParts(numbers: number[], profile: Buffer, cuts: number[] = [], counts?: number[]): Buffer[] {
  return numbers.map((number, i) => {
    const data = profile.subarray(cuts[i - 1] ?? 0, cuts[i] ?? profile.length);
    const head = Buffer.from([number, counts?.[i] ?? numbers.length]);
    return segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0'), head, data]));
  });
}

describe('the color profile of a JPEG', () => {
  const long = profileOf(70_000);
  const inTwo = profileParts([1, 2], long, [65_519]);
  const [first, second] = inTwo as [Buffer, Buffer];
  const small = profileOf(200);
  const unsigned = profileOf(200);
  unsigned.write('ACSP', 36);
  const numbered = (numbers: number[], ...counts: number[]) =>
    go(...profileParts(numbers, profileOf(300 * numbers.length), [300, 600], counts));

  testCleaned({
    'stays in its parts': stay(...inTwo),
    'stays whatever the order of its parts': leaves([second, first], inTwo),
    'goes without its second part': go(first),
    'goes without its first part': go(second),
    'goes where a part comes twice': go(first, first),
    'goes where it is cut short': go(...profileParts([1], long.subarray(0, 9000))),
    'stays in one segment that it fills': stay(...profileParts([1], profileOf(65_519))),
    'stays in two segments where one is too short': stay(
      ...profileParts([1, 2], profileOf(65_520), [65_519]),
    ),
    'is written in as few segments as can be': leaves(
      profileParts([1, 2], profileOf(65_519), [300]),
      profileParts([1], profileOf(65_519)),
    ),
    'stays with its header and a count of its tags': stay(...profileParts([1], profileOf(132))),
    'goes with less': go(...profileParts([1], profileOf(131))),
    'goes unsigned': go(...profileParts([1], unsigned)),
    'goes with two counts': numbered([1, 2, 3], 3, 3, 2),
    'goes with a number too high': numbered([1, 3], 2, 2),
    'goes with a number of zero': numbered([0, 1], 2, 2),
    'goes with fewer parts than it says': numbered([1, 2], 3, 3),
    'goes with more parts than it says': numbered([1, 2, 3], 2, 2, 2),
    'may have a part of one byte': leaves(profileParts([1, 2], small, [199]), profileParts([1], small)),
    'may have no empty part': go(...profileParts([1, 2, 3], small, [199, 200])),
  });

  test('is what decoders find', async () => {
    const { profile } = await decode(await cleaned(withSegments(plain, second, first)));
    expect(profile).toBe(long.toString('base64'));
  });
});

const zeros = Buffer.alloc(37);
const map = smallJpeg({ widthPx: 8, heightPx: 8 });
const trailer = samsungTrailer([
  { name: 'Image_UTC_Data', data: Buffer.from(`1700000000000${planted}`) },
  { name: 'MotionPhoto_Data', data: Buffer.from(`\0\0\0\x18ftypmp42${planted}`) },
]);

describe('behind the end of a JPEG, as phones write them, are cut off', () => {
  const isCut = (...appended: Buffer[]): [Buffer, Buffer] => [Buffer.concat([plain, ...appended]), plain];
  const hiding = withSegments(plain, segment(0xfe, planted));
  testCleaned({
    zeros: isCut(zeros),
    'a gain map': isCut(map),
    'two pictures with zeros around them': isCut(zeros, map, zeros, hiding, zeros),
    "Samsung's trailer": isCut(trailer),
    "a gain map and Samsung's trailer": isCut(map, zeros, trailer),
  });
});

describe('behind the end of a JPEG is refused, with its length,', () => {
  const changed = (at: number, value: number) => {
    const wrong = Buffer.from(trailer);
    wrong[at < 0 ? wrong.length + at : at] = value;
    return wrong;
  };
  test.each(
    Object.entries({
      'one byte': Buffer.from('A'),
      'more than a thousand bytes': Buffer.alloc(1234, 'A'),
      'a ZIP': Buffer.from('PK\x05\x06' + '\0'.repeat(18), 'latin1'),
      'a ZIP behind zeros': Buffer.concat([zeros, Buffer.from('PK\x05\x06')]),
      HTML: Buffer.from('<script>alert(1)</script>'),
      'a script': Buffer.from('*/=alert(1)/*'),
      'a PDF': Buffer.from('%PDF-1.7\n%%EOF'),
      'an MP4': Buffer.from('\0\0\0\x18ftypmp42'),
      'a PNG': png(),
      'half a picture': map.subarray(0, -9),
      'a picture and a byte': Buffer.concat([map, Buffer.from('a')]),
      'the start of a picture': soi,
      'something that only ends as a trailer does': Buffer.from('<script></script>SEFT'),
      "something before Samsung's trailer": Buffer.concat([Buffer.from('<b>'), trailer]),
      "something behind Samsung's trailer": Buffer.concat([trailer, Buffer.from('<b>')]),
      "Samsung's trailer with a wrong end": changed(-1, 0x58),
      "Samsung's trailer with a wrong length": changed(-8, 1),
      "Samsung's trailer without its directory": changed(-44, 0),
      "Samsung's trailer with a wrong count": changed(-36, 3),
      "Samsung's trailer with a wrong type": changed(2, 0x77),
      "Samsung's trailer with a wrong place": changed(-28, 255),
      "Samsung's trailer with a wrong block": changed(-24, 255),
      "Samsung's trailer with a wrong name": changed(5, 255),
      "Samsung's trailer of no blocks": samsungTrailer([]),
    }),
  )('%s', async (_what, bytes) => {
    const { length } = bytes;
    const follow = length === 1 ? '1 byte follows' : `${length.toLocaleString('en-US')} bytes follow`;
    expect(await problem(Buffer.concat([plain, bytes]))).toBe(
      `must hold one image and nothing else: ${follow} its end`,
    );
  });

  test('and before its start nothing may stand', async () => {
    expect(await problem(Buffer.concat([zeros, plain]))).toBe('must be a PNG, JPEG or WebP image');
    expect(await problem(Buffer.concat([soi, Buffer.from('GIF89a'), plain.subarray(2)]))).toMatch(/^must be/);
  });
});

describe('of the number of segments is said', () => {
  const jpeg = (count: number) => jpegOf(...Array<Buffer>(count - 5).fill(dri(0)), tables(), sof(), sos());
  testProblems({
    [accepted]: { 'of 20,000': jpeg(20_000) },
    'must be undamaged: it has too many segments': { 'of 20,001': jpeg(20_001) },
  });
});
