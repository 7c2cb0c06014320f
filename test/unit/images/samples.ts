import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { inspectImage } from '../../../shared/images/inspect-image.ts';

export const width = 120;
export const height = 90;

/** Nothing like it may be left in a cleaned file. */
export const planted = 'PLANTED-52.5200N-13.4050E';

/** A picture with edges, gradients and some grain, the same each time. */
function scene(channels: 3 | 4): Sharp {
  const data = Buffer.alloc(width * height * channels);
  for (let i = 0; i < width * height; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    const grain = (i * 2654435761) % 23;
    const color = [
      (x * 2 + grain) % 256,
      (y * 2 + (x > 60 ? 70 : 0)) % 256,
      ((x ^ y) + grain) % 256,
      (x + y) % 256,
    ];
    for (let c = 0; c < channels; c++) data[i * channels + c] = color[c]!;
  }
  return sharp(data, { raw: { width, height, channels } });
}

const opaque = () => scene(3);
const clear = () => scene(4);

/** Every kind of file that people really send, as an encoder writes it. */
export const realFiles: Record<string, () => Sharp> = {
  'a PNG in color': () => opaque().png(),
  'a PNG with alpha': () => clear().png(),
  'a PNG in gray': () => opaque().toColourspace('b-w').png(),
  'a PNG in gray with alpha': () => clear().toColourspace('b-w').png(),
  'a PNG of 16 bits': () => opaque().toColourspace('rgb16').png(),
  'a PNG of 16 bits with alpha': () => clear().toColourspace('rgb16').png(),
  'a PNG of 16 bits in gray': () => opaque().toColourspace('grey16').png(),
  'a PNG with a palette': () => opaque().png({ palette: true }),
  'a PNG with a palette and alpha': () => clear().png({ palette: true }),
  'a PNG of 16 colors': () => opaque().png({ palette: true, colours: 16 }),
  'a PNG of two colors': () => opaque().png({ palette: true, colours: 2 }),
  'an interlaced PNG': () => opaque().png({ progressive: true }),
  'an interlaced PNG of 16 bits with alpha': () => clear().toColourspace('rgb16').png({ progressive: true }),
  'an interlaced PNG of 16 colors': () => opaque().png({ progressive: true, palette: true, colours: 16 }),
  'a PNG with a color profile': () => opaque().withIccProfile('p3').png(),
  'a JPEG of 4:2:0': () => opaque().jpeg(),
  'a JPEG of 4:4:4': () => opaque().jpeg({ chromaSubsampling: '4:4:4', quality: 95 }),
  'a JPEG without optimized tables': () => opaque().jpeg({ optimiseCoding: false }),
  'a progressive JPEG': () => opaque().jpeg({ progressive: true }),
  'a JPEG by mozjpeg': () => opaque().jpeg({ mozjpeg: true }),
  'a JPEG in gray': () => opaque().toColourspace('b-w').jpeg(),
  'a progressive JPEG in gray': () => opaque().toColourspace('b-w').jpeg({ progressive: true }),
  'a JPEG in CMYK': () => opaque().toColourspace('cmyk').jpeg(),
  'a progressive JPEG in CMYK': () => opaque().toColourspace('cmyk').jpeg({ progressive: true }),
  'a JPEG with a color profile': () => opaque().withIccProfile('p3').jpeg(),
  'a lossy WebP': () => opaque().webp(),
  'a lossy WebP with alpha': () => clear().webp(),
  'a lossless WebP': () => opaque().webp({ lossless: true }),
  'a lossless WebP with alpha': () => clear().webp({ lossless: true }),
  'a nearly lossless WebP': () => opaque().webp({ nearLossless: true }),
  'a WebP with a color profile': () => opaque().withIccProfile('p3').webp(),
  'a WebP with alpha and a color profile': () => clear().withIccProfile('p3').webp(),
};

export function realFile(name: keyof typeof realFiles): Promise<Buffer> {
  return realFiles[name]!().toBuffer();
}

export interface Decoded {
  width: number;
  height: number;
  format: string;
  /** Their hash. */
  pixels: string;
  orientation: number | undefined;
  profile: string | undefined;
}

/**
 * What a decoder sees. `failOn: 'error'` refuses whatever can't be decoded and what is cut short; 'none' and 'truncated'
 * would let a half picture through. 'warning' would refuse a JPEG for one wrong bit in its compressed data, which
 * every browser shows, and which only a full decoder can find.
 */
export async function decode(bytes: Uint8Array): Promise<Decoded> {
  const image = sharp(bytes, { failOn: 'error' });
  const metadata = await image.metadata();
  const { data, info } = await image.raw({ depth: 'ushort' }).toBuffer({ resolveWithObject: true });
  return {
    width: info.width,
    height: info.height,
    format: metadata.format,
    pixels: createHash('sha256').update(data).digest('hex'),
    orientation: metadata.orientation,
    profile: metadata.icc?.toString('base64'),
  };
}

