import { createCanvas } from './canvas.ts';
import type { Canvas } from './canvas.ts';
import type { Rgb } from './color.ts';
import { mix } from './math.ts';
import type { Scene } from './scene.ts';

/** A level surface of water from the row `shore` down to the picture's lower edge. */
export interface Water {
  shore: number;
  /** 0 a mirror … 1 choppy. */
  rough: number;
  /** The color of the water itself, seen where it reflects little. */
  body: Rgb;
  /** How much of the reflection is left at the far and at the near end. */
  far: number;
  near: number;
}

/** What the water mirrors: the picture above the shore, turned over. Things that float can be added to it. */
export function mirrorPicture(canvas: Canvas, shore: number): Canvas {
  const { width, height } = canvas;
  const mirror = createCanvas(width, height - shore);
  for (let y = 0; y < mirror.height; y += 1) {
    // If there is more water than sky, the sky's highest row is repeated.
    const from = Math.max(0, shore - 1 - y) * width * 3;
    mirror.light.set(canvas.light.subarray(from, from + width * 3), y * width * 3);
  }
  return mirror;
}

/**
 * Paints the water. Each point shows the mirrored picture a little above or below its own row, as the slope of its wave
 * directs. Slopes move the view much more vertically than sideways, which draws lights out into columns.
 */
export function paintWater(scene: Scene, mirror: Canvas, water: Water, tick: (share: number) => void): void {
  const { width, height, side, canvas } = scene;
  const noise = scene.noise('water');
  const octaves = 2 + Math.round(scene.detail);
  const swing = side * mix(0.008, 0.13, water.rough);
  const sway = side * mix(0.0015, 0.012, water.rough);
  const taps = [-0.55, 0, 0.6];
  for (let y = water.shore; y < height; y += 1) {
    if ((y & 31) === 0) tick((y - water.shore) / (height - water.shore));
    const depth = (y - water.shore + 0.5) / (height - water.shore);
    // Rows of wavelets lie closer together the further they are away.
    const distance = 1 / (depth + 0.045);
    const left = mix(water.far, water.near, Math.sqrt(depth));
    for (let x = 0; x < width; x += 1) {
      const u = ((x - width / 2) / side) * distance * 1.15;
      const slope = noise.fbm(u * 1.3, distance * 7.5, octaves) + 0.35 * noise.at(u * 0.35, distance * 1.9);
      const reach = swing * (0.2 + depth * 0.8);
      const at = (y * width + x) * 3;
      const px = x + slope * sway * (0.4 + depth);
      const base = y - water.shore + slope * reach;
      let r = 0;
      let g = 0;
      let b = 0;
      for (let i = 0; i < 3; i += 1) {
        const from = mirrorIndex(mirror, px, base + taps[i]! * reach * 0.45);
        r += mirror.light[from]!;
        g += mirror.light[from + 1]!;
        b += mirror.light[from + 2]!;
      }
      const share = left / 3;
      const own = (1 - left) * (0.85 + slope * 0.5);
      canvas.light[at] = r * share + water.body[0] * own;
      canvas.light[at + 1] = g * share + water.body[1] * own;
      canvas.light[at + 2] = b * share + water.body[2] * own;
    }
  }
}

function mirrorIndex({ width, height }: Canvas, x: number, y: number): number {
  const column = x < 0 ? 0 : x > width - 1 ? width - 1 : Math.floor(x);
  // Beyond the shore line the picture is mirrored back.
  const row = y < 0 ? -y : y;
  return ((row > height - 1 ? height - 1 : Math.floor(row)) * width + column) * 3;
}
