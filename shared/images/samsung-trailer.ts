import { ImageProblem } from './picture.ts';
import { Reader } from './reader.ts';

/**
 * Where the trailer begins that Samsung's cameras append (notes, sounds, videos), or undefined when the bytes don't end in
 * one. As ExifTool's `Samsung.pm` describes it, all little-endian: blocks; "SEFH", a version, a count and for each block
 * two bytes, its type, how far before "SEFH" it begins and its length; the length from "SEFH" on, and "SEFT". A block
 * repeats the first four bytes of its entry, and begins with the length of its name and the name.
 */
export function samsungTrailerStart(bytes: Uint8Array): number | undefined {
  try {
    return findStart(bytes);
  } catch (error) {
    if (error instanceof ImageProblem) return undefined;
    throw error;
  }
}

function findStart(bytes: Uint8Array): number | undefined {
  const foot = new Reader(bytes.subarray(-8));
  const directoryLength = foot.u32(true);
  if (foot.ascii(4) !== 'SEFT') return undefined;
  const directoryStart = bytes.length - 8 - directoryLength;
  if (directoryStart < 0) return undefined;
  const directory = new Reader(bytes.subarray(directoryStart, -8));
  if (directory.ascii(4) !== 'SEFH') return undefined;
  directory.u32();
  const count = directory.u32(true);
  if (count < 1 || directory.left !== count * 12) return undefined;
  let start = directoryStart;
  for (let i = 0; i < count; i++) {
    const kind = directory.u32();
    const blockStart = directoryStart - directory.u32(true);
    const blockLength = directory.u32(true);
    if (blockStart < 0 || blockStart + blockLength > directoryStart) return undefined;
    const block = new Reader(bytes.subarray(blockStart, blockStart + blockLength));
    if (block.u32() !== kind) return undefined;
    block.take(block.u32(true));
    start = Math.min(start, blockStart);
  }
  return start;
}
