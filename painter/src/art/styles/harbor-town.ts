import { addGlow } from '../canvas.ts';
import type { Canvas } from '../canvas.ts';
import { add, blend, multiply, scale } from '../color.ts';
import type { Lch, Rgb } from '../color.ts';
import { mix, smooth } from '../math.ts';
import type { Random } from '../random.ts';
import type { Scene } from '../scene.ts';
import { fillPolygon, strokeLine } from '../shapes.ts';

/** The light that a harbor stands in. */
export interface Evening {
  ambient: Rgb;
  /** What far things fade into. */
  haze: Rgb;
  lamp: Rgb;
  /** Share of windows and lamps that are lit. */
  lit: number;
  /** −1 or 1: the side that the sky is brighter on. */
  side: number;
}

const facades: Lch[] = [
  [0.5, 0.12, 30],
  [0.72, 0.1, 75],
  [0.85, 0.03, 85],
  [0.55, 0.05, 240],
  [0.62, 0.07, 60],
  [0.48, 0.06, 160],
  [0.8, 0.05, 60],
  [0.42, 0.09, 20],
];

export interface Row {
  from: number;
  to: number;
  /** The row that the houses stand on. */
  base: number;
  /** A typical house's width. */
  house: number;
  /** 0 near … 1 lost in the haze. */
  far: number;
}

/** A row of gabled houses, side by side, with lit windows, chimneys and a church if there is room. */
export function drawHouses(scene: Scene, evening: Evening, row: Row, random: Random): void {
  let x = row.from;
  let sinceChurch = random.int(2, 5);
  while (x < row.to) {
    const wide = row.house * random.range(0.75, 1.35);
    const color = scene.tint('ground', random.pick(facades));
    const wall = blend(multiply(color, scale(evening.ambient, 1.5)), evening.haze, row.far);
    if (sinceChurch === 0 && row.far < 0.5)
      drawChurch(scene, evening, { ...row, from: x, to: x + wide }, wall, random);
    else drawHouse(scene, evening, { ...row, from: x, to: x + wide }, wall, random);
    sinceChurch -= 1;
    x += wide * random.range(0.96, 1.12);
  }
}

function drawHouse(scene: Scene, evening: Evening, row: Row, wall: Rgb, random: Random): void {
  const { canvas } = scene;
  const { from, to, base } = row;
  const wide = to - from;
  const floors = random.int(2, 4);
  const high = wide * (0.32 * floors + random.range(0.1, 0.3));
  const eaves = base - high;
  const ridge = eaves - wide * random.range(0.35, 0.62);
  const middle = (from + to) / 2;
  const roof = blend(scale(evening.ambient, random.range(0.1, 0.22)), evening.haze, row.far);
  const thick = wide * 0.07;
  fillPolygon(canvas, [from, base, from, eaves, middle, ridge, to, eaves, to, base], wall);
  const left = [from - 1, eaves + 1.5, middle, ridge - 1.5];
  fillPolygon(
    canvas,
    [...left, to + 1, eaves + 1.5, to, eaves + thick, middle, ridge + thick, from, eaves + thick],
    roof,
  );
  const bright = evening.side < 0 ? from : to;
  strokeLine(canvas, [bright, eaves], [middle, ridge], [wide * 0.02, wide * 0.02], scale(wall, 1.12));
  if (random.chance(0.6)) {
    const x = middle + wide * random.range(-0.3, 0.3);
    const top = ridge + wide * 0.02;
    fillPolygon(canvas, [x, eaves, x, top, x + wide * 0.09, top, x + wide * 0.09, eaves], roof);
  }
  const columns = Math.max(2, Math.min(5, Math.round(wide / (scene.side * 0.012))));
  const half = [wide / columns / 2.6, high / floors / 3.1] as const;
  for (let floor = 0; floor < floors; floor += 1) {
    const y = base - (high * (floor + 0.55)) / floors;
    for (let column = 0; column < columns; column += 1) {
      drawWindow(canvas, evening, [from + (wide * (column + 0.5)) / columns, y], half, row.far, random);
    }
  }
  if (random.chance(0.5)) {
    drawWindow(
      canvas,
      evening,
      [middle, mix(eaves, ridge, 0.35)],
      [wide * 0.07, wide * 0.09],
      row.far,
      random,
    );
  }
}

function drawWindow(
  canvas: Canvas,
  evening: Evening,
  [x, y]: readonly [number, number],
  [halfWidth, halfHeight]: readonly [number, number],
  far: number,
  random: Random,
): void {
  const on = random.unit() < evening.lit;
  const warm = random.range(0.55, 1.25);
  const glass = on ? scale(evening.lamp, warm * 1.15 * (1 - far * 0.5)) : scale(evening.ambient, 0.28);
  const w = halfWidth * 0.8;
  const points = [x - w, y - halfHeight, x + w, y - halfHeight, x + w, y + halfHeight, x - w, y + halfHeight];
  fillPolygon(canvas, points, glass, on ? 1 : 0.75);
  if (on && random.chance(0.4)) addGlow(canvas, x, y, halfHeight * 3, scale(evening.lamp, 0.1));
}

