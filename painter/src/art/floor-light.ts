import { exp, smooth } from './math.ts';
import type { Random } from './random.ts';
import { passing } from './lighting.ts';
import { clipRay, createCrossing, createRay, leaveSolid, normalAt } from './solids.ts';
import type { Ray, Solid } from './solids.ts';
import type { LightMap, Studio } from './studio.ts';

const crossing = createCrossing();
const ray = createRay();
const normal = new Float64Array(3);

/** Computes the light on the floor: soft shadows by rays to the soft box, caustics by rays from it through the glass. */
export function lightFloor(studio: Studio, random: Random, photons: number): LightMap {
  const cells = 144;
  const reach = 4.2;
  const map: LightMap = { reach, cells, values: new Float32Array(cells * cells * 3) };
  castShadows(studio, map);
  smoothMap(map, 1);
  const caustics: LightMap = { reach, cells, values: new Float32Array(cells * cells * 3) };
  const glass = studio.solids.filter((solid) => solid.material.kind === 'glass');
  const area = glass.reduce((sum, solid) => sum + solid.radius * solid.radius, 0);
  for (const solid of glass) {
    const count = Math.round((photons * solid.radius * solid.radius) / area);
    castPhotons(studio, solid, caustics, random, count);
  }
  smoothMap(caustics, 1);
  for (let i = 0; i < map.values.length; i += 1) map.values[i]! += caustics.values[i]!;
  return map;
}

function castShadows(studio: Studio, map: LightMap): void {
  const side = (2 * map.reach) / map.cells;
  const grid = 4;
  for (let j = 0; j < map.cells; j += 1) {
    for (let i = 0; i < map.cells; i += 1) {
      const x = (i + 0.5) * side - map.reach;
      const z = (j + 0.5) * side - map.reach;
      let sum = 0;
      for (let k = 0; k < grid * grid; k += 1) {
        // Neighboring cells use different points of the box; the blur afterwards evens that out.
        const u = ((k % grid) + ((i * 5 + j * 3) % 4) / 4 + 0.125) / grid - 0.5;
        const v = (Math.floor(k / grid) + ((i * 3 + j * 7) % 4) / 4 + 0.125) / grid - 0.5;
        const lx = studio.key[0] + u * 2 * studio.keySize - x;
        const lz = studio.key[2] + v * 2 * studio.keySize - z;
        const length = 1 / Math.sqrt(lx * lx + studio.key[1] * studio.key[1] + lz * lz);
        aim(x, 1e-4, z, lx * length, studio.key[1] * length, lz * length);
        sum += passing(studio, ray);
      }
      const share = sum / (grid * grid);
      const open = contact(studio, x, z);
      // The map fades out towards its edge, so that no shadow ends abruptly there.
      const edge = smooth(0.7, 0.98, Math.max(Math.abs(x), Math.abs(z)) / map.reach);
      for (let c = 0; c < 3; c += 1) {
        const ambient = studio.ambient[c]! / (studio.ambient[c]! + studio.keyLight[c]!);
        const received = ambient * open + (1 - ambient) * share;
        map.values[(j * map.cells + i) * 3 + c] = received + (1 - received) * edge;
      }
    }
  }
}

/** Ambient light that still reaches the floor beside things that stand on it. */
function contact({ solids }: Studio, x: number, z: number): number {
  let open = 1;
  for (const { center, radius } of solids) {
    const dx = x - center[0];
    const dz = z - center[2];
    const distance = dx * dx + dz * dz + center[1] * center[1];
    open *= 1 - 0.42 * exp(-distance / (radius * radius * 1.2));
  }
  return open;
}

function aim(ox: number, oy: number, oz: number, dx: number, dy: number, dz: number): void {
  ray.ox = ox;
  ray.oy = oy;
  ray.oz = oz;
  ray.dx = dx;
  ray.dy = dy;
  ray.dz = dz;
}

