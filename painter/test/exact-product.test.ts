import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { fitProducts, placeProducts } from '../src/art/references/placement.ts';
import { bitmap, colorful, decoded, image, plain, pngOf } from './support/bitmaps.ts';
import type { Bitmap } from './support/bitmaps.ts';
import { paintFile } from './support/painting.ts';
import { withFiles } from './support/references.ts';
import type { Asked } from './support/references.ts';

/** Paints products into a picture. */
async function paint(files: Buffer[], asked: Asked = {}): Promise<Bitmap> {
  const changes = await withFiles(files, { referenceMode: 'exact_product', ...asked });
  return decoded(sharp(await paintFile(changes)));
}

/** How many opaque pixels of a product differ from the picture's at its place. */
function differences(picture: Bitmap, product: Bitmap, place: { x: number; y: number }): number {
  let count = 0;
  for (let y = 0; y < product.height; y += 1) {
    for (let x = 0; x < product.width; x += 1) {
      const own = (y * product.width + x) * 4;
      if (product.data[own + 3] !== 255) continue;
      const there = ((place.y + y) * picture.width + place.x + x) * 4;
      if (product.data.compare(picture.data, there, there + 3, own, own + 3) !== 0) count += 1;
    }
  }
  return count;
}

const placeOf = (product: Bitmap, picture: Bitmap, cutOut = false): { x: number; y: number } =>
  placeProducts([{ ...product, cutOut, foot: product.height }], picture)[0]!;

describe('an opaque product that fits', () => {
  const product = colorful(200, 150);

  test.each([
    ['PNG', () => image(product).png()],
    ['lossless WebP', () => image(product).webp({ lossless: true })],
    ['16-bit PNG', () => image(product).toColourspace('rgb16').png()],
  ])('stands in the picture pixel for pixel (%s)', async (_name, file) => {
    const picture = await paint([await file().toBuffer()]);

    expect(differences(picture, product, placeOf(product, picture))).toBe(0);
  });

  test('in a wide-gamut profile is moved to sRGB', async () => {
    const file = await image(plain(180, 90, 60))
      .png()
      .withIccProfile('p3')
      .toBuffer();
    const raw = await decoded(sharp(file, { ignoreIcc: true }));
    expect(Math.abs(raw.data[0]! - 180)).toBeGreaterThan(4);
    const picture = await paint([file]);
    const { x, y } = placeOf({ ...plain(0, 0, 0), width: 300, height: 300 }, picture);
    const at = ((y + 150) * picture.width + x + 150) * 4;

    for (const [i, value] of [180, 90, 60].entries()) {
      expect(Math.abs(picture.data[at + i]! - value)).toBeLessThanOrEqual(2);
    }
  });
});

describe('a product that is too large', () => {
  test.each([
    ['in a square picture', 1700, 1200, {}],
    ['in a tall one', 1200, 900, { width: 512, height: 1024 }],
    ['in a wide one with its branding preserved', 700, 2100, { width: 1024, preserveBranding: true }],
  ])('is shrunk to its place, and then kept pixel for pixel: %s', async (_name, width, height, changes) => {
    const product = colorful(width, height);
    const picture = await paint([await pngOf(product)], changes);
    const branding = 'preserveBranding' in changes;
    const [size] = fitProducts([{ ...product, cutOut: false }], picture, branding);
    const shrunk = await decoded(image(product).resize({ ...size!, fit: 'fill' }));

    expect(size!.width).toBeLessThan(picture.width);
    expect(size!.width / size!.height).toBeCloseTo(width / height, 1);
    expect(differences(picture, shrunk, placeOf(shrunk, picture))).toBe(0);
  });
});

describe('a product with an outline of its own', () => {
  /** A disc in a margin of nothing; its outermost ring is half transparent. */
  const disc = (color: readonly [number, number, number]): Bitmap =>
    bitmap(240, 260, (x, y) => {
      const radius = Math.hypot(x - 119.5, y - 129.5);
      return [...color, radius < 90 ? 255 : radius < 100 ? 128 : 0];
    });
  /** The disc without the margin around it. */
  const bare = (color: readonly [number, number, number]): Bitmap => {
    const whole = disc(color);
    return bitmap(200, 200, (x, y) => {
      const at = ((y + 30) * whole.width + x + 20) * 4;
      return [...whole.data.subarray(at, at + 4)] as unknown as [number, number, number, number];
    });
  };

  test('shows every opaque pixel, and the scene through the others', async () => {
    const [white, black] = [
      await paint([await pngOf(disc([255, 255, 255]))]),
      await paint([await pngOf(disc([0, 0, 0]))]),
    ];
    const place = placeOf(bare([0, 0, 0]), white, true);

    expect(differences(white, bare([255, 255, 255]), place)).toBe(0);
    expect(differences(black, bare([0, 0, 0]), place)).toBe(0);
    const step = (picture: Bitmap, x: number, y: number): number =>
      picture.data[((place.y + y) * picture.width + place.x + x) * 4]!;
    for (let i = 0; i < 5; i += 1) {
      expect(Math.abs(step(white, 98 + i, 4) - step(black, 98 + i, 4) - 128)).toBeLessThanOrEqual(1);
      expect(step(white, i, i)).toBe(step(black, i, i));
    }
  });

  test('stands on the same line as its neighbors, all four of them pixel for pixel', async () => {
    const tall = colorful(60, 180, (x) => (x < 2 ? 0 : 255));
    const products = [colorful(90, 70), bare([10, 200, 30]), tall, colorful(50, 120)];
    const files = [products[0]!, disc([10, 200, 30]), tall, products[3]!];
    const picture = await paint(await Promise.all(files.map(pngOf)), { width: 1024 });
    // Two of its columns show nothing and are left out.
    const shown = products.map((product) =>
      product === tall
        ? bitmap(58, 180, (x, y) => [...tall.data.subarray((y * 60 + x + 2) * 4).subarray(0, 4)] as never)
        : product,
    );
    const outlined = shown.map((product, i) => ({
      ...product,
      cutOut: i === 1 || i === 2,
      foot: product.height,
    }));

    for (const [i, place] of placeProducts(outlined, picture).entries()) {
      expect([i, differences(picture, shown[i]!, place)]).toEqual([i, 0]);
    }
  });
});
