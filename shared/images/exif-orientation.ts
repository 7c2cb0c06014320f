import { ImageProblem } from './picture.ts';
import { Reader } from './reader.ts';

const orientationTag = 0x0112;
const shortType = 3;

/**
 * How the picture is to be turned (Exif 2.3, 4.6.2; TIFF 6.0).
 * @param tiff - what follows "Exif\0\0" in a JPEG's APP1
 * @returns 1 to 8, where 1 is also for data that does not say
 */
export function readOrientation(tiff: Uint8Array): number {
  try {
    return findOrientation(new Reader(tiff));
  } catch (error) {
    if (error instanceof ImageProblem) return 1;
    throw error;
  }
}

function findOrientation(reader: Reader): number {
  const order = reader.ascii(2);
  const littleEndian = order === 'II';
  if (!littleEndian && order !== 'MM') return 1;
  if (reader.u16(littleEndian) !== 42) return 1;
  const start = reader.u32(littleEndian);
  if (start < 8) return 1;
  reader.take(start - reader.at);
  const directory = new Reader(reader.take(reader.u16(littleEndian) * 12));
  // The directory ends with the place of the next one.
  reader.u32(littleEndian);
  while (directory.left > 0) {
    const tag = directory.u16(littleEndian);
    const type = directory.u16(littleEndian);
    const count = directory.u32(littleEndian);
    const value = directory.u16(littleEndian);
    directory.u16(littleEndian);
    if (tag !== orientationTag) continue;
    return type === shortType && count === 1 && value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/** What an APP1 holds that says the orientation and nothing else. */
export function orientationOnly(orientation: number): Uint8Array {
  const tiff = Buffer.alloc(26);
  tiff.write('MM');
  tiff.writeUInt16BE(42, 2);
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(orientationTag, 10);
  tiff.writeUInt16BE(shortType, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
}
