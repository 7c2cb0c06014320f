import { oklab } from '../color.ts';
import { smooth } from '../math.ts';
import { encodeSrgb, writeOklab } from './oklab.ts';
import { leastMap } from './matrix.ts';
import type { Reading } from './reading.ts';

/** Mean (3) and covariance (3 × 3, row by row) of colors in OKLab. */
interface Spread {
  mean: number[];
  covariance: number[];
}

const LEAST_VARIANCE = 5e-4;

type Weigh = (at: number) => number;

/** Points of the table along each channel. 255 is a multiple of the 17 cells between them, so they lie on whole sRGB steps. */
const GRID = 18;
const CELL = 255 / (GRID - 1);

/**
 * Moves a finished picture's colors to the references' palette, in place.
 *
 * The map is the one linear map between two Gaussians that moves colors least (F. Pitié and A. Kokaram, "The linear
 * Monge-Kantorovitch linear color mapping for example-based color transfer", 2007), in OKLab. Lightness follows only
 * in part: the scene's own light and dark stay.
 */
export function applyPalette(bytes: Uint8Array, readings: Reading[], tick: () => void): void {
  const scene = spreadOfBytes(bytes);
  const goal = withSceneVariety(spreadOfAll(readings), scene);
  const table = tableOf(scene, goal);
  tick();
  applyTable(bytes, table, tick);
}

function spreadOfBytes(bytes: Uint8Array): Spread {
  const samples = Math.min(40_000, bytes.length / 3);
  const stride = Math.floor(bytes.length / 3 / samples) * 3;
  const labs = new Float32Array(samples * 4);
  for (let i = 0, from = 0; i < samples; i += 1, from += stride) {
    writeOklab(bytes[from]!, bytes[from + 1]!, bytes[from + 2]!, labs, i * 4);
  }
  return spreadOf(labs, () => 1);
}

/** All references count the same. In each, what stands out counts most, and a gray background counts almost nothing. */
function spreadOfAll(readings: Reading[]): Spread {
  const spreads = readings.map(({ labs, apart }) =>
    spreadOf(labs, (at) => {
      const chroma = Math.sqrt(labs[at + 1]! * labs[at + 1]! + labs[at + 2]! * labs[at + 2]!);
      return labs[at + 3]! * (0.06 + apart[at / 4]! + 0.5 * smooth(0.02, 0.1, chroma));
    }),
  );
  const share = 1 / spreads.length;
  const mean = [0, 1, 2].map((i) => spreads.reduce((sum, each) => sum + each.mean[i]! * share, 0));
  const covariance = Array.from({ length: 9 }, (_, k) => {
    const [i, j] = [Math.floor(k / 3), k % 3];
    const between = (each: Spread): number => (each.mean[i]! - mean[i]!) * (each.mean[j]! - mean[j]!);
    return spreads.reduce((sum, each) => sum + (each.covariance[k]! + between(each)) * share, 0);
  });
  return { mean, covariance };
}

function spreadOf(labs: Float32Array, weigh: Weigh): Spread {
  const mean = [0, 0, 0];
  const covariance = Array.from({ length: 9 }, () => 0);
  let total = 0;
  for (let at = 0; at < labs.length; at += 4) {
    const weight = weigh(at);
    total += weight;
    for (let i = 0; i < 3; i += 1) {
      mean[i]! += labs[at + i]! * weight;
      for (let j = 0; j < 3; j += 1) covariance[i * 3 + j]! += labs[at + i]! * labs[at + j]! * weight;
    }
  }
  for (let i = 0; i < 3; i += 1) mean[i]! /= Math.max(total, 1e-9);
  for (let k = 0; k < 9; k += 1) {
    covariance[k] = covariance[k]! / Math.max(total, 1e-9) - mean[Math.floor(k / 3)]! * mean[k % 3]!;
    // A gray scene has no variance in color. Without this minimum, its grain would be stretched into colors.
    if (k % 4 === 0) covariance[k]! += LEAST_VARIANCE;
  }
  return { mean, covariance };
}

/** Adds some of the scene's own variety to the palette, because a palette of one color would leave nothing to see. */
function withSceneVariety(goal: Spread, scene: Spread): Spread {
  const kept = [0.5, 0.1, 0.1];
  const covariance = goal.covariance.map((value, k) => {
    const [i, j] = [Math.floor(k / 3), k % 3];
    return value + scene.covariance[k]! * Math.sqrt(kept[i]! * kept[j]!);
  });
  return { mean: goal.mean, covariance };
}

/** Three sRGB steps for each cell of a grid over sRGB. */
function tableOf(scene: Spread, goal: Spread): Float32Array {
  const map = leastMap(scene.covariance, goal.covariance);
  const table = new Float32Array(GRID * GRID * GRID * 3);
  const lab = new Float32Array(3);
  for (let cell = 0; cell < GRID * GRID * GRID; cell += 1) {
    const step = (index: number): number => index * CELL;
    const [red, green, blue] = [cell % GRID, Math.floor(cell / GRID) % GRID, Math.floor(cell / GRID / GRID)];
    writeOklab(step(red), step(green), step(blue), lab, 0);
    const off = [0, 1, 2].map((i) => lab[i]! - scene.mean[i]!);
    const moved = [0, 1, 2].map(
      (i) => goal.mean[i]! + map[i * 3]! * off[0]! + map[i * 3 + 1]! * off[1]! + map[i * 3 + 2]! * off[2]!,
    );
    const lightness = Math.min(1, Math.max(0, lab[0]! + (moved[0]! - lab[0]!) * 0.35));
    table.set(inGamut(lightness, moved[1]!, moved[2]!), cell * 3);
  }
  return table;
}

/** A color out of gamut loses chroma until it fits. */
function inGamut(lightness: number, a: number, b: number): number[] {
  for (let share = 1; ; share *= 0.9) {
    const rgb = oklab(lightness, a * share, b * share);
    const fits = Math.min(...rgb) >= -0.002 && Math.max(...rgb) <= 1.002;
    if (fits || share < 0.02) return rgb.map(encodeSrgb);
  }
}

/** Looks every pixel up in the table, interpolating between the eight cells around it. */
function applyTable(bytes: Uint8Array, table: Float32Array, tick: () => void): void {
  const next = [3, GRID * 3, GRID * GRID * 3] as const;
  for (let at = 0; at < bytes.length; at += 3) {
    if (at % 98_304 === 0) tick();
    const r = bytes[at]! / CELL;
    const g = bytes[at + 1]! / CELL;
    const b = bytes[at + 2]! / CELL;
    const r0 = Math.min(GRID - 2, Math.floor(r));
    const g0 = Math.min(GRID - 2, Math.floor(g));
    const b0 = Math.min(GRID - 2, Math.floor(b));
    const [fr, fg, fb] = [r - r0, g - g0, b - b0];
    const cell = r0 * next[0] + g0 * next[1] + b0 * next[2];
    for (let i = 0; i < 3; i += 1) {
      const c = cell + i;
      const near = line(table, c, fr) + (line(table, c + next[1], fr) - line(table, c, fr)) * fg;
      const c2 = c + next[2];
      const far = line(table, c2, fr) + (line(table, c2 + next[1], fr) - line(table, c2, fr)) * fg;
      bytes[at + i] = Math.round(near + (far - near) * fb);
    }
  }
}

function line(table: Float32Array, at: number, share: number): number {
  return table[at]! + (table[at + 3]! - table[at]!) * share;
}
