import { imageLibrary } from '../image-library.ts';
import type { Pixels } from './png.ts';

const MAX_SIDE = 512;
const MAX_BYTES = 60_000;
/** The first is for nearly every picture. At the last one even noise fits. */
const QUALITIES = [80, 65, 50, 35, 20, 1];

/**
 * A picture's preview: a WebP of the same shape, at most 512 pixels a side and 60 kB. The same picture gives the same bytes.
 * @returns undefined where none is small enough.
 */
export async function encodePreview(
  { width, height, bytes }: Pixels,
  xmp: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const sharp = await imageLibrary();
  const { data, info } = await sharp(bytes, { raw: { width, height, channels: 3 } })
    // Averages of light, not of its codes: fine bright patterns on dark ground would get darker.
    .pipelineColourspace('scrgb')
    .resize({
      width: MAX_SIDE,
      height: MAX_SIDE,
      fit: 'inside',
      withoutEnlargement: true,
      kernel: 'lanczos3',
    })
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: 3 } as const;
  for (const quality of QUALITIES) {
    const file = await sharp(data, { raw }).withXmp(xmp).webp({ quality }).toBuffer();
    // A copy has a buffer of its own, which can be transferred to another thread.
    if (file.length <= MAX_BYTES) return new Uint8Array(file);
  }
  return undefined;
}
