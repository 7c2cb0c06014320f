import { describe, expect, test } from '@jest/globals';
import { eoi, jpegOf, samsungTrailer, smallJpeg, sof, soi, sos, tables } from './jpeg-parts.ts';
import {
  cleaned,
  decode,
  isStable,
  part,
  planted,
  problem,
  realFile,
  segment,
  smallPng,
  withSegments,
} from './samples.ts';

const progressive = { code: 0xc2 };
const dcFirst = sos({ range: [0, 0, 0], data: Buffer.alloc(8) });

describe('of the other segments of a JPEG', () => {
  test.each(Array.from({ length: 16 }, (_, i) => 0xe0 + i).concat(0xfe))(
    '%i goes, with what it hides',
    async (code) => {
      const plain = await realFile('a JPEG of 4:2:0');
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
        const jpeg = withSegments(plain, segment(code, text), segment(code, text));
        expect((await cleaned(jpeg)).equals(await cleaned(plain))).toBe(true);
      }
    },
  );

  test('go between scans too', async () => {
    const jpeg = jpegOf(
      tables(),
      sof(progressive),
      dcFirst,
      segment(0xfe, planted),
      segment(0xee, `Adobe${planted}`),
    );
    expect((await cleaned(jpeg)).equals(jpegOf(tables(), sof(progressive), dcFirst))).toBe(true);
  });

  test('JFIF stays without its thumbnail, and Adobe without what follows it', async () => {
    const jfif = 'JFIF\0\x01\x02\x01\0\x48\0\x48';
    const adobe = 'Adobe\0\x64\0\0\0\0\x00';
    const jpeg = smallJpeg();
    const both = withSegments(
      jpeg,
      segment(0xe0, `${jfif}\x09\x09${planted}`),
      segment(0xee, adobe + planted),
    );
    const bytes = await cleaned(both);
    expect(bytes.equals(withSegments(jpeg, segment(0xe0, `${jfif}\0\0`), segment(0xee, adobe)))).toBe(true);
    expect(await isStable(bytes)).toBe(true);
  });

  test('a color profile stays, whatever the order of its parts, unless one is missing', async () => {
    const profile = Buffer.alloc(70_000, 1);
    profile.writeUInt32BE(70_000);
    profile.write('acsp', 36);
    const piece = (number: number, count: number, data: Uint8Array) =>
      segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.from([number, count]), data]));
    const plain = smallJpeg();
    const [first, second] = [piece(1, 2, profile.subarray(0, 65_519)), piece(2, 2, profile.subarray(65_519))];
    const bytes = await cleaned(withSegments(plain, second, first));
    expect(bytes.equals(withSegments(plain, first, second))).toBe(true);
    expect((await decode(bytes)).profile).toBe(profile.toString('base64'));
    for (const wrong of [[first], [second], [first, first], [piece(1, 1, profile.subarray(0, 9000))]]) {
      expect((await cleaned(withSegments(plain, ...wrong))).equals(plain)).toBe(true);
    }
  });

  test('fill bytes before markers go', async () => {
    const fill = Buffer.alloc(5, 0xff);
    const filled = Buffer.concat([soi, fill, tables(), fill, sof(), fill, sos(), fill, eoi]);
    expect((await cleaned(filled)).equals(smallJpeg())).toBe(true);
  });

  test('a picture in another format hides in none of them', async () => {
    const bytes = await cleaned(withSegments(smallJpeg(), segment(0xfe, smallPng([part('tEXt', planted)]))));
    expect(bytes.equals(smallJpeg())).toBe(true);
  });
});

describe('behind the end of a JPEG', () => {
  const jpeg = smallJpeg();
  const zeros = Buffer.alloc(37);
  const map = smallJpeg({ widthPx: 8, heightPx: 8 });
  const trailer = samsungTrailer([
    { name: 'Image_UTC_Data', data: Buffer.from(`1700000000000${planted}`) },
    { name: 'MotionPhoto_Data', data: Buffer.from(`\0\0\0\x18ftypmp42${planted}`) },
  ]);

  test.each([
    ['zeros', [zeros]],
    ['a gain map', [map]],
    [
      'two pictures with zeros around them',
      [zeros, map, zeros, withSegments(jpeg, segment(0xfe, planted)), zeros],
    ],
    ["Samsung's trailer", [trailer]],
    ["a gain map and Samsung's trailer", [map, zeros, trailer]],
  ])('%s, as phones write them, are cut off', async (_what, appended) => {
    expect((await cleaned(Buffer.concat([jpeg, ...appended]))).equals(jpeg)).toBe(true);
  });

  const changed = (at: number, value: number) => {
    const wrong = Buffer.from(trailer);
    wrong[at < 0 ? wrong.length + at : at] = value;
    return wrong;
  };
  test.each([
    ['a ZIP', Buffer.from('PK\x05\x06' + '\0'.repeat(18), 'latin1')],
    ['a ZIP behind zeros', Buffer.concat([zeros, Buffer.from('PK\x05\x06')])],
    ['HTML', Buffer.from('<script>alert(1)</script>')],
    ['a script', Buffer.from('*/=alert(1)/*')],
    ['a PDF', Buffer.from('%PDF-1.7\n%%EOF')],
    ['an MP4', Buffer.from('\0\0\0\x18ftypmp42')],
    ['a PNG', smallPng()],
    ['half a picture', map.subarray(0, -9)],
    ['a picture and a byte', Buffer.concat([map, Buffer.from('a')])],
    ['the start of a picture', soi],
    ['something that only ends as a trailer does', Buffer.from('<script></script>SEFT')],
    ["something before Samsung's trailer", Buffer.concat([Buffer.from('<b>'), trailer])],
    ["something behind Samsung's trailer", Buffer.concat([trailer, Buffer.from('<b>')])],
    ["Samsung's trailer with a wrong length", changed(-8, 1)],
    ["Samsung's trailer without its directory", changed(-44, 0)],
    ["Samsung's trailer with a wrong count", changed(-36, 3)],
    ["Samsung's trailer with a wrong type", changed(2, 0x77)],
    ["Samsung's trailer with a wrong place", changed(-28, 255)],
    ["Samsung's trailer with a wrong block", changed(-24, 255)],
    ["Samsung's trailer with a wrong name", changed(5, 255)],
    ["Samsung's trailer of no blocks", samsungTrailer([])],
  ])('%s is refused', async (_what, bytes) => {
    const many = bytes.length.toLocaleString('en-US');
    const said = await problem(Buffer.concat([jpeg, bytes]));
    expect(said).toBe(`must hold one image and nothing else: ${many} bytes follow its end`);
  });

  test('and before its start nothing may stand', async () => {
    expect(await problem(Buffer.concat([zeros, jpeg]))).toBe('must be a PNG, JPEG or WebP image');
    expect(await problem(Buffer.concat([soi, Buffer.from('GIF89a'), jpeg.subarray(2)]))).toMatch(/^must be/);
  });
});
