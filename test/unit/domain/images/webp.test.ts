import { describe, expect, test } from '@jest/globals';
import {
  cleaned,
  decode,
  isStable,
  part,
  planted,
  problem,
  realFile,
  webpChunks,
  webpOf,
  type Part,
} from './samples.ts';

const lossy = await realFile('a lossy WebP');
const lossless = await realFile('a lossless WebP');
const layered = await realFile('a WebP with alpha and a color profile');
const notWhole = 'must be whole: a part of it is missing';

/** A WebP with some of its bytes changed within one chunk. */
const changed = (webp: Buffer, name: string, change: (data: Buffer) => void) =>
  webpOf(
    webpChunks(webp).map((chunk) => {
      const data = Buffer.from(chunk.data);
      if (chunk.name === name) change(data);
      return { name: chunk.name, data };
    }),
  );
const names = (webp: Buffer) => webpChunks(webp).map(({ name }) => name);
const find = (webp: Buffer, name: string): Part => webpChunks(webp).find((chunk) => chunk.name === name)!;

describe('a WebP', () => {
  test('cut off anywhere is not whole, also where its length is made to fit', async () => {
    for (const webp of [lossy, lossless, layered]) {
      for (let length = 12; length < webp.length; length += length < 200 ? 1 : 37) {
        expect(await problem(webp.subarray(0, length))).toBe(notWhole);
        const fitted = Buffer.from(webp.subarray(0, length));
        fitted.writeUInt32LE(length - 8, 4);
        // Layers end at the end of a chunk, before the image comes.
        expect(await problem(fitted)).toBe(notWhole);
      }
    }
  });

  test('has exactly the length that it says', async () => {
    const longer = Buffer.concat([lossy, Buffer.from('PK\x05\x06')]);
    expect(await problem(longer)).toBe('must hold one image and nothing else: 4 bytes follow its end');
    for (const length of [0, 1, 4, 11, lossy.length - 9]) {
      const lying = Buffer.from(lossy);
      lying.writeUInt32LE(length, 4);
      expect(await problem(lying)).toMatch(
        /^must hold one image and nothing else: [\d,]+ bytes? follows? its end$/,
      );
    }
    for (const length of [lossy.length - 7, 0x7fffffff, 0xffffffff]) {
      const lying = Buffer.from(lossy);
      lying.writeUInt32LE(length, 4);
      expect(await problem(lying)).toBe(notWhole);
    }
  });

  test.each([
    [
      'ANIM',
      webpOf([...webpChunks(layered).slice(0, 1), part('ANIM', Buffer.alloc(6)), find(layered, 'VP8 ')]),
    ],
    ['ANMF', webpOf([...webpChunks(layered).slice(0, 1), part('ANMF', Buffer.alloc(26))])],
    ['ANMF behind its image', webpOf([...webpChunks(lossy), part('ANMF', Buffer.alloc(26))])],
    ['the flag for it', changed(layered, 'VP8X', (data) => (data[0]! |= 2))],
  ])('with %s is animated', async (_what, webp) => expect(await problem(webp)).toBe('must not be animated'));

  test('as an encoder animates it is animated', async () => {
    const { default: sharp } = await import('sharp');
    const frames = await sharp([lossy, lossless], { join: { animated: true } })
      .webp()
      .toBuffer();
    expect(names(frames)).toContain('ANMF');
    expect(await problem(frames)).toBe('must not be animated');
  });

  test('with two images is refused, whatever their kind', async () => {
    for (const second of [find(lossy, 'VP8 '), find(lossless, 'VP8L')]) {
      expect(await problem(webpOf([...webpChunks(lossy), second]))).toBe(
        'must hold one image and nothing else: it holds a second one',
      );
    }
  });

  const wrongHeader = 'must be undamaged: its image header is wrong';
  test.each([
    ['no image', webpOf(webpChunks(layered).slice(0, -1)), notWhole],
    ['nothing', webpOf([]), notWhole],
    [
      'something else first',
      webpOf([part('JUNK', planted), ...webpChunks(lossy)]),
      'must be undamaged: it does not start with its image or its header',
    ],
    [
      'two headers',
      webpOf([find(layered, 'VP8X'), ...webpChunks(layered)]),
      'must be undamaged: its chunks are in the wrong order',
    ],
    [
      'a header behind its image',
      webpOf([...webpChunks(lossy), find(layered, 'VP8X')]),
      'must be undamaged: its chunks are in the wrong order',
    ],
    [
      'a long header',
      webpOf([part('VP8X', Buffer.alloc(12)), ...webpChunks(lossy)]),
      'must be undamaged: its header has the wrong length',
    ],
    [
      'another width in its header',
      changed(layered, 'VP8X', (data) => (data[4]! += 1)),
      'must be undamaged: its header and its image differ in size',
    ],
    [
      'another height in its header',
      changed(layered, 'VP8X', (data) => (data[9]! += 1)),
      'must be undamaged: its header and its image differ in size',
    ],
    ['a frame that depends on another', changed(lossy, 'VP8 ', (data) => (data[0]! |= 1)), wrongHeader],
    ['a frame that is not shown', changed(lossy, 'VP8 ', (data) => (data[0]! &= ~16)), wrongHeader],
    ['an unknown version', changed(lossy, 'VP8 ', (data) => (data[0]! |= 8)), wrongHeader],
    ['another start code', changed(lossy, 'VP8 ', (data) => (data[3] = 0)), wrongHeader],
    ['a first partition beyond its end', changed(lossy, 'VP8 ', (data) => (data[2] = 255)), notWhole],
    ['another lossless signature', changed(lossless, 'VP8L', (data) => (data[0] = 0)), wrongHeader],
    ['another lossless version', changed(lossless, 'VP8L', (data) => (data[4]! |= 32)), wrongHeader],
    [
      'unknown transparency',
      changed(layered, 'ALPH', (data) => (data[0] = 2)),
      'must be undamaged: its transparency is wrong',
    ],
    [
      'unknown levels of transparency',
      changed(layered, 'ALPH', (data) => (data[0] = 0x20)),
      'must be undamaged: its transparency is wrong',
    ],
    ['too little transparency', changed(layered, 'ALPH', (data) => (data[0] = 0)), notWhole],
  ])('with %s is refused', async (_what, webp, said) => expect(await problem(webp)).toBe(said));

  test('of a wrong size says which it is', async () => {
    const size = (width: number, height: number) =>
      changed(lossy, 'VP8 ', (data) => {
        data.writeUInt16LE(width, 6);
        data.writeUInt16LE(height, 8);
      });
    const rule = 'must be 64 to 8192 pixels wide and high; it is';
    expect(await problem(size(0, 90))).toBe(`${rule} 0 × 90`);
    expect(await problem(size(16383, 63))).toBe(`${rule} 16383 × 63`);
    expect(await problem(size(8192, 8192))).toBe('must have at most 40 megapixels; it is 8192 × 8192');
    const wide = changed(lossless, 'VP8L', (data) => data.writeUInt32LE(0x3fff + (89 << 14), 1));
    expect(await problem(wide)).toBe(`${rule} 16384 × 90`);
  });
});

