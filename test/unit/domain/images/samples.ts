import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { inspectImage } from '../../../../shared/domain/images/inspect-image.ts';

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
  return 'problem' in result ? result.problem : 'none: it was accepted';
}

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

export function pngChunks(png: Buffer): Part[] {
  const chunks: Part[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    chunks.push({ name: png.toString('latin1', at + 4, at + 8), data });
  }
  return chunks;
}

export function header(
  widthPx: number,
  heightPx: number,
  {
    bitDepth = 8,
    colorType = 2,
    interlace = 0,
  }: { bitDepth?: number; colorType?: number; interlace?: number } = {},
): Part {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(widthPx);
  data.writeUInt32BE(heightPx, 4);
  data.set([bitDepth, colorType, 0, 0, interlace], 8);
  return { name: 'IHDR', data };
}

export const part = (name: string, data: Uint8Array | string = ''): Part => ({ name, data: bytesOf(data) });
export const imageData = (length: number) => part('IDAT', deflateSync(Buffer.alloc(length)));
/** A gray PNG of 64 × 64, with other chunks around its image data. */
export const smallPng = (before: Part[] = [], after: Part[] = []) =>
  pngOf([header(64, 64, { colorType: 0 }), ...before, imageData(64 * 65), ...after, part('IEND')]);

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

function bytesOf(content: Uint8Array | string | number[]): Buffer {
  return typeof content === 'string' ? Buffer.from(content, 'latin1') : Buffer.from(content);
}

/** A JPEG's segment: its marker's second byte, then its content. */
export function segment(code: number, content: Uint8Array | string | number[]): Buffer {
  const body = bytesOf(content);
  const head = Buffer.from([0xff, code, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

/** Segments put right behind the start of a JPEG. */
export function withSegments(jpeg: Buffer, ...segments: Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}
