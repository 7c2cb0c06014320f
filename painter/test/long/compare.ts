import type { DecodedPng } from '../support/painting.ts';

// Jest's sandbox makes every look-up of a global slow, and these run a million times.
const { abs, floor, sqrt } = Math;

/** Mean difference of two pictures of one size, in 8-bit steps for each channel. */
export function meanDifference(a: DecodedPng, b: DecodedPng): number {
  let sum = 0;
  for (let i = 0; i < a.bytes.length; i += 1) sum += abs(a.bytes[i]! - b.bytes[i]!);
  return sum / a.bytes.length;
}

/** How alike two compositions are: Pearson's correlation of their brightness on a grid of 32 × 32. */
export function compositionCorrelation(a: DecodedPng, b: DecodedPng): number {
  const x = brightnessGrid(a);
  const y = brightnessGrid(b);
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  let xy = 0;
  let xx = 0;
  let yy = 0;
  for (let i = 0; i < x.length; i += 1) {
    xy += (x[i]! - mx) * (y[i]! - my);
    xx += (x[i]! - mx) ** 2;
    yy += (y[i]! - my) ** 2;
  }
  return xy / sqrt(xx * yy);
}

function brightnessGrid({ width, height, bytes }: DecodedPng): number[] {
  const cells = 32;
  const grid = Array.from({ length: cells * cells }, () => 0);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const cell = floor((y * cells) / height) * cells + floor((x * cells) / width);
      const at = (y * width + x) * 3;
      grid[cell]! += bytes[at]! + bytes[at + 1]! + bytes[at + 2]!;
    }
  }
  return grid;
}

/** The mean color of a picture. */
export function meanColor({ bytes }: DecodedPng): [number, number, number] {
  const sums: [number, number, number] = [0, 0, 0];
  for (let i = 0; i < bytes.length; i += 1) sums[i % 3]! += bytes[i]!;
  return sums.map((sum) => sum / (bytes.length / 3)) as [number, number, number];
}

/** The distance between a picture's dark and bright parts, its extremes left out. */
export function contrast({ bytes }: DecodedPng): number {
  const sorted = bytes.slice().sort();
  return sorted[floor(sorted.length * 0.98)]! - sorted[floor(sorted.length * 0.02)]!;
}
