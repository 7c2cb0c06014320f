import sharp, { type Sharp } from 'sharp';

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

export const orientations = [1, 2, 3, 4, 5, 6, 7, 8] as const;
export type Orientation = (typeof orientations)[number];

/** What is seen at a place of a picture. */
export type Scene = (x: number, y: number) => readonly [red: number, green: number, blue: number];

/** A scene's pixels as a file with this EXIF orientation stores them (Exif 2.3, 4.6.4). The size is that of what is seen. */
export function drawn(scene: Scene, width: number, height: number, orientation: Orientation = 1): Sharp {
  const [wide, high] = orientation > 4 ? [height, width] : [width, height];
  const data = Buffer.alloc(wide * high * 3);
  for (let y = 0, at = 0; y < high; y += 1) {
    for (let x = 0; x < wide; x += 1, at += 3) {
      const [right, below] = [wide - 1 - x, high - 1 - y];
      const seenAt: Record<Orientation, readonly [number, number]> = {
        1: [x, y],
        2: [right, y],
        3: [right, below],
        4: [x, below],
        5: [y, x],
        6: [below, x],
        7: [below, right],
        8: [y, right],
      };
      data.set(scene(...seenAt[orientation]), at);
    }
  }
  return sharp(data, { raw: { width: wide, height: high, channels: 3 } });
}

/** How far two pictures of one size are apart, 0 … 255. */
export function meanDifference(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += Math.abs(one[i]! - other[i]!);
  return sum / one.length;
}
