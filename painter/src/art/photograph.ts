import type { Scene } from './scene.ts';
import { createRay } from './solids.ts';
import type { Solid, Vector } from './solids.ts';
import { polishFloor, trace } from './trace.ts';
import type { Studio } from './studio.ts';

export interface Lens {
  /** Where the camera stands: its height above the floor, its distance from the origin, how far to the side. */
  height: number;
  distance: number;
  side: number;
  /** The height that it looks at. */
  aim: number;
  /** A larger value shows the subject larger. */
  zoom: number;
}

/** Sides of the square tiles that a picture is traced in, in pixels; all sizes are multiples of it. */
const TILE = 32;

/** Traces one ray for each pixel, then four more at edges, where neighboring pixels differ. */
export function photograph(scene: Scene, studio: Studio, lens: Lens): void {
  const { width, height, canvas } = scene;
  const camera = aimCamera(scene, lens);
  const surfaces = new Int32Array(width * height);
  const out = new Float64Array(3);
  const columns = width / TILE;
  const tiles: Tile[] = [];
  for (let tile = 0; tile < columns * (height / TILE); tile += 1) {
    const left = (tile % columns) * TILE;
    const top = Math.floor(tile / columns) * TILE;
    if (left === 0) scene.tick(0.2 + (0.55 * top) / height);
    const seen = solidsInTile(studio, camera, left, top);
    tiles.push(seen);
    for (let y = top; y < top + TILE; y += 1) {
      for (let x = left; x < left + TILE; x += 1) {
        const at = y * width + x;
        surfaces[at] = shoot(studio, camera, seen, x + 0.5, y + 0.5, out);
        canvas.light[at * 3] = out[0]!;
        canvas.light[at * 3 + 1] = out[1]!;
        canvas.light[at * 3 + 2] = out[2]!;
      }
    }
  }
  refineEdges(scene, surfaces, (x, y) => {
    const tile = Math.floor(y / TILE) * columns + Math.floor(x / TILE);
    shoot(studio, camera, tiles[tile]!, x, y, out);
    return out;
  });
}

interface Camera {
  at: Vector;
  forward: Vector;
  right: Vector;
  up: Vector;
  focal: number;
  middleX: number;
  middleY: number;
}

function aimCamera({ width, height, side }: Scene, lens: Lens): Camera {
  const at = [lens.side * 2, lens.height, -lens.distance] as const;
  const flat = Math.sqrt(at[0] * at[0] + at[2] * at[2]);
  const drop = (lens.aim - at[1]) / flat;
  const length = 1 / Math.sqrt(1 + drop * drop);
  const forward = [(-at[0] / flat) * length, drop * length, (-at[2] / flat) * length] as const;
  const right = [-at[2] / flat, 0, at[0] / flat] as const;
  const up = [forward[1] * right[2], length, -forward[1] * right[0]] as const;
  const focal = lens.zoom * side * (height > width ? 1.12 : 1);
  return { at, forward, right, up, focal, middleX: width / 2, middleY: height / 2 };
}

const ray = createRay();

function shoot(studio: Studio, camera: Camera, tile: Tile, x: number, y: number, out: Float64Array): number {
  const { at, forward, right, up } = camera;
  const u = (x - camera.middleX) / camera.focal;
  const v = (camera.middleY - y) / camera.focal;
  const dx = forward[0] + right[0] * u + up[0] * v;
  const dy = forward[1] + up[1] * v;
  const dz = forward[2] + right[2] * u + up[2] * v;
  const norm = 1 / Math.sqrt(dx * dx + dy * dy + dz * dz);
  [ray.ox, ray.oy, ray.oz] = at;
  ray.dx = dx * norm;
  ray.dy = dy * norm;
  ray.dz = dz * norm;
  const surface = trace(studio, tile.solids, ray, 0, 1, out);
  if (surface === 0 && ray.dy < -1e-5) polishFloor(studio, tile.mirrored, ray, out);
  return surface;
}

interface Tile {
  /** The solids that rays of this tile may meet, and those whose image in the floor they may meet. */
  solids: Solid[];
  mirrored: Solid[];
}

function solidsInTile(studio: Studio, camera: Camera, left: number, top: number): Tile {
  const u = (left + TILE / 2 - camera.middleX) / camera.focal;
  const v = (camera.middleY - top - TILE / 2) / camera.focal;
  const slack = (TILE * 0.75) / camera.focal;
  const within = (solid: Solid, y: number): boolean => {
    const dx = solid.center[0] - camera.at[0];
    const dy = y - camera.at[1];
    const dz = solid.center[2] - camera.at[2];
    const depth = dx * camera.forward[0] + dy * camera.forward[1] + dz * camera.forward[2];
    if (depth <= solid.radius) return true;
    const apartX = (dx * camera.right[0] + dz * camera.right[2]) / depth - u;
    const apartY = (dx * camera.up[0] + dy * camera.up[1] + dz * camera.up[2]) / depth - v;
    // A sphere looks a little larger than its radius over its depth; a tenth covers that for these long lenses.
    const reach = (solid.radius * 1.1) / (depth - solid.radius * 0.5) + slack;
    return apartX * apartX + apartY * apartY < reach * reach;
  };
  return {
    solids: studio.solids.filter((solid) => within(solid, solid.center[1])),
    mirrored: studio.solids.filter((solid) => within(solid, -solid.center[1])),
  };
}

function refineEdges(
  scene: Scene,
  surfaces: Int32Array,
  sample: (x: number, y: number) => Float64Array,
): void {
  const { width, height, canvas } = scene;
  const first = canvas.light.slice();
  const spots = [0.125, 0.375, 0.625, 0.125, 0.875, 0.625, 0.375, 0.875];
  for (let y = 1; y < height - 1; y += 1) {
    if (y % TILE === 1) scene.tick(0.75 + (0.25 * y) / height);
    for (let x = 1; x < width - 1; x += 1) {
      const at = y * width + x;
      if (!differs(first, surfaces, at, width)) continue;
      let r = 0;
      let g = 0;
      let b = 0;
      for (let i = 0; i < spots.length; i += 2) {
        const out = sample(x + spots[i]!, y + spots[i + 1]!);
        // Each sample is compressed before the mean, so that one glint does not outshine the other three.
        r += out[0]! / (1 + out[0]!);
        g += out[1]! / (1 + out[1]!);
        b += out[2]! / (1 + out[2]!);
      }
      canvas.light[at * 3] = r / (4 - r);
      canvas.light[at * 3 + 1] = g / (4 - g);
      canvas.light[at * 3 + 2] = b / (4 - b);
    }
  }
}

function differs(light: Float32Array, surfaces: Int32Array, at: number, width: number): boolean {
  const here = surfaces[at]!;
  const right = surfaces[at + 1]!;
  const below = surfaces[at + width]!;
  if (here !== right || here !== below) return true;
  if (here === 0) return false;
  const a = light[at * 3 + 1]!;
  return apart(a, light[at * 3 + 4]!) || apart(a, light[(at + width) * 3 + 1]!);
}

function apart(a: number, b: number): boolean {
  return Math.abs(a - b) > 0.12 * (a + b) + 0.02;
}