function castPhotons(studio: Studio, solid: Solid, map: LightMap, random: Random, count: number): void {
  const { center, radius } = solid;
  const cell = ((2 * map.reach) / map.cells) * ((2 * map.reach) / map.cells);
  const energy = ((2.6 * radius * radius) / count / cell) * 0.75;
  for (let i = 0; i < count; i += 1) {
    const lx = studio.key[0] + random.range(-0.35, 0.35) * studio.keySize;
    const ly = studio.key[1];
    const lz = studio.key[2] + random.range(-0.35, 0.35) * studio.keySize;
    const tx = center[0] + random.range(-radius, radius) - lx;
    const ty = center[1] + random.range(-radius, radius) - ly;
    const tz = center[2] + random.range(-radius, radius) - lz;
    const length = 1 / Math.sqrt(tx * tx + ty * ty + tz * tz);
    aim(lx, ly, lz, tx * length, ty * length, tz * length);
    const path = followPhoton(solid, ray);
    if (path >= 0) landPhoton(map, ray, energy, solid, path);
  }
}

/** Follows a photon through a solid. Returns the length of its way inside, or −1 if it missed or never left. */
function followPhoton(solid: Solid, photon: Ray): number {
  const { index } = solid.material;
  if (!clipRay(solid, photon, crossing)) return -1;
  let t = crossing.near;
  let face = crossing.nearFace;
  let path = 0;
  for (let step = 0; step < 7; step += 1) {
    photon.ox += photon.dx * t;
    photon.oy += photon.dy * t;
    photon.oz += photon.dz * t;
    normalAt(solid, face, photon.ox, photon.oy, photon.oz, normal);
    const out = turnPhoton(photon, step === 0 ? -1 : 1, step === 0 ? 1 / index : index);
    if (out && step > 0) return path;
    t = leaveSolid(solid, photon, crossing);
    face = crossing.farFace;
    path += t;
  }
  return -1;
}

/** Refracts a photon at a face. The normal times `sign` points forwards. Returns false if it is reflected instead. */
function turnPhoton(photon: Ray, sign: number, eta: number): boolean {
  const [nx, ny, nz] = [normal[0]! * sign, normal[1]! * sign, normal[2]! * sign];
  const cosine = photon.dx * nx + photon.dy * ny + photon.dz * nz;
  const sine2 = eta * eta * (1 - cosine * cosine);
  const refracted = sine2 < 1;
  const keep = refracted ? eta : 1;
  const turn = refracted ? Math.sqrt(1 - sine2) - eta * cosine : -2 * cosine;
  photon.dx = photon.dx * keep + nx * turn;
  photon.dy = photon.dy * keep + ny * turn;
  photon.dz = photon.dz * keep + nz * turn;
  return refracted;
}

function landPhoton(map: LightMap, photon: Ray, energy: number, { material }: Solid, path: number): void {
  if (photon.dy > -0.02) return;
  const t = -photon.oy / photon.dy;
  const scale = map.cells / (2 * map.reach);
  const i = Math.floor((photon.ox + photon.dx * t + map.reach) * scale);
  const j = Math.floor((photon.oz + photon.dz * t + map.reach) * scale);
  if (i < 0 || j < 0 || i >= map.cells || j >= map.cells) return;
  for (let c = 0; c < 3; c += 1)
    map.values[(j * map.cells + i) * 3 + c]! += energy * exp(-path * material.color[c]!);
}

/** A small binomial blur along both axes. */
function smoothMap({ cells, values }: LightMap, passes: number): void {
  for (let pass = 0; pass < passes; pass += 1) {
    for (const stride of [3, cells * 3]) {
      for (let line = 0; line < cells; line += 1) {
        const start = stride === 3 ? line * cells * 3 : line * 3;
        for (let c = 0; c < 3; c += 1) {
          let before = values[start + c]!;
          for (let i = 0; i < cells - 1; i += 1) {
            const at = start + c + i * stride;
            const here = values[at]!;
            values[at] = (before + here * 2 + values[at + stride]!) * 0.25;
            before = here;
          }
        }
      }
    }
  }
}