/** @throws with the problem, where there is one */
export async function cleaned(bytes: Uint8Array): Promise<Buffer> {
  const result = await inspectImage(bytes);
  if ('problem' in result) throw new Error(result.problem);
  return Buffer.from(result.image.bytes);
}

/** Whether a file that was cleaned stays as it is when it is cleaned again. */
export async function isStable(bytes: Uint8Array): Promise<boolean> {
  return (await cleaned(bytes)).equals(bytes);
}

export async function problem(bytes: Uint8Array): Promise<string> {
  const result = await inspectImage(bytes);
  return 'problem' in result ? result.problem : accepted;
}

/** What `problem` says of a file that is taken. */
export const accepted = 'none: it was accepted';
export const notWhole = 'must be whole: a part of it is missing';

/** One test for each file: by what is said of it, then by what it is. */
export function testProblems(files: Record<string, Record<string, Buffer>>): void {
  describe.each(Object.entries(files))('%s:', (said, of) => {
    test.each(Object.entries(of))('%s', async (_what, bytes) => expect(await problem(bytes)).toBe(said));
  });
}

/** One test for each file and what must be left of it. What is left must stay as it is. */
export function testCleaned(files: Record<string, [file: Buffer, left: Buffer]>): void {
  test.each(Object.entries(files))('%s', async (_what, [file, left]) => {
    const bytes = await cleaned(file);
    expect(bytes.toString('latin1')).toBe(left.toString('latin1'));
    expect(await isStable(bytes)).toBe(true);
  });
}

/** One of something for each value, named by it. */
export const each = <T, U>(name: string, values: T[], make: (value: T) => U): Record<string, U> =>
  Object.fromEntries(values.map((value) => [`${name} ${JSON.stringify(value)}`, make(value)]));

export interface Part {
  name: string;
  data: Buffer;
}

export function pngOf(chunks: Part[]): Buffer {
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks.map(pngChunk)]);
}

function pngChunk({ name, data }: Part): Buffer {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(name, 'latin1'), data, Buffer.alloc(4)]);
  chunk.writeUInt32BE(data.length);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

export function pngChunks(file: Buffer): Part[] {
  const chunks: Part[] = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    const data = file.subarray(at + 8, at + 8 + file.readUInt32BE(at));
    chunks.push({ name: file.toString('latin1', at + 4, at + 8), data });
  }
  return chunks;
}

interface PngHeader {
  widthPx?: number;
  heightPx?: number;
  bitDepth?: number;
  colorType?: number;
  interlace?: number;
}

export function header(head: PngHeader = {}): Part {
  const { widthPx = 64, heightPx = 64, bitDepth = 8, colorType = 0, interlace = 0 } = head;
  const data = Buffer.alloc(13);
  data.writeUInt32BE(widthPx);
  data.writeUInt32BE(heightPx, 4);
  data.set([bitDepth, colorType, 0, 0, interlace], 8);
  return { name: 'IHDR', data };
}

export const part = (name: string, data: Uint8Array | string = ''): Part => ({ name, data: bytesOf(data) });
export const imageData = (length: number) => part('IDAT', deflateSync(Buffer.alloc(length)));

/** By color type. */
export const channels: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

interface SamplePng extends PngHeader {
  /** Chunks around the image data. */
  before?: Part[];
  after?: Part[];
  /** By default as many zeros as the size says. */
  data?: Part;
}

/** A PNG made by hand: gray, 64 × 64, unless it is told otherwise. */
export function png({ before = [], after = [], data, ...head }: SamplePng = {}): Buffer {
  const { widthPx = 64, heightPx = 64, bitDepth = 8, colorType = 0 } = head;
  const rowBytes = 1 + Math.ceil((widthPx * channels[colorType]! * bitDepth) / 8);
  const image = data ?? imageData(heightPx * rowBytes);
  return pngOf([header(head), ...before, image, ...after, part('IEND')]);
}

export function webpOf(chunks: Part[]): Buffer {
  const body = chunks.flatMap(({ name, data }) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(data.length);
    return [Buffer.from(name), length, data, Buffer.alloc(data.length % 2)];
  });
  const webp = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), ...body]);
  webp.writeUInt32LE(webp.length - 8, 4);
  return webp;
}

export function webpChunks(webp: Buffer): Part[] {
  const chunks: Part[] = [];
  for (let at = 12; at < webp.length;) {
    const length = webp.readUInt32LE(at + 4);
    chunks.push({ name: webp.toString('latin1', at, at + 4), data: webp.subarray(at + 8, at + 8 + length) });
    at += 8 + length + (length % 2);
  }
  return chunks;
}

export function bytesOf(content: Uint8Array | string | number[]): Buffer {
  return typeof content === 'string' ? Buffer.from(content, 'latin1') : Buffer.from(content);
}
