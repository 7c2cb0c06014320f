import { crc32, createInflate } from 'node:zlib';
import {
  animated,
  checkSize,
  damaged,
  followed,
  ImageProblem,
  isColorProfile,
  maxParts,
  type Picture,
} from './picture.ts';
import { Reader } from './reader.ts';

interface Header {
  widthPx: number;
  heightPx: number;
  bitDepth: number;
  colorType: number;
  interlaced: boolean;
}

interface Chunk {
  type: string;
  data: Uint8Array;
}

interface Chunks {
  header: Header;
  /** Those that may stay and come before the image data, in their order. */
  before: Chunk[];
  imageData: Uint8Array;
}

/** Walks a PNG (W3C PNG, third edition) from its signature to its IEND. @throws ImageProblem */
export async function cleanPng(bytes: Uint8Array): Promise<Picture> {
  const { header, before, imageData } = readChunks(bytes);
  await checkImageData(header, imageData);
  const kept: Chunk[] = [];
  for (const chunk of before) {
    const clean = chunk.type === 'iCCP' ? await cleanProfile(chunk) : chunk;
    if (clean) kept.push(clean);
  }
  const chunks = [...kept, { type: 'IDAT', data: imageData }, { type: 'IEND', data: new Uint8Array() }];
  const { widthPx, heightPx } = header;
  return { widthPx, heightPx, parts: [bytes.subarray(0, 8), ...chunks.flatMap(written)] };
}

function readChunks(bytes: Uint8Array): Chunks {
  const reader = new Reader(bytes);
  reader.take(8);
  const first = nextChunk(reader);
  if (first.type !== 'IHDR') throw damaged('it does not start with its header');
  const header = readHeader(first.data);
  const before = [first];
  const imageData: Uint8Array[] = [];
  const seen = new Set([first.type]);
  let last = first.type;
  for (let count = 1; last !== 'IEND'; count++) {
    if (count > maxParts) throw damaged('it has too many chunks');
    const chunk = nextChunk(reader);
    checkOrder(chunk, last, seen, header);
    // Only the first of its kind counts, so each kind is read once.
    if (chunk.type === 'IDAT') imageData.push(chunk.data);
    else if (!seen.has(chunk.type) && mayStay(chunk, seen, before, header)) before.push(chunk);
    seen.add(chunk.type);
    last = chunk.type;
  }
  if (reader.left > 0) throw followed(reader.left);
  return { header, before, imageData: Buffer.concat(imageData) };
}

function nextChunk(reader: Reader): Chunk {
  const length = reader.u32();
  const start = reader.at;
  const type = reader.ascii(4);
  const data = reader.take(length);
  if (reader.u32() !== crc32(reader.bytes.subarray(start, start + 4 + length))) {
    throw damaged('the checksum of one of its chunks is wrong');
  }
  if (!/^[A-Za-z]{4}$/.test(type)) throw damaged('one of its chunks has no valid name');
  return { type, data };
}

const bitDepths: Record<number, number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
const channels: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

function readHeader(data: Uint8Array): Header {
  if (data.length !== 13) throw damaged('its header has the wrong length');
  const reader = new Reader(data);
  const header = {
    widthPx: reader.u32(),
    heightPx: reader.u32(),
    bitDepth: reader.u8(),
    colorType: reader.u8(),
  };
  const [compression, filter, interlace] = [reader.u8(), reader.u8(), reader.u8()];
  if (!bitDepths[header.colorType]?.includes(header.bitDepth)) {
    throw damaged('its bit depth and color type do not go together');
  }
  if (compression !== 0 || filter !== 0 || interlace > 1) throw damaged('its header names unknown methods');
  checkSize(header.widthPx, header.heightPx);
  return { ...header, interlaced: interlace === 1 };
}

function checkOrder(chunk: Chunk, last: string, seen: Set<string>, header: Header): void {
  const { type, data } = chunk;
  if (type === 'acTL' || type === 'fcTL' || type === 'fdAT') throw animated();
  const critical = type.charCodeAt(0) < 0x61;
  if (critical && !['PLTE', 'IDAT', 'IEND'].includes(type)) {
    throw damaged(`it has a chunk ${type}, which does not belong there`);
  }
  if (type === 'IDAT' && seen.has('IDAT') && last !== 'IDAT') throw damaged('its image data is interrupted');
  if (type === 'IDAT' && header.colorType === 3 && !seen.has('PLTE')) throw damaged('it has no palette');
  if (type === 'PLTE' && (seen.has('PLTE') || seen.has('IDAT') || !isPalette(data, header))) {
    throw damaged('its palette is wrong');
  }
  if (type === 'IEND' && (data.length > 0 || !seen.has('IDAT'))) throw damaged('its end is wrong');
}

