import type { Canvas } from './canvas.ts';
import { blend, ramp } from './color.ts';
import type { Ramp, Rgb } from './color.ts';
import { cos, mix, sin, smooth } from './math.ts';
import type { Scene } from './scene.ts';

/** A sheet of light that hangs in the sky along a wandering path. */
export interface Curtain {
  name: string;
  /** Where the middle of the path lies: sideways, and how far away, in heights of the lower edge. */
  x: number;
  distance: number;
  /** The direction that the path sets out in, radians; 0 is across the view. */
  heading: number;
  /** 0 a straight band … 1 tight folds. */
  folds: number;
  /** Height of the rays above the lower edge. */
  height: number;
  brightness: number;
  /** Lower fringe, body and crown. */
  colors: readonly [Rgb, Rgb, Rgb];
}

interface Sample {
  x: number;
  z: number;
  brightness: number;
  height: number;
  /** How far above the common lower edge this ray begins. */
  lift: number;
}

/** The light of all curtains, column by column, at half the vertical resolution, so that a ray is contiguous in memory. */
export interface SkyLight {
  width: number;
  rows: number;
  values: Float32Array;
}

export function createSkyLight(scene: Scene, horizon: number): SkyLight {
  const rows = Math.ceil(horizon / 2);
  return { width: scene.width, rows, values: new Float32Array(scene.width * rows * 3) };
}

/**
 * Adds one curtain as the sum of thousands of rays. Where the path folds over itself, their light adds up.
 * `apex` is the row in which all rays would meet.
 */
export function hangCurtain(
  scene: Scene,
  sky: SkyLight,
  horizon: number,
  apex: number,
  curtain: Curtain,
): void {
  const focal = scene.side * 0.85;
  const samples = walkCurtain(scene, curtain, Math.round(scene.side * 9));
  const profile = rayProfile(curtain);
  const step = 12 / samples.length;
  const middle = scene.width * 0.5;
  for (const { x, z, brightness, height, lift } of samples) {
    const base = horizon - (focal * (1 + lift)) / z;
    const top = Math.max(horizon - (focal * (1 + height)) / z, apex + (base - apex) * 0.12);
    const across = middle + (x * focal) / z;
    const lean = (middle - across) / (base - apex);
    // Almost horizontal rays would look like rows of dots, so they fade out.
    const energy = ((brightness * step * focal) / z) * smooth(1.7, 0.9, Math.abs(lean));
    if (energy < 1e-4 || base < 0 || base < apex) continue;
    castRay(sky, { x: across, base, top, lean }, energy, profile);
  }
}

interface Ray {
  x: number;
  base: number;
  top: number;
  /** Columns sideways for each row upwards: rays follow the field lines, which meet far above. */
  lean: number;
}

function castRay(sky: SkyLight, ray: Ray, energy: number, profile: Ramp): void {
  const { rows, values, width } = sky;
  const first = Math.max(0, Math.ceil(ray.top / 2));
  const last = Math.min(rows - 1, Math.floor(ray.base / 2));
  const span = profile.last / (ray.base - ray.top);
  for (let row = first; row <= last; row += 1) {
    const rise = ray.base - row * 2;
    const from = ((rise * span) | 0) * 3;
    const x = ray.x + ray.lean * rise;
    const left = Math.floor(x);
    if (left < 0 || left >= width - 1) continue;
    const share = (x - left) * energy;
    const rest = energy - share;
    const at = (left * rows + row) * 3;
    const next = at + rows * 3;
    const r = profile.light[from]!;
    const g = profile.light[from + 1]!;
    const b = profile.light[from + 2]!;
    values[at]! += r * rest;
    values[at + 1]! += g * rest;
    values[at + 2]! += b * rest;
    values[next]! += r * share;
    values[next + 1]! += g * share;
    values[next + 2]! += b * share;
  }
}

