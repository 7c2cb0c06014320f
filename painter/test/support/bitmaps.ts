import sharp from 'sharp';
import type { Sharp } from 'sharp';
import type { Size } from '../../src/art/references/reference.ts';

/** Pixels as they are compared: 8-bit RGBA. */
export interface Bitmap extends Size {
  data: Buffer;
}

type Pixel = readonly [red: number, green: number, blue: number, alpha: number];

export function bitmap(width: number, height: number, at: (x: number, y: number) => Pixel): Bitmap {
  const data = Buffer.alloc(width * height * 4);
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, to += 4) data.set(at(x, y), to);
  }
  return { width, height, data };
}

/** Every pixel another color, every channel in its whole range. */
export function colorful(
  width: number,
  height: number,
  alpha = (_x: number, _y: number): number => 255,
): Bitmap {
  return bitmap(width, height, (x, y) => [
    (x * 7 + y) % 256,
    (y * 5 + x * 3) % 256,
    (x * y) % 256,
    alpha(x, y),
  ]);
}

export function plain(red: number, green: number, blue: number, side = 300): Bitmap {
  return bitmap(side, side, () => [red, green, blue, 255]);
}

export function image({ width, height, data }: Bitmap): Sharp {
  return sharp(data, { raw: { width, height, channels: 4 } });
}

export const pngOf = (picture: Bitmap): Promise<Buffer> =>
  image(picture).png({ compressionLevel: 1 }).toBuffer();

export async function decoded(picture: Sharp): Promise<Bitmap> {
  const { data, info } = await picture.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}
