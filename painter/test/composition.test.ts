import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { oklab } from '../src/art/color.ts';
import { leastMap, times } from '../src/art/references/matrix.ts';
import { encodeSrgb, writeOklab } from '../src/art/references/oklab.ts';
import { bordersOf, fitProducts, placeProducts, tableOf } from '../src/art/references/placement.ts';
import { regionsOf } from '../src/art/references/regions.ts';

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

const step = fc.integer({ min: 0, max: 255 });

test('OKLab and back is the same color', () => {
  fc.assert(
    fc.property(step, step, step, (red, green, blue) => {
      const lab = new Float32Array(3);
      writeOklab(red, green, blue, lab, 0);
      const back = oklab(lab[0]!, lab[1]!, lab[2]!).map(encodeSrgb);
      for (const [i, value] of [red, green, blue].entries())
        expect(Math.abs(back[i]! - value)).toBeLessThan(0.3);
    }),
  );
});

test('the map between two palettes turns one covariance into the other and is symmetric', () => {
  const entry = fc.double({ min: -1, max: 1, noNaN: true });
  const covariance = fc.array(entry, { minLength: 9, maxLength: 9 }).map((m) => {
    const turned = m.map((_, k) => m[(k % 3) * 3 + Math.floor(k / 3)]!);
    return times(m, turned).map((value, k) => value + (k % 4 === 0 ? 0.01 : 0));
  });
  fc.assert(
    fc.property(covariance, covariance, (a, b) => {
      const map = leastMap(a, b);
      for (const [k, value] of times(times(map, a), map).entries()) expect(value).toBeCloseTo(b[k]!, 4);
      for (const [i, j] of [
        [1, 3],
        [2, 6],
        [5, 7],
      ] as const)
        expect(map[i]!).toBeCloseTo(map[j]!, 4);
    }),
  );
});

test('the regions of several references cover the picture without overlapping', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), side, side, (count, width, height) => {
      const regions = regionsOf(count, { width, height });
      expect(regions).toHaveLength(count);
      const area = regions.reduce((sum, each) => sum + each.width * each.height, 0);
      expect(area).toBeCloseTo(width * height, 3);
      expect(new Set(regions.map(({ x, y }) => `${x} ${y}`)).size).toBe(count);
      for (const { x, y, ...region } of regions) {
        expect(x + region.width).toBeLessThanOrEqual(width + 1e-6);
        expect(y + region.height).toBeLessThanOrEqual(height + 1e-6);
      }
    }),
  );
});
