import { blend, scale } from '../color.ts';
import { clamp, exp, mix, pow, sin, smooth } from '../math.ts';
import type { Noise } from '../noise.ts';
import { castPaperShadows, createPaper, layShape, laySheet } from '../paper.ts';
import type { Paper, SheetPaint } from '../paper.ts';
import type { Scene } from '../scene.ts';
import { ellipse } from '../shapes.ts';
import { paintStars } from '../sky.ts';
import { driftPalette } from './drift-palettes.ts';
import { layThings } from './drift-things.ts';
import type { Cut, Plan } from './drift-things.ts';

/** Sheets of paper, one behind the other, cut to waves, hills or peaks, before a paper sun. */
export function paintSheets(scene: Scene): void {
  const plan = planSheets(scene);
  const paper = createPaper(scene);
  paintBackground(scene, plan);
  laySun(paper, plan);
  const edges = cutEdges(scene, plan);
  const hidden = hiddenRows(scene, edges);
  edges.forEach((edge, index) => {
    laySheet(paper, edge, hidden[index]!, 1.2 + index, sheetPaint(scene, plan, edge, index));
    layThings(paper, plan, edge, index);
    scene.tick((0.7 * (index + 1)) / edges.length);
  });
  const side = scene.random('shadow').chance(0.5) ? 1 : -1;
  const reach = scene.side * 0.05;
  castPaperShadows(paper, {
    strength: mix(0.55, 0.8, scene.mood('storm', 0.3)),
    reach,
    offsetX: side * reach * 0.35,
    offsetY: -reach * 0.2,
  });
}

function planSheets(scene: Scene): Plan {
  const random = scene.random('sheets');
  const density = scene.mood('density', 0);
  const own = random.pick<Cut>(['swell', 'swell', 'crests', 'hills']);
  const calm = scene.mood('calm', 0.35);
  const cut = scene.wants('mountain')
    ? 'peaks'
    : scene.wants('water') || scene.wants('boat')
      ? 'crests'
      : scene.wants('forest')
        ? 'hills'
        : own;
  return {
    cut,
    count: Math.round(clamp(random.range(7, 11) + density * 4, 4, 15)),
    top: random.range(0.3, 0.46),
    amplitude: random.range(0.06, 0.125) * mix(1.25, 0.6, calm) * (cut === 'peaks' ? 2.1 : 1),
    lines: random.chance(0.55),
    palette: driftPalette(scene),
  };
}

function paintBackground(scene: Scene, { palette }: Plan): void {
  const { width, height, canvas } = scene;
  const far = palette.at(0);
  const high = blend(far, palette.at(0.22), 0.75);
  for (let y = 0; y < height; y += 1) {
    const color = blend(scale(high, 1), scale(far, 1.12), smooth(0, 0.5, y / height));
    for (let x = 0, at = y * width * 3; x < width; x += 1, at += 3) canvas.light.set(color, at);
  }
  if (palette.night > 0.3) paintStars(scene, height * 0.5, palette.night);
}

function laySun(paper: Paper, { palette, top }: Plan): void {
  const { scene } = paper;
  const random = scene.random('sun');
  const x = scene.width * random.range(0.22, 0.78);
  const y = scene.height * top * random.range(0.42, 0.9);
  const radius = scene.side * random.range(0.1, 0.19);
  const moon = scene.presence('moon', palette.night * 0.6);
  if (moon <= 0 && scene.presence('sun', 0.8) <= 0) return;
  const color = moon > 0 ? blend(scene.tint('key', [0.95, 0.03, 90]), palette.accent, 0.1) : palette.accent;
  const rings = random.int(0, 2);
  for (let ring = rings; ring >= 0; ring -= 1) {
    const wide = radius * (1 + ring * 0.34);
    layShape(
      paper,
      ellipse(x, y, wide, wide),
      0.3 + (rings - ring) * 0.25,
      blend(color, palette.at(0.05), ring * 0.36),
    );
  }
}

function cutEdges(scene: Scene, plan: Plan): Float32Array[] {
  const noise = scene.noise('edges');
  const random = scene.random('edges');
  const ground = plan.cut === 'peaks' ? 0.05 : 0;
  return Array.from({ length: plan.count }, (_, index) => {
    const depth = index / (plan.count - 1);
    const base = scene.height * mix(plan.top + ground, 0.93, depth * (0.75 + 0.25 * depth));
    const size = scene.side * plan.amplitude * mix(0.55, 1.35, depth);
    const shift = random.range(0, 50);
    const wave = mix(3.4, 1.15, depth) * random.range(0.85, 1.2);
    const edge = new Float32Array(scene.width);
    for (let x = 0; x < scene.width; x += 1) {
      edge[x] =
        base - size * cutAt(plan.cut, noise, (x / scene.side) * wave + shift, index * 7.3, scene.detail);
    }
    return edge;
  });
}

