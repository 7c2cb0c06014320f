/**
 * Convex solids for the ray tracer. Each is the intersection of half-spaces and quadrics (linear images of spheres and
 * cylinders), so a ray is inside it from its last entry to its first exit.
 */

export type Vector = readonly [x: number, y: number, z: number];

/** Origin and unit direction. Rays are rewritten in place, because a picture traces millions of them. */
export interface Ray {
  ox: number;
  oy: number;
  oz: number;
  dx: number;
  dy: number;
  dz: number;
}

export function createRay(): Ray {
  return { ox: 0, oy: 0, oz: 0, dx: 0, dy: 0, dz: 0 };
}

/** What a solid is made of. */
export interface Material {
  kind: 'glass' | 'metal' | 'matte';
  /** What a metal or matte surface reflects. For glass, the negative logarithm of what one unit of it passes. */
  color: readonly [number, number, number];
  /** How glossy a matte surface is, 0 … 1. */
  gloss: number;
  /** Index of refraction of glass. */
  index: number;
}

export interface Solid {
  material: Material;
  /** Four numbers each: the outward normal and its distance from the origin. */
  planes: Float64Array;
  /** Thirteen numbers each: center, the 3 × 3 map to the unit shape row by row, 1 for a cylinder along local y. */
  quadrics: Float64Array;
  /** A sphere around the solid, for a quick test. */
  center: Vector;
  radius: number;
}

/** Where a ray enters and leaves the solid it was last clipped against. Faces count planes first, then quadrics. */
export interface Crossing {
  near: number;
  far: number;
  nearFace: number;
  farFace: number;
}

export function createCrossing(): Crossing {
  return { near: 0, far: 0, nearFace: 0, farFace: 0 };
}

const QUADRIC = 13;

/** Whether a ray meets the sphere around a solid. */
export function mayMeet({ center, radius }: Solid, { ox, oy, oz, dx, dy, dz }: Ray): boolean {
  const cx = center[0] - ox;
  const cy = center[1] - oy;
  const cz = center[2] - oz;
  const along = cx * dx + cy * dy + cz * dz;
  const apart = cx * cx + cy * cy + cz * cz;
  const reach = radius * radius;
  return apart - along * along <= reach && (along >= 0 || apart <= reach);
}

/** Finds where a ray is inside a solid. Returns false if it is nowhere ahead. */
export function clipRay(solid: Solid, ray: Ray, crossing: Crossing): boolean {
  if (!mayMeet(solid, ray)) return false;
  const { ox, oy, oz, dx, dy, dz } = ray;
  crossing.near = -1e9;
  crossing.far = 1e9;
  const { planes } = solid;
  for (let i = 0; i < planes.length; i += 4) {
    const nx = planes[i]!;
    const ny = planes[i + 1]!;
    const nz = planes[i + 2]!;
    const facing = nx * dx + ny * dy + nz * dz;
    const distance = planes[i + 3]! - (nx * ox + ny * oy + nz * oz);
    if (facing < 0) {
      const t = distance / facing;
      if (t > crossing.near) {
        crossing.near = t;
        crossing.nearFace = i >> 2;
      }
    } else if (facing > 0) {
      const t = distance / facing;
      if (t < crossing.far) {
        crossing.far = t;
        crossing.farFace = i >> 2;
      }
    } else if (distance < 0) return false;
    if (crossing.near >= crossing.far) return false;
  }
  for (let i = 0; i < solid.quadrics.length; i += QUADRIC) {
    if (!clipQuadric(solid, i, ray, crossing)) return false;
  }
  return crossing.far > 1e-6;
}

/**
 * Finds where a ray that starts inside a solid leaves it. That is half the work of `clipRay`, and most rays are inside.
 * Returns the distance and writes the face to `crossing`.
 */
