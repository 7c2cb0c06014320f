import type { ReferenceFormat } from '../../../../../shared/images/image-types.ts';
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
    const format = formatOf(head);
    if (format === null) return { problem: unusable(head) };
    if (file.size > maxBytes) {
      return {
        problem: `It has ${formatFileSize(file.size)}; at most ${formatFileSize(maxBytes)} can be sent.`,
      };
    }
    // The size of a JPEG stands behind the camera's data, which may be longer than the beginning.
    const size = readSize[format](head) ?? (format === 'jpeg' ? jpegSize(await bytesOf(file)) : null);
    if (size === null) return { problem: 'It seems to be damaged: its size can’t be read.' };
    const [widthPx, heightPx] = size;
    const problem = sizeProblem(widthPx, heightPx);
    return problem === null ? { picture: { format, widthPx, heightPx } } : { problem };
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

function formatOf(head: Uint8Array): ReferenceFormat | null {
  const start = ascii(head, 0, 12);
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg';
  return start.startsWith('RIFF') && start.endsWith('WEBP') ? 'webp' : null;
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

type Size = [widthPx: number, heightPx: number];

const readSize: Record<ReferenceFormat, (head: Uint8Array) => Size | null> = {
  png: pngSize,
  jpeg: jpegSize,
  webp: webpSize,
};

/** PNG (W3C), 11.2.1: the header chunk comes first. */
function pngSize(head: Uint8Array): Size | null {
  if (head.length < 24 || ascii(head, 12, 16) !== 'IHDR') return null;
  const view = viewOf(head);
  return [view.getUint32(16), view.getUint32(20)];
}

/** ITU-T T.81, annex B: segments with their lengths, until a frame says the size. */
function jpegSize(bytes: Uint8Array): Size | null {
  const view = viewOf(bytes);
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = view.getUint8(at + 1);
    if (isFrame(marker)) return [view.getUint16(at + 7), view.getUint16(at + 5)];
    // Any number of fill bytes may stand before a marker.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

/** Of the 16 codes three are tables and an extension. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** RFC 9649, 2.5 to 2.7: three kinds of files, each with the size in a place of its own. */
function webpSize(head: Uint8Array): Size | null {
  if (head.length < 30) return null;
  const view = viewOf(head);
  const u24 = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
  const kind = ascii(head, 12, 16);
  if (kind === 'VP8X') return [u24(24) + 1, u24(27) + 1];
  if (kind === 'VP8 ') return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  if (kind !== 'VP8L') return null;
  const bits = view.getUint32(21, true);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
