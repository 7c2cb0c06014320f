import type { Rgb } from '../colour.ts';
import type { Scene } from '../scene.ts';
import { fillPolygon } from '../shapes.ts';

export interface FacetPlan {
  /** Facets along the shorter side. */
  count: number;
  /** Height of the relief at a place (0 … 1 each way). */
  height(u: number, v: number): number;
  /** The colour of a facet with this normal, at this place, somewhat its own (−1 … 1). */
  colour(normal: readonly [number, number, number], u: number, v: number, own: number): Rgb;
}

type Corner = readonly [x: number, y: number, height: number];

/** Breaks the picture into flat triangles over a relief: stone or ice that has split along planes. */
export function paintFacets(scene: Scene, plan: FacetPlan): void {
  const { width, height, side } = scene;
  const random = scene.random('facets');
  const step = side / plan.count;
  const columns = Math.ceil(width / step) + 2;
  const rows = Math.ceil(height / step) + 2;
  const corners = Array.from({ length: (columns + 1) * (rows + 1) }, (_, i): Corner => {
    const x = ((i % (columns + 1)) - 1 + random.range(-0.42, 0.42)) * step;
    const y = (Math.floor(i / (columns + 1)) - 1 + random.range(-0.42, 0.42)) * step;
    return [x, y, plan.height(x / side, y / side)];
  });
  const facet = (a: number, b: number, c: number): void =>
    paintFacet(scene, plan, [corners[a]!, corners[b]!, corners[c]!], random.range(-1, 1));
  for (let row = 0; row < rows; row += 1) {
    if ((row & 7) === 0) scene.tick((0.7 * row) / rows);
    for (let column = 0; column < columns; column += 1) {
      const at = row * (columns + 1) + column;
      const below = at + columns + 1;
      const falling = random.chance(0.5);
      facet(at, at + 1, falling ? below : below + 1);
      facet(falling ? at + 1 : at, below + 1, below);
    }
  }
}

function paintFacet(
  { canvas, side }: Scene,
  plan: FacetPlan,
  corners: readonly [Corner, Corner, Corner],
  own: number,
): void {
  const [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = corners;
  const [ux, uy, uz] = [(bx - ax) / side, (by - ay) / side, bz - az];
  const [vx, vy, vz] = [(cx - ax) / side, (cy - ay) / side, cz - az];
  const n = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx] as const;
  const length = Math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * (n[2] < 0 ? -1 : 1) + 1e-9;
  const [mx, my] = [(ax + bx + cx) / 3, (ay + by + cy) / 3];
  const colour = plan.colour([n[0] / length, n[1] / length, n[2] / length], mx / side, my / side, own);
  // Grown by half a pixel, so that neighbours overlap and no seam of the background shows.
  const points = corners.flatMap(([x, y]) => [x + (x > mx ? 0.6 : -0.6), y + (y > my ? 0.6 : -0.6)]);
  fillPolygon(canvas, points, colour);
}
