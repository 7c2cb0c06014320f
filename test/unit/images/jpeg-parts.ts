import { bytesOf } from './samples.ts';

/** A JPEG's segment: its marker's second byte, then its content. */
export function segment(code: number, content: Uint8Array | string | number[]): Buffer {
  const body = bytesOf(content);
  const head = Buffer.from([0xff, code, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

/** Segments put right behind the start of a JPEG. */
export function withSegments(jpeg: Buffer, ...segments: Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

/** A JPEG made by hand: gray, 64 × 64, each block two bits ("0" for its DC, "0" for its end), so that all can be varied. */
export const dqt = (id = 0) => segment(0xdb, [id, ...Array<number>(64).fill(1)]);
/** One code of one bit, for the symbol 0. */
export const dht = (kind: 'dc' | 'ac', id = 0) =>
  segment(0xc4, [(kind === 'ac' ? 16 : 0) + id, 1, ...Array<number>(15).fill(0), 0]);
export const dri = (interval: number) => segment(0xdd, [interval >> 8, interval & 255]);
export const soi = Buffer.from([0xff, 0xd8]);
export const eoi = Buffer.from([0xff, 0xd9]);

export interface SampleFrame {
  code?: number;
  precision?: number;
  widthPx?: number;
  heightPx?: number;
  /** Id, sampling (0x11 is 1 × 1), quantization table. */
  components?: [number, number, number][];
}

export function sof(frame: SampleFrame = {}): Buffer {
  const { code = 0xc0, precision = 8, widthPx = 64, heightPx = 64, components = [[1, 0x11, 0]] } = frame;
  const size = [heightPx >> 8, heightPx & 255, widthPx >> 8, widthPx & 255];
  return segment(code, [precision, ...size, components.length, ...components.flat()]);
}

export interface SampleScan {
  /** Id and tables. */
  components?: [number, number][];
  /** First and last coefficient, then the shifts. */
  range?: [number, number, number];
  data?: Buffer;
}

export function sos({
  components = [[1, 0]],
  range = [0, 63, 0],
  data = Buffer.alloc(16),
}: SampleScan = {}): Buffer {
  return Buffer.concat([segment(0xda, [components.length, ...components.flat(), ...range]), data]);
}

/** 64 blocks in runs of `interval` with a restart marker between each two; `interval` is a multiple of four. */
export function restartedData(interval: number, first = 0): Buffer {
  const runs = 64 / interval;
  return Buffer.concat(
    Array.from({ length: runs }, (_, i) => [
      Buffer.alloc(interval / 4),
      Buffer.from(i < runs - 1 ? [0xff, 0xd0 + ((first + i) % 8)] : []),
    ]).flat(),
  );
}

export const tables = () => Buffer.concat([dqt(), dht('dc'), dht('ac')]);
export const jpegOf = (...parts: Buffer[]) => Buffer.concat([soi, ...parts, eoi]);
export const smallJpeg = (frame: SampleFrame = {}, scan: SampleScan = {}) =>
  jpegOf(tables(), sof(frame), sos(scan));

/** A scan of a progressive JPEG: first and last coefficient, then the shifts. */
export const scan = (from: number, to: number, shifts: number, data: Buffer = Buffer.alloc(8)) =>
  sos({ range: [from, to, shifts], data });
export const progressive = (...scans: Buffer[]) => jpegOf(tables(), sof({ code: 0xc2 }), ...scans);
/** Components with these samplings, named from 1 on. */
export const sampled = (...samplings: number[]) =>
  samplings.map((sampling, i): [number, number, number] => [i + 1, sampling, 0]);
/** Components of a scan that use the tables 0. */
export const chosen = (...ids: number[]) => ids.map((id): [number, number] => [id, 0]);

/** Samsung's trailer, with one block for each name. */
export function samsungTrailer(blocks: { name: string; data: Buffer }[]): Buffer {
  const written = blocks.map(({ name, data }, i) => {
    const head = Buffer.alloc(8);
    head.writeUInt16LE(0x0a01 + i, 2);
    head.writeUInt32LE(name.length, 4);
    return Buffer.concat([head, Buffer.from(name), data]);
  });
  const total = written.reduce((sum, block) => sum + block.length, 0);
  let start = 0;
  const entries = written.map((block) => {
    const entry = Buffer.alloc(12);
    block.copy(entry, 0, 0, 4);
    entry.writeUInt32LE(total - start, 4);
    entry.writeUInt32LE(block.length, 8);
    start += block.length;
    return entry;
  });
  const head = Buffer.from('SEFH\0\0\0\0\0\0\0\0');
  head.writeUInt32LE(101, 4);
  head.writeUInt32LE(blocks.length, 8);
  const foot = Buffer.from('\0\0\0\0SEFT');
  foot.writeUInt32LE(12 + 12 * blocks.length);
  return Buffer.concat([...written, head, ...entries, foot]);
}
