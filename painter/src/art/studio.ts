import type { Rgb } from './color.ts';
import { exp, smooth, unit } from './math.ts';
import type { Ray, Solid, Vector } from './solids.ts';

/** A photographer's studio: a seamless backdrop that curves from floor to wall, soft boxes, and what stands there. */
export interface Studio {
  solids: Solid[];
  floor: Rgb;
  wall: Rgb;
  /** A pool of light on the wall: where, how wide, its color. */
  glow: { x: number; y: number; reach: number; light: Rgb };
  panels: Panel[];
  /** The main light, a point in the middle of its soft box, and the box's half side. */
  key: Vector;
  keySize: number;
  keyLight: Rgb;
  ambient: Rgb;
  /** How mirror-like the floor is, 0 … 1. */
  polish: number;
  floorLight: LightMap;
}

/** A soft box that reflections and refractions see, but not the camera. */
export interface Panel {
  center: Vector;
  normal: Vector;
  across: Vector;
  halfWidth: number;
  halfHeight: number;
  light: Rgb;
}

/** Shadows and caustics: the light that the floor around the sculpture receives. It is 1 where nothing is in the way. */
export interface LightMap {
  /** Half the side of the square it covers, around the origin. */
  reach: number;
  cells: number;
  values: Float32Array;
}

const WALL_Z = 7;

/** Writes what a ray sees of the room alone. */
export function seeRoom(studio: Studio, ray: Ray, panels: boolean, out: Float64Array): void {
  const { ox, oy, oz, dx, dy, dz } = ray;
  const floorT = dy < -1e-5 ? -oy / dy : 1e9;
  const wallT = dz > 1e-5 ? (WALL_Z - oz) / dz : 1e9;
  if (floorT < 1e9 && floorT <= wallT) {
    const z = oz + dz * floorT;
    const x = ox + dx * floorT;
    seeBackdrop(studio, x, 0, z, z < -9 ? 0.15 : 1, out);
    applyFloorLight(studio, x, z, out);
  } else if (wallT < 1e9) {
    const y = oy + dy * wallT;
    seeBackdrop(studio, ox + dx * wallT, y, WALL_Z, 1 / (1 + smooth(4, 12, y) * 5), out);
  } else {
    const dim = 0.1 + 0.25 * unit(dy + 0.3);
    out[0] = studio.wall[0] * dim;
    out[1] = studio.wall[1] * dim;
    out[2] = studio.wall[2] * dim;
  }
  if (panels) addPanels(studio, ray, out);
}

/** Floor and wall are one bent sheet. Its color changes gradually along the bend. */
function seeBackdrop(studio: Studio, x: number, y: number, z: number, dim: number, out: Float64Array): void {
  const { floor, wall, glow } = studio;
  const bend = smooth(0.8, WALL_Z, z + y * 0.6);
  const dx = x - glow.x;
  // The distance from the pool of light is measured along the sheet, so that it has no crease at the bend.
  const dy = (z < WALL_Z ? (z - WALL_Z) * 0.55 : y) - glow.y;
  const share = exp(-(dx * dx + dy * dy) / (glow.reach * glow.reach));
  const side = dim / (1 + 0.018 * (x * x + (z < 0 ? z * z : 0)));
  out[0] = (floor[0] + (wall[0] - floor[0]) * bend + glow.light[0] * share) * side;
  out[1] = (floor[1] + (wall[1] - floor[1]) * bend + glow.light[1] * share) * side;
  out[2] = (floor[2] + (wall[2] - floor[2]) * bend + glow.light[2] * share) * side;
}

function applyFloorLight({ floorLight: map, floor }: Studio, x: number, z: number, out: Float64Array): void {
  const scale = map.cells / (2 * map.reach);
  const gx = (x + map.reach) * scale - 0.5;
  const gz = (z + map.reach) * scale - 0.5;
  if (gx < 0 || gz < 0 || gx >= map.cells - 1 || gz >= map.cells - 1) return;
  const i = Math.floor(gx);
  const j = Math.floor(gz);
  const fx = gx - i;
  const fz = gz - j;
  const at = (j * map.cells + i) * 3;
  const below = at + map.cells * 3;
  for (let c = 0; c < 3; c += 1) {
    const top = map.values[at + c]! + (map.values[at + 3 + c]! - map.values[at + c]!) * fx;
    const bottom = map.values[below + c]! + (map.values[below + 3 + c]! - map.values[below + c]!) * fx;
    const received = top + (bottom - top) * fz;
    // Focused light adds a little white, so that a caustic is brighter than the paper.
    out[c] = received <= 1 ? out[c]! * received : out[c]! + (received - 1) * (0.35 * floor[c]! + 0.22);
  }
}

function addPanels({ panels }: Studio, { ox, oy, oz, dx, dy, dz }: Ray, out: Float64Array): void {
  for (const panel of panels) {
    const { center, normal, across } = panel;
    const facing = dx * normal[0] + dy * normal[1] + dz * normal[2];
    if (facing > -0.02) continue;
    const rx = center[0] - ox;
    const ry = center[1] - oy;
    const rz = center[2] - oz;
    const t = (rx * normal[0] + ry * normal[1] + rz * normal[2]) / facing;
    if (t <= 0) continue;
    const px = dx * t - rx;
    const py = dy * t - ry;
    const pz = dz * t - rz;
    const u = Math.abs(px * across[0] + py * across[1] + pz * across[2]);
    const length = px * px + py * py + pz * pz - u * u;
    const v = Math.sqrt(length > 0 ? length : 0);
    if (u >= panel.halfWidth || v >= panel.halfHeight) continue;
    const soft = unit((panel.halfWidth - u) * 5) * unit((panel.halfHeight - v) * 5);
    out[0]! += panel.light[0] * soft;
    out[1]! += panel.light[1] * soft;
    out[2]! += panel.light[2] * soft;
  }
}