export function leaveSolid(solid: Solid, ray: Ray, crossing: Crossing): number {
  const { ox, oy, oz, dx, dy, dz } = ray;
  const { planes } = solid;
  let far = 1e9;
  let face = 0;
  for (let i = 0; i < planes.length; i += 4) {
    const nx = planes[i]!;
    const ny = planes[i + 1]!;
    const nz = planes[i + 2]!;
    const facing = nx * dx + ny * dy + nz * dz;
    if (facing <= 0) continue;
    const distance = planes[i + 3]! - (nx * ox + ny * oy + nz * oz);
    if (distance < far * facing) {
      far = distance / facing;
      face = i >> 2;
    }
  }
  crossing.near = -1e9;
  crossing.far = far;
  crossing.farFace = face;
  for (let i = 0; i < solid.quadrics.length; i += QUADRIC) clipQuadric(solid, i, ray, crossing);
  return crossing.far < 0 ? 0 : crossing.far;
}

function clipQuadric({ quadrics: q, planes }: Solid, i: number, ray: Ray, crossing: Crossing): boolean {
  const { dx, dy, dz } = ray;
  const px = ray.ox - q[i]!;
  const py = ray.oy - q[i + 1]!;
  const pz = ray.oz - q[i + 2]!;
  const round = q[i + 12] === 1 ? 0 : 1;
  const ax = q[i + 3]! * px + q[i + 4]! * py + q[i + 5]! * pz;
  const ay = (q[i + 6]! * px + q[i + 7]! * py + q[i + 8]! * pz) * round;
  const az = q[i + 9]! * px + q[i + 10]! * py + q[i + 11]! * pz;
  const bx = q[i + 3]! * dx + q[i + 4]! * dy + q[i + 5]! * dz;
  const by = (q[i + 6]! * dx + q[i + 7]! * dy + q[i + 8]! * dz) * round;
  const bz = q[i + 9]! * dx + q[i + 10]! * dy + q[i + 11]! * dz;
  const a = bx * bx + by * by + bz * bz;
  const b = ax * bx + ay * by + az * bz;
  const c = ax * ax + ay * ay + az * az - 1;
  if (a < 1e-12) return c < 0;
  const discriminant = b * b - a * c;
  if (discriminant <= 0) return false;
  const root = Math.sqrt(discriminant);
  const face = planes.length / 4 + i / QUADRIC;
  if ((-b - root) / a > crossing.near) {
    crossing.near = (-b - root) / a;
    crossing.nearFace = face;
  }
  if ((-b + root) / a < crossing.far) {
    crossing.far = (-b + root) / a;
    crossing.farFace = face;
  }
  return crossing.near < crossing.far;
}

/** Writes the outward normal of a face at a point to `normal`. */
export function normalAt(
  solid: Solid,
  face: number,
  x: number,
  y: number,
  z: number,
  normal: Float64Array,
): void {
  const count = solid.planes.length / 4;
  if (face < count) {
    normal[0] = solid.planes[face * 4]!;
    normal[1] = solid.planes[face * 4 + 1]!;
    normal[2] = solid.planes[face * 4 + 2]!;
    return;
  }
  const q = solid.quadrics;
  const i = (face - count) * QUADRIC;
  const px = x - q[i]!;
  const py = y - q[i + 1]!;
  const pz = z - q[i + 2]!;
  const ax = q[i + 3]! * px + q[i + 4]! * py + q[i + 5]! * pz;
  const ay = q[i + 12] === 1 ? 0 : q[i + 6]! * px + q[i + 7]! * py + q[i + 8]! * pz;
  const az = q[i + 9]! * px + q[i + 10]! * py + q[i + 11]! * pz;
  const nx = q[i + 3]! * ax + q[i + 6]! * ay + q[i + 9]! * az;
  const ny = q[i + 4]! * ax + q[i + 7]! * ay + q[i + 10]! * az;
  const nz = q[i + 5]! * ax + q[i + 8]! * ay + q[i + 11]! * az;
  const length = 1 / Math.sqrt(nx * nx + ny * ny + nz * nz);
  normal[0] = nx * length;
  normal[1] = ny * length;
  normal[2] = nz * length;
}
