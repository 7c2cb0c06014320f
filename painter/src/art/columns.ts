import type { Canvas } from './canvas.ts';
import type { Random } from './random.ts';

/**
 * Basalt columns: a plane of jittered hexagonal cells, each standing at a height of its own, seen by a level camera.
 *
 * Vertical lines stay vertical in such a view, so all rays of one pixel column pass the same cells. One walk from near
 * to far therefore paints a whole pixel column, from below.
 */
export interface Columns {
  /** Cells in x and z, around the origin. */
  readonly size: number;
  readonly heights: Float32Array;
  /** Per cell and side: the side's outward normal and its distance from the world's origin. */
  readonly sides: Float32Array;
  readonly centers: Float32Array;
}

/** One object for all visible points, rewritten for each. */
export interface Spot {
  cell: number;
  /** The side met, or −1 on a top. */
  face: number;
  x: number;
  y: number;
  z: number;
  distance: number;
}

export interface View {
  /** Pixels per unit at distance 1. */
  focal: number;
  x: number;
  height: number;
  z: number;
  horizon: number;
  far: number;
}

const ROOT_3 = Math.sqrt(3);

/** The six neighbors of a cell, as steps in a grid whose odd rows are shifted half a cell to the right. */
const steps: readonly (readonly [even: number, odd: number, row: number])[] = [
  [1, 1, 0],
  [0, 1, 1],
  [-1, 0, 1],
  [-1, -1, 0],
  [-1, 0, -1],
  [0, 1, -1],
];

/** The index of a cell's neighbor across a side, or −1 beyond the edge. */
export function neighborOf({ size }: Columns, cell: number, side: number): number {
  const row = Math.floor(cell / size);
  const column = cell - row * size;
  const [even, odd, down] = steps[side]!;
  const toColumn = column + ((row & 1) === 1 ? odd : even);
  const toRow = row + down;
  return toColumn < 0 || toRow < 0 || toColumn >= size || toRow >= size ? -1 : toRow * size + toColumn;
}

/** Lays out the cells; `height` is asked once for each. */
export function createColumns(
  size: number,
  jitter: number,
  random: Random,
  height: (x: number, z: number) => number,
): Columns {
  const centers = new Float32Array(size * size * 2);
  const heights = new Float32Array(size * size);
  for (let cell = 0; cell < size * size; cell += 1) {
    const row = Math.floor(cell / size);
    const column = cell - row * size;
    const x = column - size / 2 + ((row & 1) === 1 ? 0.5 : 0) + random.range(-jitter, jitter);
    const z = ((row - size / 2) * ROOT_3) / 2 + random.range(-jitter, jitter);
    centers[cell * 2] = x;
    centers[cell * 2 + 1] = z;
    heights[cell] = height(x, z);
  }
  const columns = { size, heights, centers, sides: new Float32Array(size * size * 18) };
  for (let cell = 0; cell < size * size; cell += 1) measureSides(columns, cell);
  return columns;
}

/** A side lies half-way to the neighbor, square to the line between the two centers. */
function measureSides(columns: Columns, cell: number): void {
  const { centers, sides } = columns;
  for (let side = 0; side < 6; side += 1) {
    const other = neighborOf(columns, cell, side);
    const at = (cell * 6 + side) * 3;
    const x = centers[cell * 2]!;
    const z = centers[cell * 2 + 1]!;
    const angle = side;
    const dx = other < 0 ? [1, 0.5, -0.5, -1, -0.5, 0.5][angle]! : centers[other * 2]! - x;
    const dz = other < 0 ? [0, 0.866, 0.866, 0, -0.866, -0.866][angle]! : centers[other * 2 + 1]! - z;
    const length = Math.sqrt(dx * dx + dz * dz);
    sides[at] = dx / length;
    sides[at + 1] = dz / length;
    sides[at + 2] = (dx / length) * (x + dx / 2) + (dz / length) * (z + dz / 2);
  }
}

/** The cell that a point of the plane lies in. */
function cellAt(columns: Columns, x: number, z: number): number {
  const { size, sides } = columns;
  const row = Math.min(size - 1, Math.max(0, Math.round((z * 2) / ROOT_3 + size / 2)));
  const column = Math.min(size - 1, Math.max(0, Math.round(x + size / 2 - ((row & 1) === 1 ? 0.5 : 0))));
  let cell = row * size + column;
  for (let tries = 0; tries < 4; tries += 1) {
    let worst = -1;
    let most = 1e-5;
    for (let side = 0; side < 6; side += 1) {
      const at = (cell * 6 + side) * 3;
      const beyond = sides[at]! * x + sides[at + 1]! * z - sides[at + 2]!;
      if (beyond > most) {
        most = beyond;
        worst = side;
      }
    }
    const next = worst < 0 ? -1 : neighborOf(columns, cell, worst);
    if (next < 0) return cell;
    cell = next;
  }
  return cell;
}

export type Shade = (spot: Spot, color: Float32Array) => void;

