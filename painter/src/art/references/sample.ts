import type { Canvas } from '../canvas.ts';
import type { Rgb } from '../color.ts';

/** The mean light of a picture. */
export function meanLight({ light }: Canvas): Rgb {
  const sums: [number, number, number] = [0, 0, 0];
  let count = 0;
  for (let at = 0; at < light.length; at += 3 * 61) {
    // Light is capped at 1, because a sun would decide the mean alone.
    for (let i = 0; i < 3; i += 1) sums[i]! += Math.min(1, light[at + i]!);
    count += 1;
  }
  return sums.map((sum) => sum / count) as [number, number, number];
}

/** Interpolates three numbers between four cells; beyond the borders the outermost cells go on. */
export function sample({ width, height, light }: Canvas, x: number, y: number, to: Float32Array): void {
  const left = x <= 0 ? 0 : x >= width - 1 ? width - 1 : Math.floor(x);
  const top = y <= 0 ? 0 : y >= height - 1 ? height - 1 : Math.floor(y);
  const fx = x <= left ? 0 : x - left;
  const fy = y <= top ? 0 : y - top;
  const a = (top * width + left) * 3;
  const b = left < width - 1 ? a + 3 : a;
  const down = top < height - 1 ? width * 3 : 0;
  for (let i = 0; i < 3; i += 1) {
    const upper = light[a + i]! + (light[b + i]! - light[a + i]!) * fx;
    const lower = light[a + down + i]! + (light[b + down + i]! - light[a + down + i]!) * fx;
    to[i] = upper + (lower - upper) * fy;
  }
}
