import { crc32, inflateSync } from 'node:zlib';

// Jest's sandbox makes every look-up of a global slow, and the filters need it for every byte.
const { abs } = Math;

export interface DecodedPng {
  width: number;
  height: number;
  /** 8-bit RGB, row by row. */
  bytes: Uint8Array;
  texts: Record<string, string>;
  chunks: string[];
}

/** Decodes 8-bit truecolor PNG files and nothing else; whatever the standard forbids or this does not know throws. */
export function decodePng(file: Uint8Array): DecodedPng {
  const data = Buffer.from(file);
  if (data.subarray(0, 8).toString('hex') !== '89504e470d0a1a0a') throw new Error('signature');
  const chunks: { type: string; body: Buffer }[] = [];
  let at = 8;
  while (at < data.length) {
    const length = data.readUInt32BE(at);
    const type = data.toString('latin1', at + 4, at + 8);
    const body = data.subarray(at + 8, at + 8 + length);
    if (body.length !== length) throw new Error(`${type} is cut off`);
    if (data.readUInt32BE(at + 8 + length) !== crc32(data.subarray(at + 4, at + 8 + length)))
      throw new Error(`${type} CRC`);
    chunks.push({ type, body });
    at += 12 + length;
  }
  const types = chunks.map(({ type }) => type);
  if (types[0] !== 'IHDR' || types.at(-1) !== 'IEND' || at !== data.length)
    throw new Error('order of chunks');
  const header = chunks[0]!.body;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (header.subarray(8).toString('hex') !== '0802000000') throw new Error('not plain 8-bit truecolor');
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ body }) => body));
  const bytes = unfilter(inflateSync(packed), width, height);
  const texts = Object.fromEntries(
    chunks.filter(({ type }) => type === 'iTXt').map(({ body }) => readText(body)),
  );
  return { width, height, bytes, texts, chunks: types };
}

function readText(body: Buffer): [string, string] {
  const keyword = body.indexOf(0);
  if (keyword < 1 || body[keyword + 1] !== 0 || body[keyword + 2] !== 0) throw new Error('iTXt flags');
  const language = body.indexOf(0, keyword + 3);
  const translated = body.indexOf(0, language + 1);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body.subarray(translated + 1));
  return [body.toString('latin1', 0, keyword), text];
}

function unfilter(raw: Buffer, width: number, height: number): Uint8Array {
  const stride = width * 3;
  if (raw.length !== (stride + 1) * height) throw new Error('length of the image data');
  const bytes = new Uint8Array(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)]!;
    if (filter > 4) throw new Error(`filter ${filter}`);
    for (let i = 0; i < stride; i += 1) {
      const left = i >= 3 ? bytes[y * stride + i - 3]! : 0;
      const above = y > 0 ? bytes[(y - 1) * stride + i]! : 0;
      const corner = i >= 3 && y > 0 ? bytes[(y - 1) * stride + i - 3]! : 0;
      let guess = 0;
      if (filter === 1) guess = left;
      else if (filter === 2) guess = above;
      else if (filter === 3) guess = (left + above) >> 1;
      else if (filter === 4) guess = paeth(left, above, corner);
      bytes[y * stride + i] = raw[y * (stride + 1) + 1 + i]! + guess;
    }
  }
  return bytes;
}

function paeth(a: number, b: number, c: number): number {
  const pa = abs(b - c);
  const pb = abs(a - c);
  const pc = abs(a + b - 2 * c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}
