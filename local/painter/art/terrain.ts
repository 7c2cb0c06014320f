import type { Canvas } from './canvas.ts';
import { exp, log } from './math.ts';

/** A pinhole camera that looks level along +z; heights are above the ground plane, all in the same unit. */
export interface Camera {
  /** Pixels per unit at distance 1. */
  readonly focal: number;
  readonly height: number;
  readonly horizon: number;
  readonly centre: number;
}

export interface Ground {
  near: number;
  far: number;
  /** How many rows of vertices between them; each is closer to the next the nearer it is. */
  rows: number;
  height(x: number, z: number): number;
  /** Writes the colour of a point with its surface's slopes dh/dx and dh/dz. */
  shade(point: Vertex, colour: Float32Array): void;
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
 * Rows lie at distances that grow by a constant factor, so each costs about the same height on the picture.
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
  colour: Float32Array;
}

function createRow(width: number): Row {
  return { height: new Float32Array(width), y: new Float32Array(width), colour: new Float32Array(width * 3) };
}

function measureRow(row: Row, { centre, focal, height, horizon }: Camera, ground: Ground, z: number): void {
  const across = z / focal;
  for (let px = 0; px < row.height.length; px += 1) {
    const h = ground.height((px - centre) * across, z);
    row.height[px] = h;
    row.y[px] = horizon - (h - height) / across;
  }
}

/** Slopes are taken across both neighbouring rows, so a crest between two has the mean of its sides and no flicker. */
function shadeRow(
  { centre, focal }: Camera,
  ground: Ground,
  [far, here, near]: readonly [Row, Row, Row],
  [farZ, z, nearZ]: readonly [number, number, number],
): void {
  const last = here.height.length - 1;
  const across = z / focal;
  const point: Vertex = { x: 0, z, height: 0, slopeX: 0, slopeZ: 0 };
  const colour = new Float32Array(3);
  for (let px = 0; px <= last; px += 1) {
    const before = px > 0 ? px - 1 : px;
    const after = px < last ? px + 1 : px;
    point.x = (px - centre) * across;
    point.height = here.height[px]!;
    point.slopeX = (here.height[after]! - here.height[before]!) / ((after - before) * across);
    // The column's far vertex lies a little further out in x too; that share of the rise is taken off.
    const alongX = (point.slopeX * (px - centre) * (farZ - nearZ)) / focal;
    point.slopeZ = (far.height[px]! - near.height[px]! - alongX) / (farZ - nearZ);
    ground.shade(point, colour);
    here.colour[px * 3] = colour[0]!;
    here.colour[px * 3 + 1] = colour[1]!;
    here.colour[px * 3 + 2] = colour[2]!;
  }
}

/** From far to near, each closer than the last by the same factor. */
function rowDistances({ near, far, rows }: Ground): number[] {
  const span = log(far / near);
  return Array.from({ length: rows }, (_, i) => far * exp((-span * i) / (rows - 1)));
}

/** What lies before the nearest row, down to the picture's edge, takes that row's colour. */
function fillFront({ width, height, light }: Canvas, nearest: Row): void {
  for (let px = 0; px < width; px += 1) {
    for (let y = Math.max(0, Math.ceil(nearest.y[px]!)); y < height; y += 1) {
      for (let c = 0; c < 3; c += 1) light[(y * width + px) * 3 + c] = nearest.colour[px * 3 + c]!;
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
    // The last pixel is covered whole: the next strip's soft upper edge then blends with this colour, not with the sky.
    const last = Math.min(height - 1, Math.ceil(bottom) - 1);
    const c = px * 3;
    const span = 1 / (bottom - top);
    for (let y = first; y <= last; y += 1) {
      const share = y < top ? y + 1 - top : 1;
      const t = Math.min(1, Math.max(0, (y + 0.5 - top) * span));
      const at = (y * width + px) * 3;
      const r = far.colour[c]! + (near.colour[c]! - far.colour[c]!) * t;
      const g = far.colour[c + 1]! + (near.colour[c + 1]! - far.colour[c + 1]!) * t;
      const b = far.colour[c + 2]! + (near.colour[c + 2]! - far.colour[c + 2]!) * t;
      light[at]! += (r - light[at]!) * share;
      light[at + 1]! += (g - light[at + 1]!) * share;
      light[at + 2]! += (b - light[at + 2]!) * share;
    }
  }
}