/** The pixel column being painted. Everything below the row `free` is done. */
interface Brush {
  canvas: Canvas;
  view: View;
  shade: Shade;
  px: number;
  lean: number;
  free: number;
  /** The row that is partly covered, and the sky that was there. */
  openRow: number;
  sky: Float32Array;
  spot: Spot;
  color: Float32Array;
}

/** Paints every column of pixels over the sky that the canvas holds; `shade` writes the color of a spot. */
export function paintColumns(
  canvas: Canvas,
  columns: Columns,
  view: View,
  shade: Shade,
  tick: (share: number) => void,
): void {
  const spot: Spot = { cell: 0, face: -1, x: 0, y: 0, z: 0, distance: 0 };
  const scratch = { sky: new Float32Array(3), color: new Float32Array(3) };
  for (let px = 0; px < canvas.width; px += 1) {
    if ((px & 15) === 0) tick(px / canvas.width);
    const lean = (px + 0.5 - canvas.width / 2) / view.focal;
    const brush = { canvas, view, shade, px, lean, free: canvas.height, openRow: -1, spot, ...scratch };
    walkColumn(columns, brush);
    closeRow(brush);
  }
}

function walkColumn(columns: Columns, brush: Brush): void {
  const { sides, heights } = columns;
  const { view, lean, spot } = brush;
  let cell = cellAt(columns, view.x, view.z);
  let entered = 1e-4;
  let face = -1;
  while (entered < view.far && brush.free > 0) {
    let left = 1e9;
    let through = 0;
    for (let side = 0; side < 6; side += 1) {
      const at = (cell * 6 + side) * 3;
      const towards = sides[at]! * lean + sides[at + 1]!;
      if (towards <= 1e-7) continue;
      const t = (sides[at + 2]! - sides[at]! * view.x - sides[at + 1]! * view.z) / towards;
      if (t < left) {
        left = t;
        through = side;
      }
    }
    // Jittered sides do not meet exactly in the corners. Without this, the walk could go backwards there for ever.
    left = Math.max(left, entered);
    const rise = heights[cell]! - view.height;
    spot.cell = cell;
    spot.face = face;
    if (entered > 0.05) fillWall(brush, view.horizon - (rise * view.focal) / entered, entered);
    spot.face = -1;
    if (rise < 0) fillTop(brush, view.horizon - (rise * view.focal) / left, rise);
    const next = neighborOf(columns, cell, through);
    if (next < 0) return;
    // Where a cell is left through a side, its neighbor is entered through the opposite one.
    face = (through + 3) % 6;
    cell = next;
    entered = left + 1e-6;
  }
}

/** Fills up to row `top` with a wall at one distance. */
function fillWall(brush: Brush, top: number, distance: number): void {
  const { view, spot } = brush;
  spot.distance = distance;
  spot.x = view.x + brush.lean * distance;
  spot.z = view.z + distance;
  const perRow = distance / view.focal;
  while (brush.free > top && brush.free > 0) {
    const upper = Math.max(top, Math.ceil(brush.free) - 1);
    spot.y = view.height + (view.horizon - (upper + brush.free) / 2) * perRow;
    coverTo(brush, upper);
  }
}

/** Fills up to row `top` with a level top that lies `rise` above (so: below) the eye. */
function fillTop(brush: Brush, top: number, rise: number): void {
  const { view, spot } = brush;
  spot.y = view.height + rise;
  while (brush.free > top && brush.free > 0) {
    const upper = Math.max(top, Math.ceil(brush.free) - 1);
    const below = (upper + brush.free) / 2 - view.horizon;
    spot.distance = (-rise * view.focal) / Math.max(below, 1e-3);
    spot.x = view.x + brush.lean * spot.distance;
    spot.z = view.z + spot.distance;
    coverTo(brush, upper);
  }
}

/** Adds the spot's color to the open row, by the share of it between `upper` and what is free. */
function coverTo(brush: Brush, upper: number): void {
  const { canvas, color } = brush;
  const row = Math.ceil(brush.free) - 1;
  const at = (row * canvas.width + brush.px) * 3;
  if (row !== brush.openRow) {
    brush.openRow = row;
    for (let c = 0; c < 3; c += 1) {
      brush.sky[c] = canvas.light[at + c]!;
      canvas.light[at + c] = 0;
    }
  }
  brush.shade(brush.spot, color);
  const share = brush.free - upper;
  canvas.light[at]! += color[0]! * share;
  canvas.light[at + 1]! += color[1]! * share;
  canvas.light[at + 2]! += color[2]! * share;
  brush.free = upper;
}

/** The sky shows in what is left of the last row. */
function closeRow({ canvas, px, free, openRow, sky }: Brush): void {
  if (openRow < 0 || free <= openRow) return;
  const at = (openRow * canvas.width + px) * 3;
  for (let c = 0; c < 3; c += 1) canvas.light[at + c]! += sky[c]! * (free - openRow);
}