/** Walks a meandering path, whose direction changes by noise, and centers it at the curtain's place. */
function walkCurtain(scene: Scene, curtain: Curtain, count: number): Sample[] {
  const noise = scene.noise(`curtain ${curtain.name}`);
  const octaves = 3 + Math.round(scene.detail * 2);
  const step = 12 / count;
  const samples: Sample[] = [];
  let x = 0;
  let z = 0;
  let sumX = 0;
  let sumZ = 0;
  for (let i = 0; i < count; i += 1) {
    const t = i / count;
    const wander = noise.fbm(t * 5, 1.5, 3) * 2.4 + noise.at(t * 26, 8.5) * 0.9;
    const heading = curtain.heading + wander * curtain.folds * 1.6;
    x += cos(heading) * step;
    z += sin(heading) * step;
    sumX += x;
    sumZ += z;
    const patches = smooth(-0.35, 0.5, noise.fbm(t * 7, 20.5, 2));
    const rays = noise.fbm(t * 190, 31.5, octaves) * 0.9 + noise.at(t * 60, 44.5) * 0.5;
    const ends = smooth(0, 0.12, t) * smooth(1, 0.88, t);
    samples.push({
      x,
      z,
      brightness: curtain.brightness * ends * mix(0.12, 1, patches) * mix(0.35, 1, smooth(-0.5, 0.6, rays)),
      lift: 0.07 * smooth(-0.5, 0.7, noise.fbm(t * 150, 63.5, 2)),
      height: curtain.height * mix(0.55, 1.15, smooth(-0.5, 0.5, rays * 0.6 + noise.at(t * 16, 52.5))),
    });
  }
  const shiftX = curtain.x - sumX / count;
  const shiftZ = curtain.distance - sumZ / count;
  for (const sample of samples) {
    sample.x += shiftX;
    sample.z = Math.max(0.75, sample.z + shiftZ);
  }
  return samples;
}

/** A sharp lower edge with a colored fringe, a bright body, and a crown that fades slowly. */
function rayProfile({ colors: [fringe, body, crown] }: Curtain): Ramp {
  const fade = (color: Rgb, share: number): Rgb => [color[0] * share, color[1] * share, color[2] * share];
  return ramp(
    [
      [0, fade(fringe, 0)],
      [0.03, fade(fringe, 0.07)],
      [0.065, fade(blend(fringe, body, 0.5), 0.4)],
      [0.12, fade(body, 1)],
      [0.18, fade(body, 0.9)],
      [0.32, fade(body, 0.42)],
      [0.46, fade(crown, 0.3)],
      [0.7, fade(crown, 0.12)],
      [1, fade(crown, 0)],
    ],
    512,
  );
}

/** Adds the curtains' light to the canvas. Returns its mean color on the left, in the middle and on the right. */
export function addSkyLight(canvas: Canvas, sky: SkyLight, bottom: number): Rgb[] {
  const sums = [0, 1, 2].map(() => [0, 0, 0]);
  const { light, width } = canvas;
  const { rows, values } = sky;
  for (let y = 0; y < bottom; y += 1) {
    const row = Math.min(rows - 1, y >> 1);
    const below = Math.min(rows - 1, row + (y & 1));
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      const a = (x * rows + row) * 3;
      const b = (x * rows + below) * 3;
      const r = (values[a]! + values[b]!) * 0.5;
      const g = (values[a + 1]! + values[b + 1]!) * 0.5;
      const blue = (values[a + 2]! + values[b + 2]!) * 0.5;
      light[at]! += r;
      light[at + 1]! += g;
      light[at + 2]! += blue;
      const sum = sums[((x * 3) / width) | 0]!;
      sum[0]! += r;
      sum[1]! += g;
      sum[2]! += blue;
    }
  }
  const share = 3 / (width * Math.max(1, bottom));
  return sums.map((sum) => [sum[0]! * share, sum[1]! * share, sum[2]! * share] as const);
}
