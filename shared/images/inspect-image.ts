import { referenceLimits, type ReferenceFormat } from './image-types.ts';
import { imageFormat, imageSize, type ImageSize } from './image-size.ts';

/** An image within the limits. Whether it can be decoded is for the model to find. */
export interface InspectedImage extends ImageSize {
  format: ReferenceFormat;
}

/**
 * Checks a file by its bytes alone, and decodes nothing. They may be hostile.
 * @returns what the image is, or what is wrong with it: the end of a sentence such as "must be at most 10 MiB".
 *   Never throws on any bytes.
 */
export function inspectImage(bytes: Uint8Array): { image: InspectedImage } | { problem: string } {
  if (bytes.length > referenceLimits.maxBytes) return { problem: tooLarge(bytes.length) };
  const format = imageFormat(bytes);
  if (format === null) return { problem: 'must be a PNG, JPEG or WebP image' };
  const size = imageSize(format, bytes);
  if (size === null) return { problem: "must be undamaged: its size can't be read" };
  const problem = sizeProblem(size);
  return problem === null ? { image: { format, ...size } } : { problem };
}

function tooLarge(byteCount: number): string {
  const most = referenceLimits.maxBytes / 1024 / 1024;
  return `must be at most ${most} MiB; it is ${byteCount.toLocaleString('en-US')} bytes`;
}

/** The limits are the same for both sides, so it makes no difference how the image is turned. */
function sizeProblem({ widthPx, heightPx }: ImageSize): string | null {
  const { minSidePx, maxSidePx, maxPixels } = referenceLimits;
  const is = `it is ${widthPx} × ${heightPx}`;
  if (Math.min(widthPx, heightPx) < minSidePx || Math.max(widthPx, heightPx) > maxSidePx)
    return `must be ${minSidePx} to ${maxSidePx} pixels wide and high; ${is}`;
  const most = (maxPixels / 1_000_000).toLocaleString('en-US');
  return widthPx * heightPx > maxPixels ? `must have at most ${most} megapixels; ${is}` : null;
}
