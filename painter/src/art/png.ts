import { constants, crc32, deflateSync } from 'node:zlib';

const SIGNATURE = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PAETH = 4;

/** An 8-bit RGB image, row by row without padding. */
export interface Pixels {
  width: number;
  height: number;
  bytes: Uint8Array;
}

/**
 * A PNG file (https://www.w3.org/TR/png-3/): truecolor, 8 bits, one text chunk for each entry of `texts`.
 *
 * Every row uses the Paeth filter, and deflate looks for runs only. Pictures with grain gain almost nothing from a
 * longer search. Without one, the file does not depend on a processor's hash instruction and is the same everywhere.
 */
export function encodePng(
  { width, height, bytes }: Pixels,
  texts: Record<string, string>,
): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 8;
  header[9] = 2;
  const packed = deflateSync(filterRows(width, height, bytes), {
    level: 6,
    memLevel: 9,
    strategy: constants.Z_RLE,
    chunkSize: 1 << 20,
  });
  return concatenate([
    SIGNATURE,
    ...chunk('IHDR', header),
    ...Object.entries(texts).flatMap(([keyword, text]) => chunk('iTXt', internationalText(keyword, text))),
    ...chunk('IDAT', packed),
    ...chunk('IEND', new Uint8Array(0)),
  ]);
}

function filterRows(width: number, height: number, bytes: Uint8Array): Uint8Array {
  const stride = width * 3;
  const filtered = new Uint8Array((stride + 1) * height);
  // Each row begins with three zeros, which stand for the pixel left of the first one.
  let above = new Uint8Array(stride + 3);
  let row = new Uint8Array(stride + 3);
  for (let y = 0, out = 0; y < height; y += 1) {
    row.set(bytes.subarray(y * stride, (y + 1) * stride), 3);
    filtered[out] = PAETH;
    out += 1;
    for (let i = 3; i < stride + 3; i += 1, out += 1) {
      const a = row[i - 3]!;
      const b = above[i]!;
      const c = above[i - 3]!;
      const pa = Math.abs(b - c);
      const pb = Math.abs(a - c);
      const pc = Math.abs(a + b - c - c);
      filtered[out] = row[i]! - (pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
    }
    const spare = above;
    above = row;
    row = spare;
  }
  return filtered;
}

/** An uncompressed iTXt body: keyword, two flags, no language, no translated keyword, then UTF-8 text. */
function internationalText(keyword: string, text: string): Uint8Array {
  return new TextEncoder().encode(`${keyword}\0\0\0\0\0${text}`);
}

function chunk(type: string, body: Uint8Array): Uint8Array[] {
  const name = new TextEncoder().encode(type);
  const frame = new DataView(new ArrayBuffer(8));
  frame.setUint32(0, body.length);
  frame.setUint32(4, crc32(body, crc32(name)));
  const bytes = new Uint8Array(frame.buffer);
  return [bytes.subarray(0, 4), name, body, bytes.subarray(4)];
}

function concatenate(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
