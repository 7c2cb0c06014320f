import { bordersOf, placeProducts } from './placement.ts';
import type { Product } from './placement.ts';
import type { ReferenceImage, Size } from './reference.ts';

/** A product as it stands in the picture: 8-bit RGBA, with its frame if it is a print. */
export interface PlacedProduct extends Size {
  x: number;
  y: number;
  pixels: Uint8Array;
}

const PAPER = [246, 244, 240] as const;
const FRAME = [30, 29, 30] as const;
const FRAME_LIT = [92, 90, 88] as const;

/** Places products of their final sizes on the table. One without an outline of its own becomes a framed print. */
export function arrangeProducts(images: ReferenceImage[], picture: Size): PlacedProduct[] {
  const places = placeProducts(
    images.map((image) => ({ ...image, foot: footOf(image) })),
    picture,
  );
  return images.map((image, i) => {
    const { x, y } = places[i]!;
    const { width, height, pixels } = image;
    return image.cutOut ? { x, y, width, height, pixels } : framed(image, { x, y }, picture);
  });
}

/** The row below the lowest solid one. What lies under it is a shadow or a soft edge. */
function footOf({ width, height, pixels, cutOut }: ReferenceImage): number {
  if (!cutOut) return height;
  for (let at = pixels.length - 1; at > 0; at -= 4) {
    if (pixels[at]! >= 128) return Math.floor(at / 4 / width) + 1;
  }
  return height;
}

function framed(image: ReferenceImage & Product, at: { x: number; y: number }, picture: Size): PlacedProduct {
  const { mat, frame } = bordersOf(image, picture);
  const border = mat + frame;
  const width = image.width + 2 * border;
  const height = image.height + 2 * border;
  const pixels = new Uint8Array(width * height * 4).fill(255);
  const plain = plainEdge(image);
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, to += 4) {
      const inset = Math.min(x, y, width - 1 - x, height - 1 - y);
      const lit = inset === 0 && (y === 0 || x === 0);
      // The mat's slanted cut shows as a fine line around the print.
      const cut = plain === undefined && inset === border - 1;
      const color = inset < frame ? (lit ? FRAME_LIT : FRAME) : (plain ?? PAPER);
      for (let i = 0; i < 3; i += 1) pixels[to + i] = color[i]! - (cut ? 38 : 0);
    }
  }
  for (let y = 0; y < image.height; y += 1) {
    const row = image.pixels.subarray(y * image.width * 4, (y + 1) * image.width * 4);
    layOver(pixels, ((y + border) * width + border) * 4, 4, row);
  }
  return { x: at.x - border, y: at.y - border, width, height, pixels };
}

/** The color along the borders where it is the same all around, as in photographs on a plain ground. */
function plainEdge({ width, height, pixels }: ReferenceImage): readonly number[] | undefined {
  const sums = [0, 0, 0];
  const edge: number[] = [];
  for (let x = 0; x < width; x += 1) edge.push(x, (height - 1) * width + x);
  for (let y = 1; y < height - 1; y += 1) edge.push(y * width, y * width + width - 1);
  for (const pixel of edge) for (let i = 0; i < 3; i += 1) sums[i]! += pixels[pixel * 4 + i]!;
  const mean = sums.map((sum) => Math.round(sum / edge.length));
  const off = (pixel: number): boolean =>
    mean.some((value, i) => Math.abs(pixels[pixel * 4 + i]! - value) > 10);
  return edge.filter(off).length <= edge.length * 0.01 ? mean : undefined;
}

/** Lays a row of RGBA pixels over others that have `channels` channels. Opaque pixels are copied exactly. */
function layOver(to: Uint8Array, start: number, channels: number, row: Uint8Array): void {
  for (let from = 0, at = start; from < row.length; from += 4, at += channels) {
    const alpha = row[from + 3]!;
    for (let i = 0; i < 3; i += 1) {
      const under = to[at + i]!;
      to[at + i] = Math.round((row[from + i]! * alpha + under * (255 - alpha)) / 255);
    }
  }
}

/** Lays products over a finished 8-bit RGB picture. */
export function layProducts(bytes: Uint8Array, products: PlacedProduct[], picture: Size): void {
  for (const { x, y, width, height, pixels } of products) {
    const last = Math.min(height, picture.height - y);
    for (let row = Math.max(0, -y); row < last; row += 1) {
      const start = ((y + row) * picture.width + x) * 3;
      layOver(bytes, start, 3, pixels.subarray(row * width * 4, (row + 1) * width * 4));
    }
  }
}
