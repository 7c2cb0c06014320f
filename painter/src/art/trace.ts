import { fresnel, keyLightAt } from './lighting.ts';
import { exp } from './math.ts';
import { clipRay, createCrossing, createRay, leaveSolid, mayMeet, normalAt } from './solids.ts';
import type { Crossing, Ray, Solid } from './solids.ts';
import { seeRoom } from './studio.ts';
import type { Studio } from './studio.ts';

const DEEPEST = 2;
/** How often light may turn inside glass, for a ray of each depth. */
const INNER_BOUNCES = [4, 2, 1];
/** A ray of less weight than this sees only the room. */
const FAINT = 0.09;

/** Scratch space for each depth of recursion, so that tracing a ray allocates nothing. */
interface Scratch {
  crossing: Crossing;
  normal: Float64Array;
  /** What the rays that this one sends out see. */
  seen: Float64Array;
  /** The ray sent out, and the one that goes on inside glass. */
  sent: Ray;
  inner: Ray;
}

const scratches: Scratch[] = Array.from({ length: DEEPEST + 2 }, () => ({
  crossing: createCrossing(),
  normal: new Float64Array(3),
  seen: new Float64Array(3),
  sent: createRay(),
  inner: createRay(),
}));
const probe = createCrossing();

/**
 * Writes the light that comes along a ray to `out`. Returns a number that names the surface that it met, 0 for none.
 *
 * @param solids those that the ray may meet
 * @param weight the ray's share of its pixel; rays of little weight are traced roughly
 */
export function trace(
  studio: Studio,
  solids: readonly Solid[],
  ray: Ray,
  depth: number,
  weight: number,
  out: Float64Array,
): number {
  let nearest = ray.dy < -1e-5 ? -ray.oy / ray.dy : 1e9;
  let found = -1;
  let face = 0;
  if (depth <= DEEPEST && weight > FAINT) {
    for (let i = 0; i < solids.length; i += 1) {
      const solid = solids[i]!;
      if (!mayMeet(solid, ray) || !clipRay(solid, ray, probe)) continue;
      if (probe.near < 1e-4 || probe.near >= nearest) continue;
      nearest = probe.near;
      found = i;
      face = probe.nearFace;
    }
  }
  if (found < 0) {
    seeRoom(studio, ray, depth > 0, out);
    return 0;
  }
  const { sent, normal } = scratches[depth]!;
  sent.ox = ray.ox + ray.dx * nearest;
  sent.oy = ray.oy + ray.dy * nearest;
  sent.oz = ray.oz + ray.dz * nearest;
  const solid = solids[found]!;
  normalAt(solid, face, sent.ox, sent.oy, sent.oz, normal);
  const { kind } = solid.material;
  if (kind === 'glass') seeGlass(studio, solid, ray, depth, weight, out);
  else if (kind === 'metal') seeMetal(studio, solid, ray, depth, weight, out);
  else seeMatte(studio, solid, ray, depth, weight, out);
  return found * 64 + face + 1;
}

/** Adds the reflection of a polished floor to what a camera's ray sees of it. It may show the solids `mirrored`. */
export function polishFloor(studio: Studio, mirrored: readonly Solid[], ray: Ray, out: Float64Array): void {
  const t = -ray.oy / ray.dy;
  const z = ray.oz + ray.dz * t;
  if (z > 5) return;
  const { seen, sent } = scratches[0]!;
  const share = studio.polish * (0.1 + 0.9 * fresnel(-ray.dy, 1.5)) * (z > 2 ? (5 - z) / 3 : 1);
  sent.ox = ray.ox + ray.dx * t;
  sent.oy = 1e-5;
  sent.oz = z;
  sent.dx = ray.dx;
  sent.dy = -ray.dy;
  sent.dz = ray.dz;
  trace(studio, mirrored, sent, 1, 0.5, seen);
  for (let c = 0; c < 3; c += 1) out[c] = out[c]! * (1 - share) + seen[c]! * share;
}

/** Points the sent ray, which starts on the surface, in the mirror direction. Returns the cosine of the angle. */
function mirror(ray: Ray, { normal, sent }: Scratch): number {
  const nx = normal[0]!;
  const ny = normal[1]!;
  const nz = normal[2]!;
  const cosine = Math.min(1, -(ray.dx * nx + ray.dy * ny + ray.dz * nz));
  sent.dx = ray.dx + 2 * nx * cosine;
  sent.dy = ray.dy + 2 * ny * cosine;
  sent.dz = ray.dz + 2 * nz * cosine;
  return cosine;
}

type See = (studio: Studio, solid: Solid, ray: Ray, depth: number, weight: number, out: Float64Array) => void;

