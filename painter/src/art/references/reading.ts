import { smooth } from '../math.ts';
import { writeOklab } from './oklab.ts';
import type { ReferenceImage } from './reference.ts';

/** What is read from a reference image: its colors, and how its subject differs from its background. */
export interface Reading {
  /** OKLab's lightness, a and b, then opacity 0 … 1, for each pixel. */
  labs: Float32Array;
  /** How much lighter each pixel is than the ground, −1 … 1. */
  lighter: Float32Array;
  /** How much each pixel stands out from the ground, 0 … 1. */
  apart: Float32Array;
}

/** Reads an image. The background of a cut-out is its mean color; of any other, a color gradient fitted to its borders. */
export function readReference(image: ReferenceImage): Reading {
  const { width, height, pixels, cutOut } = image;
  const labs = new Float32Array(pixels.length);
  for (let at = 0; at < pixels.length; at += 4) {
    writeOklab(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!, labs, at);
    labs[at + 3] = pixels[at + 3]! / 255;
  }
  const lighter = new Float32Array(width * height);
  const apart = new Float32Array(width * height);
  const ground = cutOut ? meanColor(labs) : borderColors(labs, image);
  for (let y = 0, pixel = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, pixel += 1) {
      let sum = 0;
      for (let i = 0; i < 3; i += 1) {
        const [middle, right, down] = ground[i]!;
        const off =
          labs[pixel * 4 + i]! - middle - right * (x + 0.5 - width / 2) - down * (y + 0.5 - height / 2);
        if (i === 0) lighter[pixel] = off;
        sum += off * off;
      }
      apart[pixel] = cutOut ? 1 : smooth(0.02, 0.22, Math.sqrt(sum));
    }
  }
  return { labs, lighter, apart };
}

/** A channel's value in the middle, and its change per pixel to the right and downwards. */
type Run = readonly [middle: number, right: number, down: number];

function meanColor(labs: Float32Array): Run[] {
  const sums = [0, 0, 0, 0];
  for (let at = 0; at < labs.length; at += 4) {
    for (let i = 0; i < 3; i += 1) sums[i]! += labs[at + i]! * labs[at + 3]!;
    sums[3]! += labs[at + 3]!;
  }
  return [0, 1, 2].map((i) => [sums[i]! / Math.max(sums[3]!, 1e-6), 0, 0]);
}

/** The plane through the border's pixels, by least squares: around the middle, x and y do not depend on each other. */
function borderColors(labs: Float32Array, { width, height }: ReferenceImage): Run[] {
  const fit = [0, 1, 2].map(() => [0, 0, 0] as [number, number, number]);
  let [count, squaresX, squaresY] = [0, 0, 0];
  const add = (x: number, y: number): void => {
    const [right, down] = [x + 0.5 - width / 2, y + 0.5 - height / 2];
    count += 1;
    squaresX += right * right;
    squaresY += down * down;
    for (let i = 0; i < 3; i += 1) {
      const value = labs[(y * width + x) * 4 + i]!;
      fit[i]![0] += value;
      fit[i]![1] += value * right;
      fit[i]![2] += value * down;
    }
  };
  for (let x = 0; x < width; x += 1) {
    add(x, 0);
    add(x, height - 1);
  }
  for (let y = 0; y < height; y += 1) {
    add(0, y);
    add(width - 1, y);
  }
  return fit.map(([sum, right, down]) => [
    sum / count,
    right / Math.max(squaresX, 1e-6),
    down / Math.max(squaresY, 1e-6),
  ]);
}