/** The height of a cut along a sheet, about −1 … 1. */
function cutAt(cut: Cut, noise: Noise, u: number, row: number, detail: number): number {
  const slow = noise.fbm(u, row, 2) * 1.6;
  if (cut === 'swell') return slow + sin(u * 2.1 + row + noise.at(u * 0.7, row + 3) * 3) * 0.45;
  if (cut === 'hills') return slow + noise.fbm(u * 2.2, row + 9, 3) * 0.6;
  if (cut === 'peaks') {
    const ridge = noise.ridged(u * 0.8, row, 3 + Math.round(detail * 2));
    return (ridge - 0.45) * 2.6;
  }
  // A breaking wave: a long hollow rise, then a short fall.
  const phase = u * 0.62 + noise.at(u * 0.4, row) * 0.45 + row * 0.37;
  const t = phase - Math.floor(phase);
  const wave = t < 0.8 ? (t / 0.8) * (t / 0.8) * (t / 0.8) : pow((1 - t) / 0.2, 1.5);
  return slow * 0.45 + wave * (1.5 + 0.6 * noise.at(Math.floor(phase) * 1.7 + 0.5, row)) - 0.5;
}

/** For each sheet and column, the highest edge of all nearer sheets. */
function hiddenRows(scene: Scene, edges: Float32Array[]): Float32Array[] {
  const rows: Float32Array[] = [];
  let lowest = new Float32Array(scene.width).fill(scene.height);
  for (let i = edges.length - 1; i >= 0; i -= 1) {
    rows[i] = lowest;
    lowest = lowest.map((row, x) => Math.min(row, edges[i]![x]!));
  }
  return rows;
}

function sheetPaint(scene: Scene, plan: Plan, edge: Float32Array, index: number): SheetPaint {
  const depth = (index + 1) / plan.count;
  const random = scene.random(`sheet ${index}`);
  const mist = scene.mood('mist', 0.15);
  const body = blend(plan.palette.at(mix(0.06, 1, depth)), plan.palette.at(0), mist * (1 - depth) * 0.8);
  const lower = blend(body, plan.palette.at(Math.min(1, depth + 0.25)), 0.6);
  const cap = capOf(scene, plan, edge, index);
  const pale = blend(plan.palette.at(0), [0.95, 0.95, 0.93], 0.5);
  const lined = plan.lines && index % 2 === random.int(0, 1);
  const span = scene.side * 0.16;
  const spacing = scene.side * random.range(0.011, 0.017);
  return (x, y, below, color) => {
    const fall = 1 - exp(-Math.max(0, below) / span);
    let line = 0;
    if (lined && below < spacing * 5.6) {
      const at = below / spacing - Math.floor(below / spacing) - 0.5;
      line =
        smooth(0.12, 0.05, Math.abs(at)) *
        smooth(5.6, 1, below / spacing) *
        (below > spacing * 0.6 ? 0.5 : 0);
    }
    const white = cap(x, y, below);
    for (let c = 0; c < 3; c += 1) {
      let value = mix(body[c]! * 1.08, lower[c]!, fall);
      value += (pale[c]! - value) * Math.max(white, line);
      color[c] = value;
    }
  };
}

/** How white a sheet is at a place: snow on what rises high, a line of foam on crests, nothing on others. */
function capOf(
  scene: Scene,
  plan: Plan,
  edge: Float32Array,
  index: number,
): (x: number, y: number, below: number) => number {
  if (plan.cut !== 'peaks' && plan.cut !== 'crests') return () => 0;
  const noise = scene.noise(`sheet ${index}`);
  const depth = index / (plan.count - 1);
  if (plan.cut === 'crests') {
    const wide = scene.side * 0.008 * mix(0.7, 1.5, scene.random(`foam ${index}`).unit());
    return (x, y, below) =>
      0.85 * smooth(wide, wide * 0.55, below + noise.at(x * 0.03, y * 0.03) * wide * 0.35);
  }
  const relief = scene.side * plan.amplitude * mix(0.55, 1.35, depth);
  const line =
    edge.reduce((least, row) => Math.min(least, row), Infinity) +
    relief * mix(0.35, 0.75, scene.mood('snow', 0.4));
  const ragged = 40 / scene.side;
  return (x, y) =>
    0.85 * smooth(line + 2, line - 2, y + noise.fbm(x * ragged, y * ragged * 0.4, 3) * relief * 0.5);
}
