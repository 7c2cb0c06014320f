import { blend, scale } from '../color.ts';
import type { Rgb } from '../color.ts';
import { cos, mix, sin, TAU } from '../math.ts';
import { layShape } from '../paper.ts';
import type { Paper } from '../paper.ts';
import type { Random } from '../random.ts';
import type { DriftPalette } from './drift-palettes.ts';

export type Cut = 'swell' | 'crests' | 'peaks' | 'hills';

export interface Plan {
  cut: Cut;
  count: number;
  /** The row where the furthest sheet begins. */
  top: number;
  amplitude: number;
  lines: boolean;
  palette: DriftPalette;
}

/** Where things may stand: along one sheet's edge. */
interface Edge {
  paper: Paper;
  plan: Plan;
  random: Random;
  /** 0 the furthest sheet … 1 the nearest. */
  depth: number;
  /** The size of things at that depth. */
  near: number;
  level: number;
  dark: Rgb;
  spot(): [number, number];
}

/** What stands on the sheets: boats, trees, houses and flowers, each cut from a sheet of its own. */
export function layThings(paper: Paper, plan: Plan, row: Float32Array, index: number): void {
  const { scene } = paper;
  const random = scene.random(`things ${index}`);
  const depth = index / (plan.count - 1);
  const edge: Edge = {
    paper,
    plan,
    random,
    depth,
    near: mix(0.35, 1.2, depth),
    level: 1.5 + index,
    dark: plan.palette.at(Math.min(1, depth + 0.35)),
    spot: () => {
      const x = Math.floor(random.range(0.06, 0.94) * (scene.width - 1));
      return [x, row[x]!];
    },
  };
  layBoats(edge, index);
  layTrees(edge);
  layHouses(edge);
  layFlowers(edge);
}

function layBoats({ paper, plan, depth, near, level, dark, spot }: Edge, index: number): void {
  const boats = paper.scene.presence('boat', 0.12);
  const turns = [Math.round(plan.count * 0.35), Math.round(plan.count * 0.6)];
  if (boats <= 0 || !turns.includes(index) || depth >= 1) return;
  const [x, y] = spot();
  const sail = blend(plan.palette.accent, [0.95, 0.94, 0.9], 0.6);
  layBoat(paper, x, y, paper.scene.side * 0.075 * near * boats, level, dark, sail);
}

function layTrees({ paper, plan, random, depth, near, level, dark, spot }: Edge): void {
  if (depth <= 0.15 || depth >= 0.9) return;
  const { scene } = paper;
  const trees =
    scene.presence('forest', plan.cut === 'hills' ? 0.45 : 0.05) * (0.5 + scene.mood('density', 0.3));
  for (let i = 0; i < trees * 16; i += 1) {
    const [x, y] = spot();
    const tall = scene.side * 0.075 * near * random.range(0.5, 1.2);
    layShape(paper, [x - tall * 0.2, y + 4, x, y - tall, x + tall * 0.2, y + 4], level, dark);
  }
}

function layHouses({ paper, plan, random, depth, near, level, dark, spot }: Edge): void {
  if (depth <= 0.1 || depth >= 0.7) return;
  const { scene } = paper;
  const houses = scene.presence('city', 0);
  for (let i = 0; i < houses * 14; i += 1) {
    const [x, y] = spot();
    const wide = scene.side * 0.024 * near * random.range(0.7, 1.4);
    const tall = wide * random.range(1.2, 4.5);
    const outline = [
      x - wide,
      y + wide,
      x - wide,
      y - tall,
      x,
      y - tall - wide * 0.8,
      x + wide,
      y - tall,
      x + wide,
      y + wide,
    ];
    layShape(paper, outline, level, blend(dark, plan.palette.accent, i % 3 === 0 ? 0.5 : 0.1));
    layWindows(paper, x, y, wide, tall, level + 0.15, blend(plan.palette.accent, [1, 0.95, 0.8], 0.6));
  }
}

function layWindows(
  paper: Paper,
  x: number,
  y: number,
  wide: number,
  tall: number,
  level: number,
  color: Rgb,
): void {
  const w = wide * 0.2;
  for (let row = y - tall + wide * 0.4; row < y - w; row += wide * 0.85) {
    for (const column of [x - wide * 0.45, x + wide * 0.45]) {
      layShape(
        paper,
        [column - w, row - w, column + w, row - w, column + w, row + w * 1.4, column - w, row + w * 1.4],
        level,
        color,
      );
    }
  }
}

function layFlowers({ paper, plan, random, depth, near, level, spot }: Edge): void {
  if (depth <= 0.5) return;
  const flowers = paper.scene.presence('flower', 0);
  for (let i = 0; i < flowers * 4; i += 1) {
    const [x, y] = spot();
    const size = paper.scene.side * 0.05 * near * random.range(0.6, 1.2);
    layBloom(paper, x, y, size, level, i % 2 === 0 ? plan.palette.accent : plan.palette.at(0.1));
  }
}

function layBoat(
  paper: Paper,
  x: number,
  y: number,
  size: number,
  level: number,
  hull: Rgb,
  sail: Rgb,
): void {
  layShape(paper, [x, y - size * 1.7, x + size * 0.75, y - size * 0.2, x, y - size * 0.2], level, sail);
  layShape(
    paper,
    [x - size * 0.08, y - size * 1.5, x - size * 0.6, y - size * 0.2, x - size * 0.08, y - size * 0.2],
    level,
    blend(sail, hull, 0.2),
  );
  layShape(
    paper,
    [
      x - size * 0.85,
      y - size * 0.12,
      x + size * 0.95,
      y - size * 0.12,
      x + size * 0.6,
      y + size * 0.3,
      x - size * 0.55,
      y + size * 0.3,
    ],
    level + 0.2,
    hull,
  );
}

function layBloom(paper: Paper, x: number, y: number, size: number, level: number, color: Rgb): void {
  for (let ring = 0; ring < 3; ring += 1) {
    const radius = size * (1 - ring * 0.28);
    const points: number[] = [];
    for (let i = 0; i < 80; i += 1) {
      const angle = (i / 80) * TAU;
      const petal = radius * (0.72 + 0.28 * Math.abs(sin(angle * 4 + ring)));
      points.push(x + cos(angle) * petal, y + sin(angle) * petal);
    }
    layShape(paper, points, level + ring * 0.35, scale(color, 1 - ring * 0.14));
  }
}
