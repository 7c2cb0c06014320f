import type { OutputFormat } from '../contract.ts';
import { imageLibrary } from '../image-library.ts';
import { encodePng, type Pixels } from './png.ts';

/** The text chunk that PNG readers look for XMP in. */
const XMP_KEYWORD = 'XML:com.adobe.xmp';

/**
 * JPEG keeps its color in full resolution, because half of that blurs lettering on a colored ground. WebP has only half.
 */
const webpOptions = { quality: 90 };
const jpegOptions = { quality: 90, chromaSubsampling: '4:4:4' };

/** A picture as a file without an alpha channel: the same pixels and the same XMP packet give the same bytes. */
export async function encodePicture(
  pixels: Pixels,
  format: OutputFormat,
  xmp: string,
): Promise<Uint8Array<ArrayBuffer>> {
  if (format === 'png') return encodePng(pixels, { [XMP_KEYWORD]: xmp });
  const { width, height, bytes } = pixels;
  const sharp = await imageLibrary();
  const image = sharp(bytes, { raw: { width, height, channels: 3 } }).withXmp(xmp);
  const encoded = format === 'webp' ? image.webp(webpOptions) : image.jpeg(jpegOptions);
  // A copy has a buffer of its own, which can be transferred to another thread.
  return new Uint8Array(await encoded.toBuffer());
}
