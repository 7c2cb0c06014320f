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
export function paintTerrain(canvas: Canvas, camera: Camera, ground: Ground, tick: (share: number) => void): void {
  const { width } = canvas;
  let far = createRow(width);
  let near = createRow(width);
  const point: Vertex = { x: 0, z: 0, height: 0, slopeX: 0, slopeZ: 0 };
  const colour = new Float32Array(3);
  const distances = rowDistances(ground);
  for (let row = 0; row < distances.length; row += 1) {
    if ((row & 15) === 0) tick(row / distances.length);
    const z = distances[row]!;
    const across = z / camera.focal;
    for (let px = 0; px < width; px += 1) near.height[px] = ground.height((px - camera.centre) * across, z);
    const back = row > 0 ? distances[row - 1]! : z;
    for (let px = 0; px < width; px += 1) {
      const h = near.height[px]!;
      near.y[px] = camera.horizon - ((h - camera.height) * camera.focal) / z;
      if (row === 0) continue;
      const before = px > 0 ? px - 1 : px;
      const after = px < width - 1 ? px + 1 : px;
      point.x = (px - camera.centre) * across;
      point.z = z;
      point.height = h;
      point.slopeX = (near.height[after]! - near.height[before]!) / ((after - before) * across);
      // The far vertex of this column lies a little further out in x too; its share of the rise is taken off.
      const alongX = ((px - camera.centre) * (back - z)) / camera.focal;
      point.slopeZ = (far.height[px]! - h - point.slopeX * alongX) / (back - z);
      ground.shade(point, colour);
      near.colour[px * 3] = colour[0]!;
      near.colour[px * 3 + 1] = colour[1]!;
      near.colour[px * 3 + 2] = colour[2]!;
    }
    if (row === 1) far.colour.set(near.colour);
    if (row > 0) fillStrip(canvas, far, near);
    const spare = far;
    far = near;
    near = spare;
  }
}

interface Row {
  height: Float32Array;
  y: Float32Array;
  colour: Float32Array;
}

function createRow(width: number): Row {
  return { height: new Float32Array(width), y: new Float32Array(width), colour: new Float32Array(width * 3) };
}

function rowDistances({ near, far, rows }: Ground): number[] {
  const span = log(far / near);
  return Array.from({ length: rows }, (_, i) => far * exp((-span * i) / (rows - 1)));
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
