import { referenceLimits, type ReferenceFormat } from './image-types.ts';
import { cleanJpeg } from './jpeg.ts';
import { ImageProblem, type Picture } from './picture.ts';
import { cleanPng } from './png.ts';
import { cleanWebp } from './webp.ts';

/** A checked picture, free of everything that is not part of it. */
export interface CleanImage {
  format: ReferenceFormat;
  /** As stored, before any EXIF orientation. */
  widthPx: number;
  heightPx: number;
  /** The file, of only those parts that make the picture. */
  bytes: Uint8Array;
}

/**
 * Checks a file by its bytes alone. They may be hostile: the work is bounded by the file's size and the limits.
 * Checksums, structure and sizes are checked. Compressed JPEG and WebP data are not decoded.
 * @returns the cleaned image, or what is wrong with it: the end of a sentence such as "must not be animated".
 * Never throws on any bytes.
 */
export async function inspectImage(bytes: Uint8Array): Promise<{ image: CleanImage } | { problem: string }> {
  if (bytes.length > referenceLimits.maxBytes) return { problem: tooLarge(bytes.length) };
  const format = formatOf(bytes);
  if (!format) return { problem: 'must be a PNG, JPEG or WebP image' };
  try {
    const { widthPx, heightPx, parts } = await cleaners[format](bytes);
    return { image: { format, widthPx, heightPx, bytes: Buffer.concat(parts) } };
  } catch (error) {
    if (error instanceof ImageProblem) return { problem: error.message };
    throw error;
  }
}

const cleaners: Record<ReferenceFormat, (bytes: Uint8Array) => Picture | Promise<Picture>> = {
  png: cleanPng,
  jpeg: cleanJpeg,
  webp: cleanWebp,
};

function formatOf(bytes: Uint8Array): ReferenceFormat | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (/^RIFF[^]{4}WEBP/.test(start)) return 'webp';
  return undefined;
}

function tooLarge(byteCount: number): string {
  const most = referenceLimits.maxBytes / 1024 / 1024;
  return `must be at most ${most} MiB; it is ${byteCount.toLocaleString('en-US')} bytes`;
}
