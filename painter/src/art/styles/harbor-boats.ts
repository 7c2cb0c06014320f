import { addGlow } from '../canvas.ts';
import type { Canvas } from '../canvas.ts';
import { blend, multiply, scale } from '../color.ts';
import type { Rgb } from '../color.ts';
import { mix } from '../math.ts';
import type { Random } from '../random.ts';
import { fillPolygon, strokeLine } from '../shapes.ts';
import type { Evening } from './harbor-town.ts';

type BoatKind = 'sloop' | 'trawler' | 'dinghy';

export interface Boat {
  kind: BoatKind;
  x: number;
  /** The row of its waterline. */
  y: number;
  size: number;
  hull: Rgb;
  sail: Rgb;
  /** −1 or 1: the way it faces. */
  way: number;
  sailing: boolean;
  seed: number;
}

/** Where a boat is drawn: upright in the picture, or upside down in the reflection. */
interface Place {
  canvas: Canvas;
  at(u: number, v: number): [number, number];
  points(...pairs: number[]): number[];
}

/** Draws a boat; `v` points up. With `mirrorShore`, the canvas is the reflection, which begins at that row. */
export function drawBoat(
  canvas: Canvas,
  boat: Boat,
  evening: Evening,
  random: Random,
  mirrorShore?: number,
): void {
  const flipped = mirrorShore !== undefined;
  const base = flipped ? boat.y - mirrorShore : boat.y;
  const at = (u: number, v: number): [number, number] => [
    boat.x + u * boat.way * boat.size,
    base + (flipped ? v : -v) * boat.size,
  ];
  const points = (...pairs: number[]): number[] => {
    const placed: number[] = [];
    for (let i = 0; i < pairs.length; i += 2) placed.push(...at(pairs[i]!, pairs[i + 1]!));
    return placed;
  };
  const draw = { sloop: drawSloop, trawler: drawTrawler, dinghy: drawDinghy }[boat.kind];
  draw({ canvas, at, points }, boat, evening, random);
}

function drawHull(place: Place, boat: Boat, evening: Evening, long: number, high: number): void {
  const lit = multiply(boat.hull, scale(evening.ambient, 1.35));
  const dark = scale(lit, 0.35);
  const l = long;
  const h = high;
  fillPolygon(
    place.canvas,
    place.points(
      -l,
      h * 0.82,
      -l * 0.86,
      0,
      l * 0.72,
      0,
      l * 0.9,
      h * 0.5,
      l * 1.08,
      h * 1.18,
      l * 0.5,
      h * 0.92,
      -l * 0.3,
      h * 0.78,
    ),
    lit,
  );
  fillPolygon(
    place.canvas,
    place.points(-l * 0.93, h * 0.34, -l * 0.86, 0, l * 0.72, 0, l * 0.83, h * 0.3),
    dark,
  );
  const stripe = scale(evening.ambient, 1.5);
  strokeLine(
    place.canvas,
    place.at(-l * 0.99, h * 0.72),
    place.at(l * 0.98, h * 0.86),
    [boat.size * 0.018, boat.size * 0.012],
    stripe,
  );
}

