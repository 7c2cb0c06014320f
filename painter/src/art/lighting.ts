import { clipRay, createCrossing, createRay } from './solids.ts';
import type { Ray } from './solids.ts';
import type { Studio } from './studio.ts';

const probe = createCrossing();
const towards = createRay();

/** How much of the main light reaches a point. It sends `rays` to jittered points of the soft box. */
export function keyLightAt(
  studio: Studio,
  x: number,
  y: number,
  z: number,
  normal: Float64Array,
  rays: number,
): number {
  const [nx, ny, nz] = [normal[0]!, normal[1]!, normal[2]!];
  let sum = 0;
  let state = Math.imul((x * 7919) | 0, 0x9e3779b1) ^ Math.imul((y * 104729 + z * 15485863) | 0, 0x85ebca6b);
  // Rays start a little above the surface, so that it does not shade itself.
  towards.ox = x + nx * 1e-3;
  towards.oy = y + ny * 1e-3;
  towards.oz = z + nz * 1e-3;
  for (let i = 0; i < rays; i += 1) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    const u = ((state >>> 8) & 0xffff) / 65536 - 0.5;
    state = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    const v = ((state >>> 8) & 0xffff) / 65536 - 0.5;
    const w = ((state >>> 3) & 0xff) / 256 - 0.5;
    const lx = studio.key[0] + u * 2 * studio.keySize - x;
    const ly = studio.key[1] + v * studio.keySize - y;
    const lz = studio.key[2] + w * 2 * studio.keySize - z;
    const length = 1 / Math.sqrt(lx * lx + ly * ly + lz * lz);
    const facing = (lx * nx + ly * ny + lz * nz) * length;
    if (facing <= 0) continue;
    towards.dx = lx * length;
    towards.dy = ly * length;
    towards.dz = lz * length;
    sum += facing * passing(studio, towards);
  }
  return sum / rays;
}

/** The share of light that passes along a ray. Glass lets some pass, everything else none. */
export function passing({ solids }: Studio, ray: Ray): number {
  let share = 1;
  for (const solid of solids) {
    if (!clipRay(solid, ray, probe) || probe.far < 1e-3) continue;
    if (solid.material.kind !== 'glass') return 0;
    share *= 0.4;
  }
  return share;
}

/** Schlick's approximation of Fresnel's reflectance. */
export function fresnel(cosine: number, index: number): number {
  const r = (index - 1) / (index + 1);
  const base = r * r;
  const m = 1 - cosine;
  return base + (1 - base) * m * m * m * m * m;
}
