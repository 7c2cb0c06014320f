import { cos, sin, TAU } from './math.ts';
import type { Random } from './random.ts';
import type { Material, Solid, Vector } from './solids.ts';

/** Building blocks of sculptures: how to place, turn and cut convex solids. */

/** A rotation (rows of an orthonormal matrix) and a position. */
export interface Placement {
  rows: readonly [Vector, Vector, Vector];
  at: Vector;
}

/** Turns by `yaw` around the vertical, then leans by `tilt` towards the direction `towards`. */
export function place(at: Vector, yaw = 0, tilt = 0, towards = 0): Placement {
  const c = cos(yaw);
  const s = sin(yaw);
  const turned: [Vector, Vector, Vector] = [
    [c, 0, s],
    [0, 1, 0],
    [-s, 0, c],
  ];
  const axis: Vector = [sin(towards), 0, -cos(towards)];
  return {
    rows: [
      turnAbout(turned[0], axis, tilt),
      turnAbout(turned[1], axis, tilt),
      turnAbout(turned[2], axis, tilt),
    ],
    at,
  };
}

/** Rodrigues' rotation of a vector about a unit axis. */
function turnAbout(v: Vector, k: Vector, angle: number): Vector {
  const c = cos(angle);
  const s = sin(angle);
  const dot = (k[0] * v[0] + k[1] * v[1] + k[2] * v[2]) * (1 - c);
  return [
    v[0] * c + (k[1] * v[2] - k[2] * v[1]) * s + k[0] * dot,
    v[1] * c + (k[2] * v[0] - k[0] * v[2]) * s + k[1] * dot,
    v[2] * c + (k[0] * v[1] - k[1] * v[0]) * s + k[2] * dot,
  ];
}

function toWorld({ rows, at }: Placement, [x, y, z]: Vector): Vector {
  return [
    at[0] + rows[0][0] * x + rows[1][0] * y + rows[2][0] * z,
    at[1] + rows[0][1] * x + rows[1][1] * y + rows[2][1] * z,
    at[2] + rows[0][2] * x + rows[1][2] * y + rows[2][2] * z,
  ];
}

/** A plane in local coordinates: unit normal and distance from the local origin. */
type Cut = readonly [x: number, y: number, z: number, distance: number];

/** A polyhedron from its cuts, with the local point and radius of a sphere that holds it. */
function polyhedron(
  material: Material,
  placement: Placement,
  cuts: Cut[],
  middle: Vector,
  radius: number,
): Solid {
  const planes = new Float64Array(cuts.length * 4);
  cuts.forEach(([x, y, z, distance], i) => {
    const length = Math.sqrt(x * x + y * y + z * z);
    const world = toWorld({ rows: placement.rows, at: [0, 0, 0] }, [x / length, y / length, z / length]);
    const { at } = placement;
    planes.set([...world, distance + world[0] * at[0] + world[1] * at[1] + world[2] * at[2]], i * 4);
  });
  return { material, planes, quadrics: new Float64Array(0), center: toWorld(placement, middle), radius };
}

/** An ellipsoid around the local origin. */
export function ellipsoid(material: Material, placement: Placement, radii: Vector): Solid {
  return {
    material,
    planes: new Float64Array(0),
    quadrics: quadric(placement, radii, 0),
    center: placement.at,
    radius: Math.max(...radii),
  };
}

/** An upright cylinder that stands on the local origin. */
export function cylinder(material: Material, placement: Placement, radius: number, height: number): Solid {
  const slab = polyhedron(
    material,
    placement,
    [
      [0, 1, 0, height],
      [0, -1, 0, 0],
    ],
    [0, height / 2, 0],
    0,
  );
  const quadrics = quadric(placement, [radius, 1, radius], 1);
  return { ...slab, quadrics, radius: Math.sqrt(radius * radius + (height * height) / 4) };
}

function quadric({ rows, at }: Placement, radii: Vector, kind: number): Float64Array {
  const map = rows.flatMap((row, i) => row.map((x) => x / radii[i]!));
  return Float64Array.from([...at, ...map, kind]);
}

/** A box that stands on the local origin, with beveled edges. */
export function box(material: Material, placement: Placement, half: Vector, bevel: number): Solid {
  const [x, y, z] = half;
  const r = Math.SQRT1_2;
  const cuts: Cut[] = [
    [1, 0, 0, x],
    [-1, 0, 0, x],
    [0, 1, 0, 2 * y],
    [0, -1, 0, 0],
    [0, 0, 1, z],
    [0, 0, -1, z],
  ];
  if (bevel > 0) {
    for (const a of [-1, 1]) {
      for (const b of [-1, 1]) cuts.push([a, 0, b, (x + z) * r - bevel]);
      cuts.push([a, 1, 0, (x + 2 * y) * r - bevel], [0, 1, a, (z + 2 * y) * r - bevel]);
    }
  }
  return polyhedron(material, placement, cuts, [0, y, 0], Math.sqrt(x * x + y * y + z * z));
}