const seeMetal: See = (studio, { material }, ray, depth, weight, out) => {
  const scratch = scratches[depth]!;
  mirror(ray, scratch);
  trace(studio, studio.solids, scratch.sent, depth + 1, weight, scratch.seen);
  for (let c = 0; c < 3; c += 1) out[c] = scratch.seen[c]! * material.color[c]!;
};

const seeMatte: See = (studio, { material }, ray, depth, weight, out) => {
  const scratch = scratches[depth]!;
  const { normal, seen, sent } = scratch;
  const cosine = mirror(ray, scratch);
  const share = material.gloss > 0 ? material.gloss * fresnel(cosine, 1.5) : 0;
  const light = keyLightAt(studio, sent.ox, sent.oy, sent.oz, normal, depth === 0 ? 3 : 1);
  const ny = normal[1]!;
  // A soft light beside the camera keeps the visible sides from looking flat and gray.
  const fill = 0.55 * Math.max(0, 0.35 * ny - 0.8 * normal[2]! - 0.35 * normal[0]!);
  const up = 0.62 + 0.38 * ny + fill;
  const bounce = 0.2 * (0.5 - 0.5 * ny);
  for (let c = 0; c < 3; c += 1) {
    const received = studio.keyLight[c]! * light + studio.ambient[c]! * up + studio.floor[c]! * bounce;
    out[c] = material.color[c]! * received * (1 - share);
  }
  if (share <= 0.01) return;
  trace(studio, studio.solids, sent, depth + 1, weight * share, seen);
  for (let c = 0; c < 3; c += 1) out[c]! += seen[c]! * share;
};

const seeGlass: See = (studio, solid, ray, depth, weight, out) => {
  const scratch = scratches[depth]!;
  const { normal, seen, sent, inner } = scratch;
  const nx = normal[0]!;
  const ny = normal[1]!;
  const nz = normal[2]!;
  const cosine = mirror(ray, scratch);
  const share = fresnel(cosine, solid.material.index);
  const eta = 1 / solid.material.index;
  const turned = eta * cosine - Math.sqrt(1 - eta * eta * (1 - cosine * cosine));
  inner.ox = sent.ox;
  inner.oy = sent.oy;
  inner.oz = sent.oz;
  inner.dx = ray.dx * eta + nx * turned;
  inner.dy = ray.dy * eta + ny * turned;
  inner.dz = ray.dz * eta + nz * turned;
  trace(studio, studio.solids, sent, depth + 1, weight * share, seen);
  for (let c = 0; c < 3; c += 1) out[c] = seen[c]! * share;
  seeInside(studio, solid, 1 - share, depth, weight, out);
};

/**
 * Follows the inner ray from face to face. At each face, the light that leaves is added, and the rest goes on. The glass
 * absorbs light on the way by Beer and Lambert's law.
 */
function seeInside(
  studio: Studio,
  solid: Solid,
  share: number,
  depth: number,
  weight: number,
  out: Float64Array,
): void {
  const { crossing, normal, seen, sent, inner } = scratches[depth]!;
  const { index, color } = solid.material;
  const bounces = INNER_BOUNCES[depth]!;
  let left = share;
  let path = 0;
  for (let bounce = 0; bounce < bounces && left * weight > 0.02; bounce += 1) {
    const t = leaveSolid(solid, inner, crossing);
    path += t;
    inner.ox += inner.dx * t;
    inner.oy += inner.dy * t;
    inner.oz += inner.dz * t;
    normalAt(solid, crossing.farFace, inner.ox, inner.oy, inner.oz, normal);
    const nx = normal[0]!;
    const ny = normal[1]!;
    const nz = normal[2]!;
    const cosine = inner.dx * nx + inner.dy * ny + inner.dz * nz;
    const sine2 = index * index * (1 - cosine * cosine);
    let kept = 1;
    if (sine2 < 1) {
      const outer = Math.sqrt(1 - sine2);
      kept = fresnel(outer, index);
      const turned = outer - index * cosine;
      sent.ox = inner.ox;
      sent.oy = inner.oy;
      sent.oz = inner.oz;
      sent.dx = inner.dx * index + nx * turned;
      sent.dy = inner.dy * index + ny * turned;
      sent.dz = inner.dz * index + nz * turned;
      trace(studio, studio.solids, sent, depth + 1, weight * left * (1 - kept), seen);
      for (let c = 0; c < 3; c += 1) out[c]! += seen[c]! * left * (1 - kept) * exp(-path * color[c]!);
    } else if (bounce === bounces - 1) {
      // Light that is still inside has no direction left. It leaves in the glass's own color.
      for (let c = 0; c < 3; c += 1) out[c]! += studio.wall[c]! * left * 0.5 * exp(-path * color[c]!);
    }
    left *= kept;
    inner.dx -= 2 * nx * cosine;
    inner.dy -= 2 * ny * cosine;
    inner.dz -= 2 * nz * cosine;
  }
}
