import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { referenceLimits } from '../../../shared/images/image-types.ts';
import { inspectImage } from '../../../shared/images/inspect-image.ts';
import {
  decode,
  isStable,
  pngChunks,
  pngOf,
  realFile,
  realFiles,
  webpChunks,
  webpOf,
  type Part,
} from './samples.ts';

const files = await Promise.all(
  Object.keys(realFiles).map(async (name) => ({ name, bytes: await realFile(name) })),
);
const filesOf = (format: string, isOne: (file: { name: string }) => boolean = () => true) =>
  files.filter((file) => file.name.includes(format) && isOne(file)).map(({ bytes }) => bytes);

type Edit = { kind: 'set' | 'insert' | 'remove' | 'repeat' | 'cut'; place: number; bytes: Uint8Array };

/** Places are parts of the whole; half of them lie near the beginning, where the structure is. */
const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('set', 'set', 'set', 'insert', 'remove', 'repeat', 'cut'),
  place: fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 0.1, noNaN: true })),
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 4 }),
    fc.constantFrom(
      ...['ffd8', 'ffd9', 'ffda', 'ff00', 'ffff', '00000000', '7fffffff', '80000000'].map((hex) =>
        Buffer.from(hex, 'hex'),
      ),
    ),
  ),
});

function edited(original: Buffer, { kind, place, bytes }: Edit): Buffer {
  const at = Math.floor(place * original.length);
  const [before, after] = [original.subarray(0, at), original.subarray(at)];
  if (kind === 'cut') return before;
  if (kind === 'insert') return Buffer.concat([before, bytes, after]);
  if (kind === 'remove') return Buffer.concat([before, after.subarray(bytes.length)]);
  if (kind === 'repeat') return Buffer.concat([before, after.subarray(0, bytes[0]), after]);
  return Buffer.concat([before, bytes, after.subarray(bytes.length)]).subarray(0, original.length);
}

const editsOf = (originals: Buffer[]) =>
  fc
    .tuple(fc.constantFrom(...originals), fc.array(edit, { minLength: 1, maxLength: 4 }))
    .map(([original, edits]) => edits.reduce(edited, original));

/** Edits within chunks, whose checksums and lengths are then made to fit, and chunks left out, doubled or moved. */
const chunkEditsOf = (
  originals: Buffer[],
  chunksOf: (file: Buffer) => Part[],
  fileOf: (chunks: Part[]) => Buffer,
) =>
  fc
    .record({
      original: fc.constantFrom(...originals),
      chunk: fc.nat(9),
      change: fc.option(edit),
      moveTo: fc.option(fc.nat(9)),
      copies: fc.constantFrom(0, 1, 1, 1, 2),
    })
    .map(({ original, chunk, change, moveTo, copies }) => {
      const chunks = chunksOf(original);
      const [chosen] = chunks.splice(chunk % chunks.length, 1);
      const data = change ? edited(chosen!.data, change) : chosen!.data;
      const place = (moveTo ?? chunk) % (chunks.length + 1);
      chunks.splice(place, 0, ...Array.from({ length: copies }, () => ({ name: chosen!.name, data })));
      return fileOf(chunks);
    });

/** Whether a decoder may refuse what was taken. */
type MayFail = (cleaned: Buffer, error: unknown) => boolean;

/** Refuses with a sentence, or answers a picture that decodes, at the size that it says, and that stays as it is. */
async function judge(bytes: Buffer, mayFail: MayFail) {
  const before = Buffer.from(bytes);
  const result = await inspectImage(bytes);
  expect(bytes.equals(before)).toBe(true);
  if ('problem' in result) {
    expect(result.problem).toMatch(/^must (be|have|hold|not be) [^\n]{5,90}$/);
    return;
  }
  const { image } = result;
  expect(image.bytes.length).toBeLessThanOrEqual(Math.min(bytes.length, referenceLimits.maxBytes));
  expect(await isStable(image.bytes)).toBe(true);
  try {
    const { width, height, format } = await decode(image.bytes);
    expect([image.widthPx, image.heightPx, image.format]).toEqual([width, height, format]);
  } catch (error) {
    if (!mayFail(Buffer.from(image.bytes), error)) throw error;
  }
}

const starts = [
  '',
  '\x89PNG\r\n\x1a\n',
  '\xff\xd8\xff',
  'RIFF\x40\0\0\0WEBP',
  'RIFF\x40\0\0\0WEBPVP8X\x0a\0\0\0',
].map((text) => Buffer.from(text, 'latin1'));
const anyStart = fc
  .tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 300 }))
  .map((parts) => Buffer.concat(parts));

const never: MayFail = () => false;
const isProgressive = ({ name }: { name: string }) => /progressive|mozjpeg/.test(name);
// libvips gives a progressive JPEG up at its second wrong code, however it is told to fail.
const isWrongCode: MayFail = (_, error) =>
  /^(VipsJpeg: Corrupt JPEG data[^\n]*\n?)+$/.test((error as Error).message);

// WebP has no checksums, and a decoder gives up at wrong compressed data, which only decoding can find.
const compressed = (webp: Buffer) => webpChunks(webp).filter(({ name }) => /^(VP8[ L]|ALPH)/.test(name));
const known = new Set(
  filesOf('WebP').flatMap((webp) => compressed(webp).map(({ data }) => data.toString('hex'))),
);
const isChanged = (webp: Buffer) => !compressed(webp).every(({ data }) => known.has(data.toString('hex')));

describe('whatever the bytes, they are refused or make a picture that decodes:', () => {
  test.each<[what: string, bytes: fc.Arbitrary<Buffer>, mayFail: MayFail]>([
    ['any bytes, with and without the beginning of a format', anyStart, never],
    ['any change of a PNG', editsOf(filesOf('PNG')), never],
    ['any change of a PNG whose checksums are right', chunkEditsOf(filesOf('PNG'), pngChunks, pngOf), never],
    ['any change of a sequential JPEG', editsOf(filesOf('JPEG', (file) => !isProgressive(file))), never],
    [
      'any change of a progressive JPEG, unless codes within its compressed data are wrong',
      editsOf(filesOf('JPEG', isProgressive)),
      isWrongCode,
    ],
    ['any change of a WebP, unless within its compressed data', editsOf(filesOf('WebP')), isChanged],
    [
      'any change of a WebP whose lengths are right, unless within its compressed data',
      chunkEditsOf(filesOf('WebP'), webpChunks, webpOf),
      isChanged,
    ],
  ])('%s', async (_what, anyBytes, mayFail) => {
    const property = fc.asyncProperty(anyBytes, (bytes) => judge(bytes, mayFail));
    await fc.assert(property, { numRuns: 75 });
  });
});