/** A frustum with many sides that stands on the local origin. */
export function frustum(
  material: Material,
  placement: Placement,
  sides: number,
  lower: number,
  upper: number,
  height: number,
): Solid {
  const slope = (lower - upper) / height;
  const cuts: Cut[] = [
    [0, 1, 0, height],
    [0, -1, 0, 0],
  ];
  const length = Math.sqrt(1 + slope * slope);
  for (let i = 0; i < sides; i += 1) {
    const angle = (i / sides) * TAU;
    cuts.push([cos(angle), slope, sin(angle), lower / length]);
  }
  const radius = Math.max(lower, upper) / cos(TAU / sides / 2);
  return polyhedron(
    material,
    placement,
    cuts,
    [0, height / 2, 0],
    Math.sqrt(radius * radius + (height * height) / 4),
  );
}

/** A crystal: a prism of six or so unequal sides that stands on the local origin and ends in a slanting point. */
export function crystal(
  material: Material,
  placement: Placement,
  radius: number,
  height: number,
  random: Random,
): Solid {
  const sides = random.int(5, 7);
  const turn = random.unit();
  const cuts: Cut[] = [[0, -1, 0, 0.02]];
  for (let i = 0; i < sides; i += 1) {
    const angle = ((i + turn + random.range(-0.12, 0.12)) / sides) * TAU;
    const reach = radius * random.range(0.8, 1);
    cuts.push([cos(angle), -0.03, sin(angle), reach]);
    const steep = random.range(0.55, 0.95);
    const length = Math.sqrt(1 + steep * steep);
    cuts.push([cos(angle), steep, sin(angle), (steep * height + random.range(-0.1, 0.12) * radius) / length]);
  }
  return polyhedron(
    material,
    placement,
    cuts,
    [0, height / 2, 0],
    Math.sqrt(radius * radius * 1.6 + (height * height) / 4),
  );
}

/** A cut stone around the local origin: table and crown above the girdle, pavilion below. */
export function brilliant(material: Material, placement: Placement, radius: number, facets: number): Solid {
  const cuts: Cut[] = [[0, 1, 0, radius * 0.34]];
  const ring = (turn: number, count: number, rise: number, distance: number): void => {
    const length = Math.sqrt(1 + rise * rise);
    for (let i = 0; i < count; i += 1) {
      const angle = ((i + turn) / count) * TAU;
      cuts.push([cos(angle) / length, rise / length, sin(angle) / length, distance]);
    }
  };
  ring(0, facets, 0.95, radius * 0.72);
  ring(0.5, facets, 1.7, radius * 0.585);
  ring(0, facets, -1.05, radius * 0.665);
  ring(0.5, facets, -0.82, radius * 0.765);
  return polyhedron(material, placement, cuts, [0, 0, 0], radius * 1.08);
}

/** A boulder of many flat faces, spread evenly as on a Fibonacci sphere. */
export function boulder(
  material: Material,
  placement: Placement,
  radii: Vector,
  faces: number,
  random: Random,
): Solid {
  const cuts: Cut[] = [];
  for (let i = 0; i < faces; i += 1) {
    const y = 1 - (2 * i + 1) / faces;
    const ring = Math.sqrt(1 - y * y);
    const angle = i * 2.399963 + random.range(-0.25, 0.25);
    const n: Vector = [(ring * cos(angle)) / radii[0], y / radii[1], (ring * sin(angle)) / radii[2]];
    const length = Math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    cuts.push([n[0], n[1], n[2], random.range(0.82, 0.95) / length]);
  }
  return polyhedron(material, placement, cuts, [0, 0, 0], Math.max(...radii) * 1.25);
}

/** Moves a solid straight up. */
export function lift(solid: Solid, height: number): Solid {
  const planes = solid.planes.slice();
  for (let i = 0; i < planes.length; i += 4) planes[i + 3]! += planes[i + 1]! * height;
  const quadrics = solid.quadrics.slice();
  for (let i = 0; i < quadrics.length; i += 13) quadrics[i + 1]! += height;
  return { ...solid, planes, quadrics, center: [solid.center[0], solid.center[1] + height, solid.center[2]] };
}
