import { add, blend, scale } from '../color.ts';
import type { Rgb } from '../color.ts';
import { neighborOf } from '../columns.ts';
import type { Columns, Shade, Spot } from '../columns.ts';
import { exp, mix, smooth, unit } from '../math.ts';
import type { Scene } from '../scene.ts';
import type { Sky } from '../sky.ts';
import type { Plan } from './basalt-plan.ts';

/** Everything that decides a spot's color: rock, light, shadow, the glow in the joints, water, moss, haze. */
export function columnShader(scene: Scene, plan: Plan, sky: Sky, columns: Columns): Shade {
  const rock = rockShader(scene);
  const glow = glowShader(scene, plan);
  const haze = add(blend(scale(sky.middle, 0.7), scale(sky.zenith, 0.6), 0.5), scale(sky.light, 0.02));
  const mist = mix(0.008, 0.05, scene.mood('mist', 0.2));
  const wet = mix(0.3, 1, Math.max(scene.mood('rain', 0), plan.water ? 0.8 : 0.1));
  const length = 1 / Math.sqrt(plan.towards[0] * plan.towards[0] + plan.towards[1] * plan.towards[1] + 0.3);
  const lx = plan.towards[0] * length;
  const lz = plan.towards[1] * length;
  const ly = 0.55 * length;
  const shadows = castShadows(columns, lx / ly, lz / ly);
  const key = scale(sky.light, 2.3);
  const ambient = add(scale(sky.zenith, 2), add(scale(sky.middle, 1), [0.012, 0.013, 0.016]));
  const moss = scene.presence('forest', 0.12) * 0.85;
  const green = scene.tint('accent', [0.5, 0.1, 130]);
  return (spot, color) => {
    const { cell, face, y, distance } = spot;
    const top = face < 0;
    const foot = footOf(columns, cell, face);
    const { edge, shut } = measureSpot(columns, spot);
    const i = (cell * 6 + (top ? 0 : face)) * 3;
    const nx = top ? (((cell * 7919) & 255) / 255 - 0.5) * 0.2 : columns.sides[i]!;
    const nz = top ? (((cell * 104729) & 255) / 255 - 0.5) * 0.2 : columns.sides[i + 1]!;
    const { tone, crack } = rock(spot, edge, nx, nz);
    const facing = nx * lx + (top ? ly : 0) + nz * lz;
    const lit = Math.max(0, facing) * shadows(cell, y, face);
    const open = top ? 1 - Math.min(0.85, shut) : 0.16 + 0.6 * unit((y - foot) * 0.55);
    const sheen = top ? wet * smooth(4, 40, distance) * crack * open : 0;
    const fire = glow(spot, edge, foot);
    const grown = top ? moss * smooth(0.02, 0.3, edge + tone * 0.3 - 0.25) : 0;
    const veil = 1 - exp(-distance * mist);
    for (let c = 0; c < 3; c += 1) {
      const stone = mix(rock.color[c]! * tone, green[c]! * tone, grown);
      let value = stone * (key[c]! * lit + ambient[c]! * open) * crack + sky.horizon[c]! * sheen * 0.5;
      value += glow.ember[c]! * fire * 1.5 + glow.core[c]! * fire * fire * 2;
      color[c] = value + (haze[c]! - value) * veil;
    }
  };
}

/** How far a spot is from its column's edge and, on a top, how much of the sky taller neighbors hide. */
function measureSpot(columns: Columns, { cell, face, x, y, z }: Spot): { edge: number; shut: number } {
  let edge = 1;
  let shut = 0;
  for (let side = 0; side < 6; side += 1) {
    if (side === face) continue;
    const i = (cell * 6 + side) * 3;
    const inside = columns.sides[i + 2]! - columns.sides[i]! * x - columns.sides[i + 1]! * z;
    if (inside < edge) edge = inside;
    if (face >= 0) continue;
    const other = neighborOf(columns, cell, side);
    const above = other < 0 ? 0 : columns.heights[other]! - y;
    if (above > 0) shut += unit(above) * unit(0.55 - inside) * 1.1;
  }
  return { edge, shut };
}

type RockShader = ((spot: Spot, edge: number, nx: number, nz: number) => { tone: number; crack: number }) & {
  color: Rgb;
};