function drawSloop(place: Place, boat: Boat, evening: Evening, random: Random): void {
  const { canvas } = place;
  const rope = scale(evening.ambient, 0.12);
  const wood = multiply([0.45, 0.28, 0.16], evening.ambient);
  const tall = random.range(2.1, 2.5);
  if (boat.sailing) {
    const cloth = multiply(boat.sail, scale(evening.ambient, 1.5));
    const shade = scale(cloth, 0.62);
    fillPolygon(canvas, place.points(-0.04, 0.5, -0.04, tall * 0.97, -0.5, 1.25, -0.86, 0.56), cloth);
    fillPolygon(canvas, place.points(-0.04, 0.5, -0.04, tall * 0.97, -0.26, 1.4, -0.34, 0.54), shade, 0.5);
    fillPolygon(
      canvas,
      place.points(0.06, 0.42, 0.05, tall * 0.86, 0.5, 1, 0.96, 0.36),
      blend(cloth, shade, 0.35),
    );
  } else {
    fillPolygon(
      canvas,
      place.points(-0.03, 0.62, -0.85, 0.58, -0.86, 0.68, -0.03, 0.74),
      scale(evening.ambient, 0.5),
    );
  }
  strokeLine(canvas, place.at(0, 0.2), place.at(0, tall), [boat.size * 0.045, boat.size * 0.025], wood);
  strokeLine(canvas, place.at(0, 0.6), place.at(-0.9, 0.56), [boat.size * 0.03, boat.size * 0.025], wood);
  for (const [u, v] of [
    [1.02, 0.32],
    [-0.96, 0.3],
    [0.3, 0.28],
  ] as const) {
    strokeLine(
      canvas,
      place.at(0, tall * 0.97),
      place.at(u, v),
      [boat.size * 0.01, boat.size * 0.01],
      rope,
      0.8,
    );
  }
  fillPolygon(
    canvas,
    place.points(-0.5, 0.26, -0.42, 0.42, 0.1, 0.4, 0.2, 0.26),
    scale(evening.ambient, 0.7),
  );
  drawHull(place, boat, evening, 1, 0.3);
  drawLamp(place, evening, 0, tall, boat.size);
  if (random.unit() < evening.lit) drawPorthole(place, evening, -0.2, 0.34, boat.size);
}

function drawTrawler(place: Place, boat: Boat, evening: Evening, random: Random): void {
  const { canvas } = place;
  const white = scale(evening.ambient, 1.15);
  const dark = scale(evening.ambient, 0.12);
  strokeLine(canvas, place.at(-0.55, 0.3), place.at(-0.55, 1.75), [boat.size * 0.05, boat.size * 0.03], dark);
  strokeLine(canvas, place.at(-0.55, 1.5), place.at(-1.1, 0.75), [boat.size * 0.03, boat.size * 0.02], dark);
  strokeLine(canvas, place.at(-0.55, 1.7), place.at(1.02, 0.55), [boat.size * 0.01, boat.size * 0.01], dark);
  fillPolygon(canvas, place.points(-0.05, 0.3, -0.02, 0.98, 0.48, 0.98, 0.56, 0.3), white);
  fillPolygon(
    canvas,
    place.points(-0.1, 0.98, -0.08, 1.06, 0.56, 1.06, 0.52, 0.98),
    multiply(boat.hull, evening.ambient),
  );
  strokeLine(canvas, place.at(0.15, 1.05), place.at(0.15, 1.5), [boat.size * 0.03, boat.size * 0.02], dark);
  const lit = random.unit() < evening.lit + 0.3;
  const glass = lit ? scale(evening.lamp, 1.6) : scale(evening.ambient, 0.2);
  for (let i = 0; i < 3; i += 1) {
    const u = 0.06 + i * 0.15;
    fillPolygon(canvas, place.points(u, 0.66, u, 0.86, u + 0.11, 0.86, u + 0.11, 0.66), glass);
  }
  if (lit) addGlow(canvas, ...place.at(0.25, 0.76), boat.size * 0.4, scale(evening.lamp, 0.15));
  drawHull(place, boat, evening, 1.1, 0.42);
  drawLamp(place, evening, -0.55, 1.78, boat.size);
}

function drawDinghy(place: Place, boat: Boat, evening: Evening, random: Random): void {
  const oar = scale(evening.ambient, 0.2);
  drawHull(place, boat, evening, 0.75, 0.2);
  const reach = mix(0.5, 0.9, random.unit());
  strokeLine(
    place.canvas,
    place.at(0.1, 0.18),
    place.at(-reach, 0.05),
    [boat.size * 0.02, boat.size * 0.035],
    oar,
  );
}

function drawLamp(place: Place, evening: Evening, u: number, v: number, size: number): void {
  const [x, y] = place.at(u, v + 0.03);
  addGlow(place.canvas, x, y, Math.max(1.2, size * 0.03), scale(evening.lamp, 4 * evening.lit + 0.4));
  addGlow(place.canvas, x, y, size * 0.22, scale(evening.lamp, 0.16 * evening.lit));
}

function drawPorthole(place: Place, evening: Evening, u: number, v: number, size: number): void {
  addGlow(place.canvas, ...place.at(u, v), Math.max(1.2, size * 0.035), scale(evening.lamp, 2));
}
