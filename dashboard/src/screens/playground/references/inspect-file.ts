import { imageFormat, imageSize } from '../../../../../shared/images/image-size.ts';
import { formatFileSize } from '../../../lib/format.ts';
import { referenceLimits, type Picture } from './reference.ts';

const headBytes = 64 * 1024;

/**
 * Checks a file by its first bytes before it is sent. The service checks more.
 * @returns the picture, or a sentence why it can't be used.
 */
export async function inspectFile(file: Blob): Promise<{ picture: Picture } | { problem: string }> {
  const { maxBytes } = referenceLimits;
  try {
    const head = await bytesOf(file.slice(0, headBytes));
    if (head.length === 0) return { problem: 'It is empty.' };
    const format = imageFormat(head);
    if (format === null) return { problem: unusable(head) };
    if (file.size > maxBytes) {
      return {
        problem: `It has ${formatFileSize(file.size)}; at most ${formatFileSize(maxBytes)} can be sent.`,
      };
    }
    // The size of a JPEG stands behind the camera's data, which may be longer than the beginning.
    const size =
      imageSize(format, head) ?? (format === 'jpeg' ? imageSize(format, await bytesOf(file)) : null);
    if (size === null) return { problem: 'It seems to be damaged: its size can’t be read.' };
    const problem = sizeProblem(size.widthPx, size.heightPx);
    return problem === null ? { picture: { format, ...size } } : { problem };
  } catch {
    return { problem: 'It can’t be read. It may be a folder, or have been moved.' };
  }
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer());
}

function sizeProblem(widthPx: number, heightPx: number): string | null {
  const { minSidePx, maxSidePx, maxPixels } = referenceLimits;
  const is = `It has ${widthPx} × ${heightPx} pixels`;
  if (Math.min(widthPx, heightPx) < minSidePx) return `${is}; each side needs at least ${minSidePx}.`;
  if (Math.max(widthPx, heightPx) > maxSidePx) return `${is}; a side may have at most ${maxSidePx}.`;
  const megapixels = maxPixels / 1_000_000;
  return widthPx * heightPx > maxPixels ? `${is}; at most ${megapixels} megapixels can be used.` : null;
}

/** Says what the file is. */
function unusable(head: Uint8Array): string {
  const text = new TextDecoder().decode(head);
  if (/^\s*</.test(text) && /<svg[\s>]/i.test(text)) return 'SVG drawings can’t be used. Save it as PNG.';
  if (text.startsWith('GIF8')) return 'GIF images can’t be used. Save it as PNG.';
  if (text.startsWith('%PDF')) return 'PDF files can’t be used. Save the picture as PNG.';
  const brand = ascii(head, 4, 12);
  if (/^ftyp(heic|heix|heim|heis|mif1|msf1)/.test(brand))
    return 'HEIC photos can’t be used. Save it as JPEG.';
  if (/^ftypavi[fs]/.test(brand)) return 'AVIF images can’t be used. Save it as PNG.';
  return 'It is not a PNG, JPEG or WebP image.';
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
