import sharp from 'sharp';
import type { Sharp } from 'sharp';

/** An image in which every pixel has another color, and every channel its whole range. */
export function colorful(width: number, height: number, alpha = (_x: number): number => 255): Sharp {
  const data = Buffer.alloc(width * height * 4);
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 4) {
      data.set([(x * 7 + y) % 256, (y * 5 + x * 3) % 256, (x * y) % 256, alpha(x)], at);
    }
  }
  return sharp(data, { raw: { width, height, channels: 4 } });
}

export function plain(background: string, width = 300, height = width): Sharp {
  return sharp({ create: { width, height, channels: 3, background } });
}

export function pngOf(image: Sharp): Promise<Buffer> {
  return image.png({ compressionLevel: 1 }).toBuffer();
}
