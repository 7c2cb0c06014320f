import type { Canvas } from '../canvas.ts';
import { add, multiply, scale } from '../color.ts';
import type { Lch, Rgb } from '../color.ts';
import { clamp, mix } from '../math.ts';
import type { Scene } from '../scene.ts';
import { fillPolygon, strokeLine } from '../shapes.ts';
import { drawMeadow } from '../silhouettes.ts';
import type { Boat } from './harbor-boats.ts';
import type { Evening } from './harbor-town.ts';

/** Where a harbor's parts are. */
export type Lie = 'town' | 'bay' | 'point';

export interface Plan {
  lie: Lie;
  shore: number;
  /** −1 or 1: the side that the land lies on. */
  side: number;
  lightX: number;
  town: readonly [number, number];
  hills: number;
  lighthouse: number;
  pier: boolean;
}

const hulls: Lch[] = [
  [0.42, 0.1, 250],
  [0.45, 0.14, 28],
  [0.85, 0.02, 90],
  [0.4, 0.07, 170],
  [0.7, 0.12, 70],
  [0.3, 0.03, 260],
];

/** A few boats, the nearest the largest, spread so that none hides another. */
export function planBoats(scene: Scene, plan: Plan): Boat[] {
  const random = scene.random('boats');
  const density = scene.mood('density', 0);
  const wanted = scene.presence('boat', 0.92);
  const count = wanted > 0 ? Math.round(clamp(random.range(2.5, 5.5) + density * 4, 1, 10)) : 0;
  const deep = scene.height - plan.shore;
  const start = random.unit();
  return Array.from({ length: count }, (_, i) => {
    const depth = i === count - 1 ? random.range(0.3, 0.55) : mix(0.05, 0.3, (i + random.unit()) / count);
    const across = (start + i * 0.381966 + random.range(-0.06, 0.06)) % 1;
    return {
      kind: random.pick<Boat['kind']>(['sloop', 'sloop', 'trawler', 'dinghy']),
      x: scene.width * mix(0.08, 0.92, across),
      y: plan.shore + deep * depth,
      size: scene.side * mix(0.018, 0.16, depth) * mix(0.8, 1.1, wanted) + scene.side * 0.012,
      hull: scene.tint(i % 2 === 0 ? 'key' : 'accent', random.pick(hulls)),
      sail: scene.tint(
        'accent',
        random.pick<Lch>([
          [0.93, 0.03, 85],
          [0.62, 0.15, 35],
          [0.9, 0.05, 70],
        ]),
      ),
      way: random.chance(0.5) ? 1 : -1,
      sailing: random.chance(0.4),
      seed: i,
    };
  }).sort((a, b) => a.y - b.y);
}

/** What stands nearest: a jetty that leads out from the picture's lower edge, and flowers if asked for. */
export function paintFront(scene: Scene, plan: Plan, evening: Evening): void {
  if (plan.pier) drawJetty(scene.canvas, scene, plan, evening);
  const flowers = scene.presence('flower', 0);
  if (flowers <= 0) return;
  const bloom = (role: 'key' | 'accent', hue: number): Rgb =>
    multiply(scene.tint(role, [0.8, 0.16, hue]), scale(evening.ambient, 2));
  const blooms = [bloom('key', 20), bloom('accent', 350), bloom('key', 80)];
  drawMeadow(scene, flowers, blooms, add(scale(evening.ambient, 0.1), [0.002, 0.004, 0.002]));
}

function drawJetty(canvas: Canvas, scene: Scene, plan: Plan, evening: Evening): void {
  const random = scene.random('jetty');
  const { width, height, side } = scene;
  const deep = height - plan.shore;
  const near = width * (0.5 - plan.side * random.range(0.18, 0.34));
  const far = mix(near, width / 2, 0.45);
  const top = plan.shore + deep * random.range(0.34, 0.5);
  const wood: Rgb = scale(evening.ambient, 0.34);
  const dark = scale(evening.ambient, 0.07);
  const wideNear = side * 0.16;
  const wideFar = side * 0.035;
  const planks = 26;
  const line = (t: number): { x: number; y: number; w: number } => {
    const eased = t * t;
    return { x: mix(far, near, eased), y: mix(top, height + 4, eased), w: mix(wideFar, wideNear, eased) };
  };
  for (let i = 0; i < planks; i += 1) {
    const a = line(i / planks);
    const b = line((i + 0.9) / planks);
    const tone = scale(wood, random.range(0.75, 1.2));
    fillPolygon(canvas, [a.x - a.w, a.y, a.x + a.w, a.y, b.x + b.w, b.y, b.x - b.w, b.y], tone);
  }
  for (let i = 1; i < planks; i += 5) {
    const { x, y, w } = line(i / planks);
    for (const sign of [-1, 1]) {
      const tall = w * 0.75;
      strokeLine(canvas, [x + sign * w, y + w * 0.5], [x + sign * w, y - tall], [w * 0.2, w * 0.17], dark);
    }
  }
}