function drawChurch(scene: Scene, evening: Evening, row: Row, wall: Rgb, random: Random): void {
  const { canvas } = scene;
  const { from, to, base } = row;
  const wide = (to - from) * 0.42;
  const middle = (from + to) / 2;
  const high = row.house * random.range(1.7, 2.3);
  const spire = high + row.house * random.range(1, 1.6);
  const pale = blend(wall, scale(evening.ambient, 0.9), 0.35);
  const roof = scale(evening.ambient, 0.14);
  fillPolygon(
    canvas,
    [
      middle - wide / 2,
      base,
      middle - wide / 2,
      base - high,
      middle + wide / 2,
      base - high,
      middle + wide / 2,
      base,
    ],
    pale,
  );
  fillPolygon(
    canvas,
    [middle - wide * 0.6, base - high, middle, base - spire, middle + wide * 0.6, base - high],
    roof,
  );
  drawWindow(
    canvas,
    { ...evening, lit: 0.8 },
    [middle, base - high * 0.8],
    [wide * 0.16, wide * 0.26],
    0,
    random,
  );
}

/** A stone quay with street lamps along its edge. */
export function drawQuay(scene: Scene, evening: Evening, row: Row, random: Random): void {
  const { canvas, side } = scene;
  const { from, to, base } = row;
  const high = side * 0.012;
  const stone = scale(evening.ambient, 0.2);
  fillPolygon(
    canvas,
    [from, base + high, from, base - high * 0.4, to, base - high * 0.4, to + high, base + high],
    stone,
  );
  const gap = side * random.range(0.05, 0.075);
  for (let x = from + gap * random.unit(); x < to; x += gap * random.range(0.8, 1.25)) {
    const tall = side * 0.03;
    strokeLine(canvas, [x, base], [x, base - tall], [1.2, 1], scale(evening.ambient, 0.08));
    if (random.unit() > 0.35 + evening.lit) continue;
    addGlow(canvas, x, base - tall, side * 0.0032, scale(evening.lamp, 5));
    addGlow(canvas, x, base - tall * 0.8, side * 0.022, scale(evening.lamp, 0.2));
  }
}

/** A lighthouse on its rock; by night its beam reaches across the sky. */
export function drawLighthouse(scene: Scene, evening: Evening, x: number, base: number, high: number): void {
  const { canvas } = scene;
  drawRock(scene, evening, x, base, high);
  const foot = base - high * 0.16;
  drawTower(scene, evening, x, foot, high);
  const top = foot - high * 0.72;
  const dark = scale(evening.ambient, 0.1);
  const block = (half: number, from: number, to: number): number[] => {
    const [w, a, b] = [half * high, top - from * high, top - to * high];
    return [x - w, a, x - w, b, x + w, b, x + w, a];
  };
  fillPolygon(canvas, block(0.085, 0, 0.02), dark);
  fillPolygon(canvas, block(0.05, 0.02, 0.12), scale(evening.lamp, 1.5));
  fillPolygon(
    canvas,
    [x - high * 0.07, top - high * 0.12, x, top - high * 0.19, x + high * 0.07, top - high * 0.12],
    dark,
  );
  const lamp = top - high * 0.07;
  drawBeam(scene, evening, x, lamp, high);
  addGlow(canvas, x, lamp, high * 0.035, scale(evening.lamp, 4));
  addGlow(canvas, x, lamp, high * 0.3, scale(evening.lamp, 0.3 * evening.lit));
}

function drawRock(scene: Scene, evening: Evening, x: number, base: number, high: number): void {
  const random = scene.random('rock');
  const points: number[] = [];
  for (let i = 0; i <= 16; i += 1) {
    const t = i / 8 - 1;
    points.push(x + t * high * 0.75, base + 2 - (1 - t * t) * high * random.range(0.1, 0.24));
  }
  fillPolygon(
    scene.canvas,
    [x - high * 0.8, base + 3, ...points, x + high * 0.8, base + 3],
    scale(evening.ambient, 0.1),
  );
}

function drawTower(scene: Scene, evening: Evening, x: number, foot: number, high: number): void {
  const white = scale(evening.ambient, 1.35);
  const red = multiply(scene.tint('key', [0.55, 0.18, 28]), scale(evening.ambient, 1.6));
  const bands = 5;
  for (let i = 0; i < bands; i += 1) {
    const a = i / bands;
    const b = (i + 1) / bands;
    const wa = mix(0.105, 0.07, a) * high;
    const wb = mix(0.105, 0.07, b) * high;
    const ya = foot - a * high * 0.72;
    const yb = foot - b * high * 0.72;
    fillPolygon(scene.canvas, [x - wa, ya, x - wb, yb, x + wb, yb, x + wa, ya], (px) => {
      const round = smooth(-1, 1, (evening.side * (px - x)) / (high * 0.1));
      return scale(i % 2 === 0 ? white : red, 0.5 + 0.75 * round);
    });
  }
}

function drawBeam({ canvas, width }: Scene, evening: Evening, x: number, lamp: number, high: number): void {
  const light = scale(evening.lamp, 0.07 * evening.lit);
  const reach = x - evening.side * width;
  fillPolygon(
    canvas,
    [x, lamp - 1, reach, lamp - high * 0.85, reach, lamp - high * 0.1, x, lamp + 1],
    (px, py) => {
      const at = (py * canvas.width + px) * 3;
      const fade = 1 / (1 + (4 * Math.abs(px - x)) / width);
      return add([canvas.light[at]!, canvas.light[at + 1]!, canvas.light[at + 2]!], scale(light, fade));
    },
  );
}
