import type { OutputFormat } from '../contract.ts';
import { imageLibrary } from '../image-library.ts';
import { encodePng, type Pixels } from './png.ts';

/** What made the picture, as every format carries it. */
export interface PictureTexts {
  /** JSON. */
  parameters: string;
  Software: string;
}

/**
 * JPEG keeps its color in full resolution, because half of that blurs lettering on a colored ground. WebP has only half.
 */
const webpOptions = { quality: 90 };
const jpegOptions = { quality: 90, chromaSubsampling: '4:4:4' };

/** A picture as a file without an alpha channel: the same pixels and texts give the same bytes. */
export async function encodePicture(
  pixels: Pixels,
  format: OutputFormat,
  texts: PictureTexts,
): Promise<Uint8Array<ArrayBuffer>> {
  if (format === 'png') return encodePng(pixels, { ...texts });
  const { width, height, bytes } = pixels;
  const sharp = await imageLibrary();
  const image = sharp(bytes, { raw: { width, height, channels: 3 } }).withExif({
    IFD0: { Software: texts.Software },
    IFD2: { UserComment: asciiJson(texts.parameters) },
  });
  const encoded = format === 'webp' ? image.webp(webpOptions) : image.jpeg(jpegOptions);
  // A copy has a buffer of its own, which can be transferred to another thread.
  return new Uint8Array(await encoded.toBuffer());
}

/** Writes everything but ASCII as JSON's escapes, because EXIF's plain text is ASCII. */
function asciiJson(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
