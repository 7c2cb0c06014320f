import type { ReferenceFormat } from './image-types.ts';

/** In pixels, as the file stores them: it may be shown turned by a quarter. */
export interface ImageSize {
  widthPx: number;
  heightPx: number;
}

/** What the first bytes say that a file is; null for anything but the three formats. */
export function imageFormat(bytes: Uint8Array): ReferenceFormat | null {
  const start = ascii(bytes, 0, 12);
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg';
  return /^RIFF[^]{4}WEBP/.test(start) ? 'webp' : null;
}

/**
 * Reads the size that a file says it has, and decodes nothing. The bytes may be hostile: each is looked at once at most.
 * @returns null where the bytes end before it, or it is not where the format has it.
 */
export function imageSize(format: ReferenceFormat, bytes: Uint8Array): ImageSize | null {
  return readers[format](new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

const readers: Record<ReferenceFormat, (view: DataView) => ImageSize | null> = {
  png: pngSize,
  jpeg: jpegSize,
  webp: webpSize,
};

/** PNG (W3C), 11.2.1: the header chunk comes first. */
function pngSize(view: DataView): ImageSize | null {
  if (view.byteLength < 24 || nameAt(view, 12) !== 'IHDR') return null;
  return { widthPx: view.getUint32(16), heightPx: view.getUint32(20) };
}

/** ITU-T T.81, annex B: segments with their lengths, until a frame says the size. */
function jpegSize(view: DataView): ImageSize | null {
  let at = 2;
  while (at + 9 <= view.byteLength) {
    const marker = view.getUint8(at + 1);
    // Decoders pass fill bytes before a marker, and what does not belong there.
    if (view.getUint8(at) !== 0xff || marker === 0xff || marker === 0) at += 1;
    else if (isFrame(marker)) return { widthPx: view.getUint16(at + 7), heightPx: view.getUint16(at + 5) };
    else if (marker === 0xd9 || marker === 0xda) return null;
    else at += 2 + (hasLength(marker) ? view.getUint16(at + 2) : 0);
  }
  return null;
}

/** Of the 16 codes three are tables and an extension. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function hasLength(marker: number): boolean {
  return marker !== 0x01 && (marker < 0xd0 || marker > 0xd8);
}

/** RFC 9649, 2.5 to 2.7: three kinds of files, each with the size in a place of its own. */
function webpSize(view: DataView): ImageSize | null {
  if (view.byteLength < 30) return null;
  const u14 = (at: number) => view.getUint16(at, true) & 0x3fff;
  const u24 = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
  const kind = nameAt(view, 12);
  if (kind === 'VP8X') return { widthPx: u24(24) + 1, heightPx: u24(27) + 1 };
  if (kind === 'VP8 ') return { widthPx: u14(26), heightPx: u14(28) };
  if (kind !== 'VP8L') return null;
  const bits = view.getUint32(21, true);
  return { widthPx: (bits & 0x3fff) + 1, heightPx: ((bits >>> 14) & 0x3fff) + 1 };
}

function nameAt(view: DataView, at: number): string {
  return ascii(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), at, at + 4);
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
