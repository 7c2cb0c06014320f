import { readFile, stat } from 'node:fs/promises';
import type { SampleFiles } from '../../shared/identities/sample-store.ts';
import { referenceLimits } from '../../shared/images/image-types.ts';
import { inspectImage } from '../../shared/images/inspect-image.ts';
import { samplePicturePx, sampleThumbnailPx } from '../../shared/identities/sample.ts';
import { Failure } from '../common/failure.ts';

/** Quality of WebP. A thumbnail is seen in small, and pages show many. */
const pictureQuality = 85;
const thumbnailQuality = 80;

/**
 * Makes the two files of a sample from a picture of the operator's: upright, in sRGB and without metadata.
 * @throws Failure naming the file, when it is no picture that can be used
 */
export async function readSampleFile(path: string, prompt: string | null): Promise<SampleFiles> {
  const bytes = await readPicture(path);
  try {
    const picture = await smaller(bytes, samplePicturePx, pictureQuality);
    const thumbnail = await smaller(bytes, sampleThumbnailPx, thumbnailQuality);
    const { width: widthPx, height: heightPx } = picture.info;
    return { picture: picture.data, thumbnail: thumbnail.data, widthPx, heightPx, prompt };
  } catch (cause) {
    throw new Failure(`--sample ${path} must be undamaged: it can't be decoded.`, 1, { cause });
  }
}

/** Reads a file by the rules of reference images. One that is too large is not read into memory. */
async function readPicture(path: string): Promise<Uint8Array> {
  const { maxBytes } = referenceLimits;
  let file;
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw tooLarge(path, size);
    file = await readFile(path);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`--sample ${path} can't be read (${code}).`, 1, { cause: error });
  }
  const found = await inspectImage(file);
  if ('problem' in found) throw new Failure(`--sample ${path} ${found.problem}.`);
  return found.image.bytes;
}

function tooLarge(path: string, size: number): Failure {
  const most = referenceLimits.maxBytes / 1024 / 1024;
  return new Failure(
    `--sample ${path} must be at most ${most} MiB; it is ${size.toLocaleString('en-US')} bytes.`,
  );
}

async function smaller(bytes: Uint8Array, sidePx: number, quality: number) {
  // Imported late: it takes a while to load, and few commands need it.
  const { default: sharp } = await import('sharp');
  return sharp(bytes, { limitInputPixels: referenceLimits.maxPixels, failOn: 'warning' })
    .autoOrient()
    .resize({ width: sidePx, height: sidePx, fit: 'inside', withoutEnlargement: true, kernel: 'lanczos3' })
    .webp({ quality })
    .toBuffer({ resolveWithObject: true });
}