describe('of the other chunks of a WebP', () => {
  test.each(['EXIF', 'XMP ', 'JUNK', 'VP8Z', 'PK\x05\x06'])('%s goes, wherever it stands', async (name) => {
    const [head, ...rest] = webpChunks(layered);
    const text = part(name, `${planted}!`);
    const flagged = Buffer.from(head!.data);
    flagged[0]! |= 0x0c;
    const bytes = await cleaned(webpOf([part('VP8X', flagged), text, ...rest, text]));
    expect(bytes.equals(layered)).toBe(true);
    expect((await cleaned(webpOf([...webpChunks(lossy), text]))).equals(lossy)).toBe(true);
  });

  test('what can have no meaning where it stands goes', async () => {
    const [head, profile, alpha, image] = webpChunks(layered);
    expect(names(layered)).toEqual(['VP8X', 'ICCP', 'ALPH', 'VP8 ']);
    expect(names(await cleaned(webpOf([head!, image!, profile!, alpha!])))).toEqual(['VP8X', 'VP8 ']);
    expect((await cleaned(webpOf([...webpChunks(lossy), profile!, alpha!]))).equals(lossy)).toBe(true);
    const both = await cleaned(webpOf([head!, alpha!, find(lossless, 'VP8L')]));
    expect(names(both)).toEqual(['VP8X', 'VP8L']);
    expect(names(await cleaned(webpOf([head!, part('ICCP', planted.repeat(9)), image!])))).toEqual([
      'VP8X',
      'VP8 ',
    ]);
  });

  test('the flags of its header name what is left, and nothing reserved', async () => {
    const [head, profile, alpha, image] = webpChunks(layered);
    const full = part('VP8X', Buffer.concat([Buffer.from([0xfd, 0xff, 0xff, 0xff]), head!.data.subarray(4)]));
    const flags = async (...chunks: Part[]) => (await cleaned(webpOf([full, ...chunks]))).readUInt32LE(20);
    expect(await flags(image!)).toBe(0);
    expect(await flags(profile!, image!)).toBe(0x20);
    expect(await flags(alpha!, image!)).toBe(0x10);
    expect(await flags(profile!, alpha!, image!)).toBe(0x30);
    expect(await flags(find(await realFile('a lossless WebP with alpha'), 'VP8L'))).toBe(0x10);
  });

  test('their order and padding come out as the format asks', async () => {
    const [head, profile, alpha, image] = webpChunks(layered);
    const bytes = await cleaned(webpOf([head!, alpha!, profile!, image!]));
    expect(bytes.equals(layered)).toBe(true);
    expect(await isStable(bytes)).toBe(true);
    const odd = part(
      'VP8 ',
      Buffer.concat([find(lossy, 'VP8 ').data, Buffer.alloc(1 + (find(lossy, 'VP8 ').data.length % 2))]),
    );
    const padded = webpOf([odd]);
    padded[padded.length - 1] = 0x50;
    const clean = await cleaned(padded);
    expect(clean.at(-1)).toBe(0);
    expect((await decode(clean)).width).toBe(120);
  });
});
