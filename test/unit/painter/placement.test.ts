import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  bordersOf,
  fitProducts,
  placeProducts,
  tableOf,
} from '../../../local/painter/art/references/placement.ts';

const side = fc.integer({ min: 8, max: 32 }).map((n) => n * 64);
const picture = fc.record({ width: side, height: side });
const length = fc.integer({ min: 64, max: 8192 });
const product = fc.record({ width: length, height: length, cutOut: fc.boolean() });
const products = fc.array(product, { minLength: 1, maxLength: 4 });

/** Where products end up with all that belongs to them, and the factor by which each was shrunk. */
function arrange(
  asked: { width: number; height: number; cutOut: boolean }[],
  frame: { width: number; height: number },
  branding: boolean,
) {
  const sizes = fitProducts(asked, frame, branding);
  const final = sizes.map((size, i) => ({ ...size, cutOut: asked[i]!.cutOut, foot: size.height }));
  const places = placeProducts(final, frame);
  return final.map((each, i) => {
    const { mat, frame: edge } = bordersOf(each, frame);
    const { x, y } = places[i]!;
    const border = mat + edge;
    return {
      ...each,
      left: x - border,
      right: x + each.width + border,
      top: y - border,
      bottom: y + each.height + border,
    };
  });
}

describe('products in a picture', () => {
  test('stand on one line of the table, beside each other and inside the picture, whatever their sizes', () => {
    fc.assert(
      fc.property(products, picture, fc.boolean(), (asked, frame, branding) => {
        const standing = arrange(asked, frame, branding);
        const { base, edge } = tableOf(frame);
        expect(edge).toBeLessThan(base);
        expect(base).toBeLessThan(frame.height);
        let free = 0;
        for (const { left, right, top, bottom } of standing) {
          expect(bottom).toBe(base);
          expect(top).toBeGreaterThanOrEqual(0);
          expect(left).toBeGreaterThanOrEqual(free);
          free = right;
        }
        expect(free).toBeLessThanOrEqual(frame.width);
      }),
    );
  });

  test('keep their proportions, are never enlarged, and are not shrunk where they fit', () => {
    fc.assert(
      fc.property(products, picture, fc.boolean(), (asked, frame, branding) => {
        for (const [i, { width, height }] of arrange(asked, frame, branding).entries()) {
          const own = asked[i]!;
          expect(width).toBeLessThanOrEqual(own.width);
          expect(height).toBeLessThanOrEqual(own.height);
          // Nothing is thinner than a pixel.
          if (width === 1 || height === 1) continue;
          // Each side is rounded down by less than one pixel.
          const [low, high] = [width / own.width, (width + 1) / own.width];
          expect(height / own.height).toBeLessThan(high + 1e-9);
          expect((height + 1) / own.height).toBeGreaterThan(low - 1e-9);
        }
      }),
    );
    const small = { width: 80, height: 100, cutOut: false };
    expect(fitProducts([small, small, small, small], { width: 1024, height: 512 }, false)).toEqual(
      Array.from({ length: 4 }, () => ({ width: 80, height: 100 })),
    );
  });

  test('leave the width that they do not need to the others', () => {
    const frame = { width: 1024, height: 1024 };
    const [wide, narrow] = [
      { width: 4000, height: 3000, cutOut: true },
      { width: 100, height: 600, cutOut: true },
    ];
    const [besideWide] = fitProducts([wide, wide], frame, false);
    const [besideNarrow] = fitProducts([wide, narrow], frame, false);

    expect(besideNarrow!.width).toBeGreaterThan(besideWide!.width * 1.3);
  });

  test('are shrunk less where branding is to be preserved', () => {
    fc.assert(
      fc.property(products, picture, (asked, frame) => {
        const [free, preserved] = [false, true].map((branding) => fitProducts(asked, frame, branding));
        const pixels = (sizes: typeof free): number =>
          sizes!.reduce((sum, { width, height }) => sum + width * height, 0);
        expect(pixels(preserved)).toBeGreaterThanOrEqual(pixels(free));
      }),
    );
  });
});