/** The stone's own pattern: pitted tops with worn rims, flanks with upright grooves and cracks across. */
function rockShader(scene: Scene): RockShader {
  const noise = scene.noise('rock');
  const octaves = 2 + Math.round(scene.detail * 2);
  const found = { tone: 1, crack: 1 };
  const shade = (
    { cell, face, x, y, z, distance }: Spot,
    edge: number,
    nx: number,
    nz: number,
  ): { tone: number; crack: number } => {
    const own = 0.8 + (0.45 * (((cell * 2654435) >>> 5) & 255)) / 255;
    if (face < 0) {
      const fine = distance < 9 ? noise.at(x * 31, z * 31) * 0.16 + noise.at(x * 67, z * 67) * 0.1 : 0;
      const grain = noise.fbm(x * 4.2, z * 4.2 + cell, octaves + 1) + fine * smooth(9, 4, distance);
      found.crack = smooth(0.008, 0.06, edge + grain * 0.025);
      found.tone = own * (0.85 + grain * 0.7 + 0.35 * smooth(0.16, 0.05, edge));
      return found;
    }
    const along = (nz * x - nx * z) * 7 + cell * 3.7;
    const grain = noise.fbm(along, y * 0.9 + cell, octaves) + noise.at(along * 3, y * 6) * 0.2;
    const across = Math.abs(noise.at(cell * 1.7 + 0.5, y * 1.1) + grain * 0.12);
    found.crack = (0.45 + 0.55 * smooth(0, 0.05, across)) * smooth(0, 0.05, edge);
    found.tone = own * (0.8 + grain * 0.75 + 0.5 * smooth(0.09, 0.02, edge));
    return found;
  };
  return Object.assign(shade, { color: scene.tint('ground', [0.43, 0.03, 258]) });
}

type GlowShader = ((spot: Spot, edge: number, foot: number) => number) & { ember: Rgb; core: Rgb };

/** What shines from below: strongest in the joints of low columns, fading up their flanks, in winding veins. */
function glowShader(scene: Scene, plan: Plan): GlowShader {
  const noise = scene.noise('glow');
  const hue = scene.random('glow').pick([44, 50, 38, 52, 30, 190, 300]);
  const city = scene.wants('city') ? scene.strength : 0;
  const shine = ({ cell, face, x, y, z }: Spot, edge: number, foot: number): number => {
    let light = 0;
    if (city > 0 && face >= 0) {
      const window = noise.cell(cell, Math.floor(y * 4)) > 0.72 && y - foot > 0.2 ? 1 : 0;
      light =
        city *
        window *
        smooth(0.3, 0.2, Math.abs(y * 4 - Math.floor(y * 4) - 0.5)) *
        smooth(0.1, 0.16, edge) *
        0.8;
    }
    const vein = noise.fbm(x * 0.16, z * 0.16, 3);
    const warmth =
      plan.glow *
      (0.03 + 1.1 * smooth(plan.level * 0.3 - 0.06, 0.34, vein + noise.at(x * 0.7, z * 0.7) * 0.12));
    if (face < 0) {
      const rise = Math.max(0, y - plan.level);
      if (rise > 3) return light;
      const line = exp(-edge * edge * 1600) + 0.13 * exp(-edge * 12);
      return light + warmth * exp(-rise * 1.9) * line;
    }
    const rise = Math.max(0, foot - plan.level);
    if (rise > 3) return light;
    return light + warmth * exp(-rise * 1.9 - Math.max(0, y - foot) * 3.4) * 0.42;
  };
  return Object.assign(shine, {
    ember: scene.tint('key', [0.68, 0.2, hue]),
    core: scene.tint('key', [0.88, 0.14, hue + 28]),
  });
}

/** The height at which a wall begins: the top of the column in front of it. */
function footOf(columns: Columns, cell: number, face: number): number {
  const other = face < 0 ? -1 : neighborOf(columns, cell, face);
  return other < 0 ? -1 : columns.heights[other]!;
}

/** Walks from each cell towards the light and stores how high the shadow on it reaches. */
function castShadows(
  columns: Columns,
  slopeX: number,
  slopeZ: number,
): (cell: number, y: number, face: number) => number {
  const { size, heights, centers } = columns;
  const reach = new Float32Array(size * size);
  const flat = Math.sqrt(slopeX * slopeX + slopeZ * slopeZ);
  for (let cell = 0; cell < size * size; cell += 1) {
    let highest = -9;
    for (let step = 1; step <= 9; step += 1) {
      const x = centers[cell * 2]! + (slopeX / flat) * step;
      const z = centers[cell * 2 + 1]! + (slopeZ / flat) * step;
      const row = Math.round((z * 2) / 1.7320508 + size / 2);
      const column = Math.round(x + size / 2 - ((row & 1) === 1 ? 0.5 : 0));
      if (row < 0 || column < 0 || row >= size || column >= size) break;
      highest = Math.max(highest, heights[row * size + column]! - (step - 0.3) / flat);
    }
    reach[cell] = highest;
  }
  return (cell, y, face) => {
    const from = face < 0 ? cell : Math.max(0, neighborOf(columns, cell, face));
    return smooth(-0.15, 0.35, y - reach[from]!);
  };
}
