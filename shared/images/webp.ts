import {
  animated,
  checkSize,
  damaged,
  followed,
  ImageProblem,
  isColorProfile,
  notWhole,
  type Picture,
} from './picture.ts';
import { Reader } from './reader.ts';

interface Frame {
  widthPx: number;
  heightPx: number;
  hasAlpha: boolean;
}

interface Extended {
  widthPx: number;
  heightPx: number;
}

const flags = { profile: 0x20, alpha: 0x10, animation: 0x02 };

/** Walks a WebP (RFC 9649) from its RIFF header to the end that this names. @throws ImageProblem */
export function cleanWebp(bytes: Uint8Array): Picture {
  const reader = new Reader(bytes);
  reader.take(4);
  const length = reader.u32(true);
  if (length > reader.left) throw notWhole();
  if (length < reader.left) throw followed(reader.left - length);
  reader.take(4);
  const { extended, frame, chunks } = readChunks(reader);
  if (extended) {
    const profile = chunks.has('ICCP') ? flags.profile : 0;
    const alpha = chunks.has('ALPH') || frame.hasAlpha ? flags.alpha : 0;
    chunks.set('VP8X', extendedHeader(extended, profile | alpha));
  }
  const body = order.flatMap((name) => (chunks.has(name) ? chunk(name, chunks.get(name)!) : []));
  const head = Buffer.from('RIFF\0\0\0\0WEBP');
  head.writeUInt32LE(4 + body.reduce((sum, part) => sum + part.length, 0), 4);
  return { widthPx: frame.widthPx, heightPx: frame.heightPx, parts: [head, ...body] };
}

/** The chunks that are kept, in the order of the format. */
const order = ['VP8X', 'ICCP', 'ALPH', 'VP8 ', 'VP8L'];

function readChunks(reader: Reader) {
  let extended: Extended | undefined;
  let frame: Frame | undefined;
  const chunks = new Map<string, Uint8Array>();
  for (let isFirst = true; reader.left > 0; isFirst = false) {
    const name = reader.ascii(4);
    const data = reader.take(reader.u32(true));
    if (data.length % 2 === 1) reader.u8();
    if (name === 'ANIM' || name === 'ANMF') throw animated();
    if (name === 'VP8X') {
      if (!isFirst) throw damaged('its chunks are in the wrong order');
      extended = readExtended(data);
    } else if (name === 'VP8 ' || name === 'VP8L') {
      if (frame) throw new ImageProblem('must hold one image and nothing else: it holds a second one');
      frame = name === 'VP8 ' ? readLossy(data) : readLossless(data);
      checkSize(frame.widthPx, frame.heightPx);
      chunks.set(name, data);
    } else if (isFirst) {
      throw damaged('it does not start with its image or its header');
    } else if (extended && !frame && !chunks.has(name) && mayStay(name, data)) {
      chunks.set(name, data);
    }
  }
  if (!frame) throw notWhole();
  checkAgreement(extended, frame, chunks);
  return { extended, frame, chunks };
}

function mayStay(name: string, data: Uint8Array): boolean {
  return name === 'ALPH' || (name === 'ICCP' && isColorProfile(data));
}

function checkAgreement(extended: Extended | undefined, frame: Frame, chunks: Map<string, Uint8Array>): void {
  if (extended && (extended.widthPx !== frame.widthPx || extended.heightPx !== frame.heightPx)) {
    throw damaged('its header and its image differ in size');
  }
  // A lossless image holds its own alpha.
  if (chunks.has('VP8L')) chunks.delete('ALPH');
  const alpha = chunks.get('ALPH');
  if (alpha) checkAlpha(alpha, frame);
}

function readExtended(data: Uint8Array): Extended {
  if (data.length !== 10) throw damaged('its header has the wrong length');
  const reader = new Reader(data);
  if (reader.u32(true) & flags.animation) throw animated();
  return { widthPx: reader.u24le() + 1, heightPx: reader.u24le() + 1 };
}

/** RFC 6386, 9.1: a frame that depends on no other, is shown, and whose first partition lies within it. */
function readLossy(data: Uint8Array): Frame {
  const reader = new Reader(data);
  const tag = reader.u24le();
  const isKeyFrame = (tag & 1) === 0;
  const version = (tag >> 1) & 7;
  const isShown = ((tag >> 4) & 1) === 1;
  const startCode = reader.u24le();
  if (!isKeyFrame || version > 3 || !isShown || startCode !== 0x2a019d)
    throw damaged('its image header is wrong');
  // The two high bits only suggest a scale.
  const widthPx = reader.u16(true) & 0x3fff;
  const heightPx = reader.u16(true) & 0x3fff;
  if (tag >> 5 >= reader.left) throw notWhole();
  return { widthPx, heightPx, hasAlpha: false };
}

/** RFC 9649, 3.4. */
function readLossless(data: Uint8Array): Frame {
  const reader = new Reader(data);
  const signature = reader.u8();
  const bits = reader.u32(true);
  if (signature !== 0x2f || bits >>> 29 !== 0) throw damaged('its image header is wrong');
  return {
    widthPx: (bits & 0x3fff) + 1,
    heightPx: ((bits >>> 14) & 0x3fff) + 1,
    hasAlpha: (bits >>> 28) % 2 === 1,
  };
}

/** RFC 9649, 2.7.1.2: how the values were prepared, filtered and compressed; not compressed, there is one byte a pixel. */
function checkAlpha(data: Uint8Array, { widthPx, heightPx }: Frame): void {
  const head = new Reader(data).u8();
  const compression = head & 3;
  if (compression > 1 || head >> 4 > 1) throw damaged('its transparency is wrong');
  if (compression === 0 && data.length < 1 + widthPx * heightPx) throw notWhole();
}

function extendedHeader({ widthPx, heightPx }: Extended, flag: number): Uint8Array {
  const data = Buffer.alloc(10);
  data.writeUInt8(flag);
  data.writeUIntLE(widthPx - 1, 4, 3);
  data.writeUIntLE(heightPx - 1, 7, 3);
  return data;
}

function chunk(name: string, data: Uint8Array): Uint8Array[] {
  const head = Buffer.from(`${name}\0\0\0\0`);
  head.writeUInt32LE(data.length, 4);
  return [head, data, Buffer.alloc(data.length % 2)];
}
