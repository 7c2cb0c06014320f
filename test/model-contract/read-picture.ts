import sharp from 'sharp';
import type { OutputFormat } from '../../shared/contracts/generation.ts';
import { exifTexts } from '../support/exif-texts.ts';

/** What a file shows and says. */
export interface ReadPicture {
  /** What the file is, judged by its bytes. */
  format: string | undefined;
  width: number;
  height: number;
  /** 8-bit RGB, row by row. */
  pixels: Buffer;
  /** PNG's text chunks, or the same two texts in EXIF. */
  texts: Record<string, string>;
}

/** Decodes an image that was put as `asked`; anything that a decoder warns of throws. */
export async function readPicture(file: Buffer, asked: OutputFormat): Promise<ReadPicture> {
  const image = sharp(file, { failOn: 'warning' });
  const { format, width, height, channels, hasAlpha, comments = [], exif } = await image.metadata();
  if (hasAlpha || channels !== 3) throw new Error('it is not RGB');
  const texts =
    asked === 'png'
      ? Object.fromEntries(comments.map((one) => [one.keyword, one.text]))
      : { ...exifTexts(exif!) };
  return { format, width, height, pixels: await image.raw().toBuffer(), texts };
}
