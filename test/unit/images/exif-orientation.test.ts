import { describe, expect, test } from '@jest/globals';
import { orientationOnly, readOrientation } from '../../../shared/images/exif-orientation.ts';

type Entry = [tag: number, type: number, count: number, value: number];
interface Tiff {
  start?: number;
  magic?: number;
  entries?: Entry[];
  count?: number;
}

/** A TIFF in Motorola's order or in Intel's: its header, what lies before its directory, and the directory. */
function tiff(order: string, { start = 8, magic = 42, entries = [], count = entries.length }: Tiff): Buffer {
  const intel = order === 'II';
  const number = (value: number, length: number) => {
    const bytes = Buffer.alloc(length);
    bytes.writeUIntBE(value, 0, length);
    return intel ? bytes.toReversed() : bytes;
  };
  const u16 = (value: number) => number(value, 2);
  const u32 = (value: number) => number(value, 4);
  const directory = entries.flatMap(([tag, type, many, value]) => [
    u16(tag),
    u16(type),
    u32(many),
    u16(value),
    u16(0x0112),
  ]);
  const before = Buffer.alloc(Math.max(0, start - 8), 0xee);
  return Buffer.concat([
    Buffer.from(order),
    u16(magic),
    u32(start),
    before,
    u16(count),
    ...directory,
    u32(0),
  ]);
}

describe.each(['MM', 'II'])('in the byte order %s, an orientation', (order) => {
  const read = (parts: Tiff) => readOrientation(tiff(order, parts));
  const said = (value: number): Entry => [0x0112, 3, 1, value];
  const others: Entry[] = [
    [0x0100, 3, 1, 5],
    [0x0111, 4, 1, 7],
  ];

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('of %i is read', (value) => {
    expect(read({ entries: [said(value)] })).toBe(value);
  });

  test('is found among other entries, wherever the directory lies', () => {
    for (const start of [8, 9, 26, 1000]) {
      expect(read({ start, entries: [...others, said(6)] })).toBe(6);
      expect(read({ start, entries: [said(3), ...others] })).toBe(3);
    }
  });

  test('counts where it comes first', () => {
    expect(read({ entries: [said(6), said(3)] })).toBe(6);
    expect(read({ entries: [[0x0112, 4, 1, 6], said(3)] })).toBe(1);
  });

  test.each<[string, Tiff]>([
    ['no entry', { entries: [] }],
    ['other entries only', { entries: others }],
    ['a value of 0', { entries: [said(0)] }],
    ['a value of 9', { entries: [said(9)] }],
    ['another type', { entries: [[0x0112, 4, 1, 6]] }],
    ['two values', { entries: [[0x0112, 3, 2, 6]] }],
    ['no value', { entries: [[0x0112, 3, 0, 6]] }],
    ['another magic number', { magic: 43, entries: [said(6)] }],
    ['a directory within the header', { start: 7, entries: [said(6)] }],
    ['fewer entries than it says', { count: 2, entries: [said(6)] }],
    ['a directory beyond the end', { start: 0xffff_ffff >>> 16, entries: [] }],
  ])('is 1 with %s', (_what, parts) => expect(read(parts)).toBe(1));

  test('is 1 where anything is cut off', () => {
    const whole = tiff(order, { entries: [said(6)] });
    expect(readOrientation(whole)).toBe(6);
    for (let length = 0; length < whole.length; length++)
      expect([length, readOrientation(whole.subarray(0, length))]).toEqual([length, 1]);
  });
});

test.each(['', 'M', 'MI', 'IM', 'mm', 'XX'])('the byte order %j is none', (order) => {
  expect(
    readOrientation(
      Buffer.concat([Buffer.from(order), tiff('MM', { entries: [[0x0112, 3, 1, 6]] }).subarray(2)]),
    ),
  ).toBe(1);
});

test('what is written of an orientation is that alone, and is read as it was', () => {
  for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const written = Buffer.from(orientationOnly(orientation));
    expect(written.toString('latin1', 0, 6)).toBe('Exif\0\0');
    expect(readOrientation(written.subarray(6))).toBe(orientation);
    const hex = `4d4d002a00000008000101120003000000010${orientation.toString(16).padStart(3, '0')}000000000000`;
    expect(written.toString('hex', 6)).toBe(hex);
  }
});
