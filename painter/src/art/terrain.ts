import type { Canvas } from './canvas.ts';
import { exp, log } from './math.ts';

/** A pinhole camera that looks horizontally along +z. Heights are above the ground plane. */
export interface Camera {
  /** Pixels per unit at distance 1. */
  readonly focal: number;
  readonly height: number;
  readonly horizon: number;
  readonly center: number;
}

export interface Ground {
  near: number;
  far: number;
  /** The number of rows of vertices between them. Near rows are closer together. */
  rows: number;
  height(x: number, z: number): number;
  /** Writes the color of a point with its surface's slopes dh/dx and dh/dz. */
  shade(point: Vertex, color: Float32Array): void;
}

/** One object for all vertices of a terrain, rewritten for each, because there are half a million of them. */
export interface Vertex {
  x: number;
  z: number;
  height: number;
  slopeX: number;
  slopeZ: number;
}

/**
 * Paints a height field from far to near, one quad per pixel column and vertex row.
 *
 * The rows' distances grow by a constant factor, so each covers about the same height of the picture.
 */
export function paintTerrain(
  canvas: Canvas,
  camera: Camera,
  ground: Ground,
  tick: (share: number) => void,
): void {
  const { width } = canvas;
  const distances = rowDistances(ground);
  let far = createRow(width);
  let here = createRow(width);
  let near = createRow(width);
  measureRow(here, camera, ground, distances[0]!);
  far.height.set(here.height);
  for (let row = 0; row < distances.length; row += 1) {
    if ((row & 15) === 0) tick(row / distances.length);
    const z = distances[row]!;
    const nearZ = distances[row + 1] ?? z * 0.999;
    measureRow(near, camera, ground, nearZ);
    shadeRow(camera, ground, [far, here, near], [distances[row - 1] ?? z * 1.001, z, nearZ]);
    if (row > 0) fillStrip(canvas, far, here);
    const spare = far;
    far = here;
    here = near;
    near = spare;
  }
  fillFront(canvas, far);
}

interface Row {
  height: Float32Array;
  y: Float32Array;
  color: Float32Array;
}

function createRow(width: number): Row {
  return { height: new Float32Array(width), y: new Float32Array(width), color: new Float32Array(width * 3) };
}

function measureRow(row: Row, { center, focal, height, horizon }: Camera, ground: Ground, z: number): void {
  const across = z / focal;
  for (let px = 0; px < row.height.length; px += 1) {
    const h = ground.height((px - center) * across, z);
    row.height[px] = h;
    row.y[px] = horizon - (h - height) / across;
  }
}

/** Takes slopes across both neighboring rows. A crest then has the mean slope of its sides, which avoids flicker. */
function shadeRow(
  { center, focal }: Camera,
  ground: Ground,
  [far, here, near]: readonly [Row, Row, Row],
  [farZ, z, nearZ]: readonly [number, number, number],
): void {
  const last = here.height.length - 1;
  const across = z / focal;
  const point: Vertex = { x: 0, z, height: 0, slopeX: 0, slopeZ: 0 };
  const color = new Float32Array(3);
  for (let px = 0; px <= last; px += 1) {
    const before = px > 0 ? px - 1 : px;
    const after = px < last ? px + 1 : px;
    point.x = (px - center) * across;
    point.height = here.height[px]!;
    point.slopeX = (here.height[after]! - here.height[before]!) / ((after - before) * across);
    // The column's far vertex also lies further out in x. That part of the rise is subtracted.
    const alongX = (point.slopeX * (px - center) * (farZ - nearZ)) / focal;
    point.slopeZ = (far.height[px]! - near.height[px]! - alongX) / (farZ - nearZ);
    ground.shade(point, color);
    here.color[px * 3] = color[0]!;
    here.color[px * 3 + 1] = color[1]!;
    here.color[px * 3 + 2] = color[2]!;
  }
}

/** From far to near, each closer than the last by the same factor. */
function rowDistances({ near, far, rows }: Ground): number[] {
  const span = log(far / near);
  return Array.from({ length: rows }, (_, i) => far * exp((-span * i) / (rows - 1)));
}

/** Fills the picture below the nearest row with that row's color. */
function fillFront({ width, height, light }: Canvas, nearest: Row): void {
  for (let px = 0; px < width; px += 1) {
    for (let y = Math.max(0, Math.ceil(nearest.y[px]!)); y < height; y += 1) {
      for (let c = 0; c < 3; c += 1) light[(y * width + px) * 3 + c] = nearest.color[px * 3 + c]!;
    }
  }
}

function fillStrip(canvas: Canvas, far: Row, near: Row): void {
  const { width, height, light } = canvas;
  for (let px = 0; px < width; px += 1) {
    const top = far.y[px]!;
    const bottom = near.y[px]!;
    if (bottom <= top || bottom < 0 || top >= height) continue;
    const first = Math.max(0, Math.floor(top));
    // The last pixel is covered fully, so that the next strip's soft upper edge blends with it and not with the sky.
    const last = Math.min(height - 1, Math.ceil(bottom) - 1);
    const c = px * 3;
    const span = 1 / (bottom - top);
    for (let y = first; y <= last; y += 1) {
      const share = y < top ? y + 1 - top : 1;
      const t = Math.min(1, Math.max(0, (y + 0.5 - top) * span));
      const at = (y * width + px) * 3;
      const r = far.color[c]! + (near.color[c]! - far.color[c]!) * t;
      const g = far.color[c + 1]! + (near.color[c + 1]! - far.color[c + 1]!) * t;
      const b = far.color[c + 2]! + (near.color[c + 2]! - far.color[c + 2]!) * t;
      light[at]! += (r - light[at]!) * share;
      light[at + 1]! += (g - light[at + 1]!) * share;
      light[at + 2]! += (b - light[at + 2]!) * share;
    }
  }
}
