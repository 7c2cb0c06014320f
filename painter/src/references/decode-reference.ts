import type { Sharp } from 'sharp';
import type { Product } from '../art/references/placement.ts';
import type { ReferenceImage, Size } from '../art/references/reference.ts';
import { imageLibrary } from '../image-library.ts';
import { UnreadableReference } from './unreadable-reference.ts';

/** A file that is known to be an image, its size when upright, and the part of it that is not transparent. */
export interface Measured extends Product {
  file: Uint8Array;
  /** Of the upright image. */
  left: number;
  top: number;
}

const MAX_PIXELS = 40_000_000;
const MAX_SIDE = 8192;
const LONGEST_DECODE_SECONDS = 30;
const THUMBNAIL_SIDE = 512;
/** Sharp: no shortcut of JPEG or WebP that would show in the picture. */
const SHRINKING = { fit: 'fill', kernel: 'lanczos3', fastShrinkOnLoad: false } as const;
const NOT_AN_IMAGE = 'is not a PNG, JPEG or WebP image that can be read';

function invalid(message: string): UnreadableReference {
  return new UnreadableReference('reference_invalid', message);
}

async function open(file: Uint8Array): Promise<Sharp> {
  const sharp = await imageLibrary();
  return sharp(file, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    .timeout({ seconds: LONGEST_DECODE_SECONDS })
    .autoOrient();
}

/** Reads an image's size and outline. @throws UnreadableReference */
export async function measureReference(file: Uint8Array): Promise<Measured> {
  if (!hasKnownSignature(file)) throw invalid(NOT_AN_IMAGE);
  const { autoOrient, hasAlpha } = await readable((await open(file)).metadata());
  const { width, height } = autoOrient;
  if (Math.max(width, height) > MAX_SIDE || width * height > MAX_PIXELS) {
    throw invalid('is larger than 40 megapixels or 8192 pixels a side');
  }
  const whole = { file, left: 0, top: 0, width, height, cutOut: false };
  return hasAlpha ? trimmed(whole) : whole;
}

/** No other format is read: some of them can hold programs or name other files. */
function hasKnownSignature(file: Uint8Array): boolean {
  const start = Buffer.from(file.subarray(0, 12)).toString('latin1');
  return (
    start.startsWith('\x89PNG\r\n\x1a\n') ||
    start.startsWith('\xff\xd8\xff') ||
    (start.startsWith('RIFF') && start.endsWith('WEBP'))
  );
}

/** Decodes the measured part at a size, shrunk while it is read where the format allows it. @throws UnreadableReference */
export async function decodeReference(
  measured: Measured,
  size: Size,
): Promise<Omit<ReferenceImage, 'sha256'>> {
  const { file, left, top, width, height, cutOut } = measured;
  const whole = await open(file);
  // Only a cut-out is cropped, because a cropped image can't be shrunk while it is read.
  const part = cutOut ? whole.extract({ left, top, width, height }) : whole;
  const shrunk =
    size.width === width && size.height === height ? part : part.resize({ ...size, ...SHRINKING });
  const { data } = await readable(toPixels(shrunk));
  // Shared memory, since all outputs of a request use it on several threads.
  const pixels = new Uint8Array(new SharedArrayBuffer(data.length));
  pixels.set(data);
  return { ...size, pixels, cutOut };
}

function toPixels(image: Sharp): Promise<{ data: Buffer; info: Size }> {
  return image
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
}

async function readable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const tooLarge = (error as Error).message.includes('exceeds pixel limit');
    throw invalid(tooLarge ? 'is larger than 40 megapixels' : NOT_AN_IMAGE);
  }
}

/** Leaves out the empty margins of a cut-out. It finds them on a thumbnail and keeps a little too much rather than too little. */
async function trimmed(whole: Measured): Promise<Measured> {
  const thumbnail = (await open(whole.file)).resize({
    width: THUMBNAIL_SIDE,
    height: THUMBNAIL_SIDE,
    fit: 'inside',
    withoutEnlargement: true,
  });
  const { data, info } = await readable(toPixels(thumbnail));
  let [left, top, right, bottom] = [info.width, info.height, -1, -1];
  let cutOut = false;
  for (let y = 0, at = 3; y < info.height; y += 1) {
    for (let x = 0; x < info.width; x += 1, at += 4) {
      const alpha = data[at]!;
      if (alpha < 250) cutOut = true;
      if (alpha < 3) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = y;
    }
  }
  if (right < 0) throw invalid('shows nothing: it is transparent everywhere');
  if (!cutOut) return whole;
  const [wide, high] = [whole.width / info.width, whole.height / info.height];
  // A thumbnail of full size is exact. A smaller one may hide something in its outermost pixels.
  const slack = wide > 1 || high > 1 ? 1 : 0;
  const from = (cell: number, scale: number): number => Math.max(0, Math.floor((cell - slack) * scale));
  const to = (cell: number, scale: number, end: number): number =>
    Math.min(end, Math.ceil((cell + 1 + slack) * scale));
  const x = from(left, wide);
  const y = from(top, high);
  const width = to(right, wide, whole.width) - x;
  const height = to(bottom, high, whole.height) - y;
  return { ...whole, left: x, top: y, width, height, cutOut };
}
