import sharp from 'sharp';
import { readXmp } from '../support/read-xmp.ts';
import type { Xmp } from '../support/read-xmp.ts';

/** What a file shows and says. */
export interface ReadPicture {
  /** What the file is, judged by its bytes. */
  format: string | undefined;
  width: number;
  height: number;
  /** 8-bit RGB, row by row. */
  pixels: Buffer;
  /** All the metadata that there is. */
  xmp: Xmp;
  file: Buffer;
}

/** Decodes an image; anything that a decoder warns of, and metadata beside XMP, throws. */
export async function readPicture(file: Buffer): Promise<ReadPicture> {
  const image = sharp(file, { failOn: 'warning' });
  const { format, width, height, channels, hasAlpha, xmp, ...others } = await image.metadata();
  if (hasAlpha || channels !== 3) throw new Error('it is not RGB');
  const { exif, icc, iptc, comments = [] } = others;
  if (exif || icc || iptc || comments.length > 0) throw new Error('it has more metadata than XMP');
  return { format, width, height, pixels: await image.raw().toBuffer(), xmp: readXmp(xmp), file };
}
