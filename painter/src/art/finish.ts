import { blur, shrink } from './canvas.ts';
import type { Canvas } from './canvas.ts';
import { pow } from './math.ts';
import { createRandom } from './random.ts';

/** How a picture is developed. */
export interface Film {
  /** Share of the light that a lens would scatter, 0 … 1. */
  bloom: number;
  /** How much darker the corners are, 0 … 1. */
  vignette: number;
  /** Film grain in 8-bit steps. */
  grain: number;
  exposure: number;
  /** 1 leaves the film curve as it is; more is harder. */
  contrast: number;
}

const CURVE_ENTRIES = 8192;
const GRAIN_SIDE = 512;

/** Develops linear light as film would: lens bloom, dark corners, tone curve and grain. Returns 8-bit RGB. */
export function develop(
  canvas: Canvas,
  options: Film & { seed: number },
  tick: (share: number) => void,
): Uint8Array {
  if (options.bloom > 0) addBloom(canvas, options.bloom);
  tick(0.4);
  const { width, height, light } = canvas;
  const bytes = new Uint8Array(width * height * 3);
  const curve = filmCurve(options.contrast);
  const grain = grainTile(options);
  const last = CURVE_ENTRIES - 1;
  const reach = 1 / (width * width + height * height);
  for (let y = 0; y < height; y += 1) {
    if ((y & 63) === 0) tick(0.4 + (0.6 * y) / height);
    const dy = (2 * y - height) * (2 * y - height);
    // Each band of rows starts elsewhere in the tile, so the tile does not show as a pattern.
    const shift = Math.imul(y >> 9, 193);
    const grainRow = (y & (GRAIN_SIDE - 1)) * GRAIN_SIDE;
    for (let x = 0, at = y * width * 3; x < width; x += 1, at += 3) {
      const dx = 2 * x - width;
      const corner = (dx * dx + dy) * reach;
      const gain = options.exposure * (1 - options.vignette * corner * (0.55 + 0.45 * corner));
      const r = light[at]! * gain;
      const g = light[at + 1]! * gain;
      const b = light[at + 2]! * gain;
      // A little light of each color reaches the film's other layers, so that bright lights turn pale.
      const spill = (r * 0.25 + g * 0.6 + b * 0.15) * 0.05;
      const noise = grain[grainRow + ((x + shift) & (GRAIN_SIDE - 1))]!;
      const red = r * 0.95 + spill;
      const green = g * 0.95 + spill;
      const blue = b * 0.95 + spill;
      bytes[at] = toByte(curve[((red / (red + 0.5)) * last) | 0]! + noise);
      bytes[at + 1] = toByte(curve[((green / (green + 0.5)) * last) | 0]! + noise);
      bytes[at + 2] = toByte(curve[((blue / (blue + 0.5)) * last) | 0]! + noise);
    }
  }
  return bytes;
}

function toByte(value: number): number {
  return value <= 0 ? 0 : value >= 255 ? 255 : (value + 0.5) | 0;
}

/** Adds two blurred copies, one close and one wide. */
function addBloom(canvas: Canvas, bloom: number): void {
  const near = shrink(canvas, 4);
  const far = shrink(near, 4);
  const side = Math.min(canvas.width, canvas.height);
  blur(near, side / 420, side / 420);
  blur(far, side / 300, side / 300);
  spread(canvas, near, 4, bloom * 0.55);
  spread(canvas, far, 16, bloom * 0.45);
}

/** Mixes a small canvas into a large one, interpolated both ways. */
export function spread(canvas: Canvas, small: Canvas, factor: number, share: number): void {
  const { width, height, light } = canvas;
  const row = new Float32Array((small.width + 1) * 3);
  const keep = 1 - share;
  for (let y = 0; y < height; y += 1) {
    const sy = Math.min(small.height - 1, Math.max(0, (y + 0.5) / factor - 0.5));
    const top = Math.floor(sy);
    const fy = sy - top;
    const upper = top * small.width * 3;
    const lower = Math.min(small.height - 1, top + 1) * small.width * 3;
    for (let i = 0; i < small.width * 3; i += 1) {
      row[i] = (small.light[upper + i]! * (1 - fy) + small.light[lower + i]! * fy) * share;
    }
    row.copyWithin(small.width * 3, (small.width - 1) * 3, small.width * 3);
    for (let x = 0, at = y * width * 3; x < width; x += 1, at += 3) {
      const sx = Math.max(0, (x + 0.5) / factor - 0.5);
      const left = Math.floor(sx);
      const fx = sx - left;
      const from = left * 3;
      light[at] = light[at]! * keep + row[from]! + (row[from + 3]! - row[from]!) * fx;
      light[at + 1] = light[at + 1]! * keep + row[from + 1]! + (row[from + 4]! - row[from + 1]!) * fx;
      light[at + 2] = light[at + 2]! * keep + row[from + 2]! + (row[from + 5]! - row[from + 2]!) * fx;
    }
  }
}

/**
 * Film's S: toe, straight part, shoulder, after Krzysztof Narkowicz's fit of the ACES curve, then sRGB's gamma.
 * The table is indexed by x / (x + ½), which gives the shadows most of its entries.
 */
function filmCurve(contrast: number): Float32Array {
  const curve = new Float32Array(CURVE_ENTRIES);
  for (let i = 0; i < CURVE_ENTRIES; i += 1) {
    const t = i / CURVE_ENTRIES;
    const x = 0.72 * (0.18 * pow((0.5 * t) / (1 - t) / 0.18, contrast));
    const film = Math.min(1, (x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14));
    const encoded = film <= 0.0031308 ? film * 12.92 : 1.055 * pow(film, 1 / 2.4) - 0.055;
    curve[i] = encoded * 255;
  }
  return curve;
}

/** Grain with a little clumping, as silver has. */
function grainTile(options: { grain: number; seed: number }): Float32Array {
  const random = createRandom(options.seed);
  const raw = new Float32Array(GRAIN_SIDE * GRAIN_SIDE);
  for (let i = 0; i < raw.length; i += 1) raw[i] = random.unit() + random.unit() - 1;
  const tile = new Float32Array(raw.length);
  const mask = GRAIN_SIDE - 1;
  for (let y = 0; y < GRAIN_SIDE; y += 1) {
    const row = y * GRAIN_SIDE;
    const above = ((y - 1) & mask) * GRAIN_SIDE;
    for (let x = 0; x < GRAIN_SIDE; x += 1) {
      const sum = raw[row + x]! * 0.8 + (raw[row + ((x - 1) & mask)]! + raw[above + x]!) * 0.4;
      tile[row + x] = sum * options.grain;
    }
  }
  return tile;
}