function isPalette(data: Uint8Array, { colorType, bitDepth }: Header): boolean {
  const mostColors = colorType === 3 ? 2 ** bitDepth : 256;
  return data.length % 3 === 0 && data.length > 0 && data.length <= mostColors * 3;
}

/** Whether a chunk is part of the picture. One that is malformed or out of place is ignored by decoders, and left out here. */
function mayStay(chunk: Chunk, seen: Set<string>, before: Chunk[], header: Header): boolean {
  const { type, data } = chunk;
  if (seen.has('IDAT')) return false;
  // In other color types a palette only suggests colors to old screens.
  if (type === 'PLTE') return header.colorType === 3;
  if (type === 'tRNS') {
    const colors = before.find((other) => other.type === 'PLTE')?.data.length ?? 0;
    if (header.colorType === 3) return data.length > 0 && data.length <= colors / 3;
    return data.length === { 0: 2, 2: 6 }[header.colorType];
  }
  if (seen.has('PLTE')) return false;
  if (type === 'sRGB') return data.length === 1 && data[0]! <= 3;
  if (type === 'sBIT') return areSignificantBits(data, header);
  if (type === 'iCCP') return true;
  return data.length === { gAMA: 4, cICP: 4, cHRM: 32 }[type];
}

function areSignificantBits(data: Uint8Array, { colorType, bitDepth }: Header): boolean {
  const most = colorType === 3 ? 8 : bitDepth;
  const count = colorType === 3 ? 3 : channels[colorType];
  return data.length === count && data.every((bits) => bits >= 1 && bits <= most);
}

const maxProfileBytes = 4 * 1024 * 1024;

/** The profile without the name that the file gives it, or undefined where it is none. */
async function cleanProfile({ type, data }: Chunk): Promise<Chunk | undefined> {
  const nameEnd = data.indexOf(0);
  if (nameEnd < 1 || nameEnd > 79 || data[nameEnd + 1] !== 0) return undefined;
  const compressed = data.subarray(nameEnd + 2);
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    const used = await inflate(compressed, (part) => {
      length += part.length;
      if (length > maxProfileBytes) throw damaged('its color profile is too large');
      parts.push(part);
    });
    if (!isColorProfile(Buffer.concat(parts))) return undefined;
    // A name has at least one character; with one, the cleaned file is never larger than the file.
    return { type, data: Buffer.concat([Buffer.from('i\0\0'), compressed.subarray(0, used)]) };
  } catch (error) {
    if (error instanceof ImageProblem) return undefined;
    throw error;
  }
}

/** @throws ImageProblem unless the data inflates to exactly the rows that the header promises */
async function checkImageData(header: Header, data: Uint8Array): Promise<void> {
  const passes = rowsOf(header);
  let pass = passes.shift();
  let leftInRow = 0;
  const count = (part: Uint8Array) => {
    for (let at = 0; at < part.length;) {
      if (leftInRow === 0) {
        if (!pass) throw damaged('it holds more image data than its size says');
        if (part[at]! > 4) throw damaged('its image data is wrong');
        leftInRow = pass.rowBytes;
        pass.rows -= 1;
        if (pass.rows === 0) pass = passes.shift();
      }
      const step = Math.min(leftInRow, part.length - at);
      at += step;
      leftInRow -= step;
    }
  };
  const used = await inflate(data, count);
  if (pass || leftInRow > 0) throw damaged('it holds less image data than its size says');
  if (used < data.length) throw damaged('something follows its image data');
}

/** First column, first row, distance of columns, distance of rows. */
const adam7: [number, number, number, number][] = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
];

/** The rows in the order of the data; each begins with a byte that names its filter. */
function rowsOf({ widthPx, heightPx, bitDepth, colorType, interlaced }: Header) {
  const passes: [number, number, number, number][] = interlaced ? adam7 : [[0, 0, 1, 1]];
  return passes.map(([left, top, across, down]) => ({
    rowBytes: 1 + Math.ceil((Math.ceil((widthPx - left) / across) * channels[colorType]! * bitDepth) / 8),
    rows: Math.ceil((heightPx - top) / down),
  }));
}

/** Inflates piece by piece. @returns how many bytes of the data were used @throws ImageProblem, also that of `see` */
async function inflate(data: Uint8Array, see: (part: Uint8Array) => void): Promise<number> {
  const stream = createInflate({ chunkSize: 64 * 1024 });
  stream.end(data);
  try {
    for await (const part of stream) see(part);
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw String(code).startsWith('Z_') ? damaged('its compressed data is wrong') : error;
  }
  return stream.bytesWritten;
}

function written({ type, data }: Chunk): Uint8Array[] {
  const start = Buffer.alloc(8);
  start.writeUInt32BE(data.length);
  start.write(type, 4, 'latin1');
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(data, crc32(start.subarray(4))));
  return [start, data, end];
}
