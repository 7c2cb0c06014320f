import { addGlow } from './canvas.ts';
import type { Canvas } from './canvas.ts';
import { scale } from './color.ts';
import type { Rgb } from './color.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';
import { fillPolygon, strokeLine } from './shapes.ts';
import type { Paint } from './shapes.ts';

/** A spruce with tiers of drooping branches. Its two sides differ, and so do any two trees. */
export function drawSpruce(
  canvas: Canvas,
  x: number,
  base: number,
  height: number,
  random: Random,
  paint: Paint,
): void {
  const tiers = Math.max(5, Math.min(26, Math.round(height / 7)));
  const width = height * random.range(0.15, 0.23);
  const lean = random.range(-0.02, 0.02) * height;
  const side = (sign: number): number[] => {
    const points: number[] = [];
    for (let i = 1; i <= tiers; i += 1) {
      const t = i / tiers;
      const reach = width * (0.08 + 0.92 * t) * random.range(0.68, 1.12);
      const y = base - height * (1 - t * 0.94);
      const trunk = x + lean * (1 - t);
      points.push(trunk + sign * reach, y + height * 0.018);
      points.push(trunk + sign * reach * random.range(0.3, 0.5), y - height * 0.012);
    }
    return points;
  };
  const right = side(1);
  const left = side(-1);
  const points = [x + lean, base - height, ...right, x + width * 0.06, base, x - width * 0.06, base];
  for (let i = left.length - 2; i >= 0; i -= 2) points.push(left[i]!, left[i + 1]!);
  fillPolygon(canvas, points, paint);
}

/** A gliding bird: two bent wings. */
function drawBird(canvas: Canvas, x: number, y: number, span: number, bend: number, paint: Paint): void {
  const points = [
    x - span,
    y - span * 0.1 * bend,
    x - span * 0.5,
    y - span * 0.34 * bend,
    x,
    y,
    x + span * 0.5,
    y - span * 0.36 * bend,
    x + span,
    y - span * 0.06 * bend,
    x + span * 0.48,
    y - span * 0.22 * bend,
    x,
    y + span * 0.12,
    x - span * 0.48,
    y - span * 0.2 * bend,
  ];
  fillPolygon(canvas, points, paint);
}

/** A loose flock, larger and lower towards its front. */
export function drawFlock(
  canvas: Canvas,
  x: number,
  y: number,
  span: number,
  random: Random,
  paint: Paint,
): void {
  const count = random.int(5, 11);
  for (let i = 0; i < count; i += 1) {
    const size = span * random.range(0.35, 1);
    drawBird(
      canvas,
      x + random.gauss() * span * 5,
      y + random.gauss() * span * 2.2,
      size,
      random.range(0.6, 1.5),
      paint,
    );
  }
}

interface Stem {
  x: number;
  base: number;
  height: number;
  bloom: Rgb;
  stalk: Rgb;
}

/** A wild flower seen from the side: a bent stalk with a leaf or two and a fan of petals. */
function drawFlower(canvas: Canvas, { x, base, height, bloom, stalk }: Stem, random: Random): void {
  const bend = random.range(-0.22, 0.22) * height;
  const midX = x + bend * 0.3;
  const midY = base - height * 0.55;
  const topX = x + bend;
  const topY = base - height;
  const thick = Math.max(1, height * 0.014);
  strokeLine(canvas, [x, base], [midX, midY], [thick * 1.4, thick], stalk);
  strokeLine(canvas, [midX, midY], [topX, topY], [thick, thick * 0.7], stalk);
  const leaf = random.range(0.2, 0.45);
  const sign = random.chance(0.5) ? 1 : -1;
  const leafX = x + bend * 0.3 * leaf;
  const leafY = base - height * leaf;
  fillPolygon(
    canvas,
    [
      leafX,
      leafY,
      leafX + sign * height * 0.1,
      leafY - height * 0.11,
      leafX + sign * height * 0.2,
      leafY - height * 0.1,
      leafX + sign * height * 0.1,
      leafY - height * 0.05,
    ],
    stalk,
  );
  const size = height * random.range(0.09, 0.15);
  const petals = random.int(5, 7);
  for (let i = 0; i < petals; i += 1) {
    const turn = ((i + 0.5) / petals - 0.5) * 2;
    const shade = 0.6 + 0.4 * random.unit();
    const color: Rgb = [bloom[0] * shade, bloom[1] * shade, bloom[2] * shade];
    const tipX = topX + turn * size * 1.25;
    const tipY = topY - size * (1.25 - turn * turn * 0.75);
    const nx = (tipY - topY) * 0.24;
    const ny = (topX - tipX) * 0.24;
    const mx = topX + (tipX - topX) * 0.62;
    const my = topY + (tipY - topY) * 0.62;
    fillPolygon(canvas, [topX, topY, mx + nx, my + ny, tipX, tipY, mx - nx, my - ny], color);
  }
}

/** Wild flowers along a picture's lower edge, small ones behind and large ones in front. */
export function drawMeadow(scene: Scene, amount: number, blooms: readonly Rgb[], stalk: Rgb): void {
  const random = scene.random('meadow');
  const { width, height, side, canvas } = scene;
  const count = Math.round(amount * 55 * (width / side));
  for (let i = 0; i < count; i += 1) {
    const near = i / count;
    const tall = side * (0.04 + 0.13 * near * random.range(0.6, 1.15));
    const bloom = blooms[i % blooms.length]!;
    const shade = 0.55 + 0.45 * near;
    const stem = { x: random.unit() * width, base: height + side * 0.01, height: tall, stalk };
    drawFlower(canvas, { ...stem, bloom: [bloom[0] * shade, bloom[1] * shade, bloom[2] * shade] }, random);
  }
}

/** A small fire on the ground: three tongues, and the light that it throws around. */
export function drawCampfire(scene: Scene, x: number, base: number, high: number): void {
  const random = scene.random('campfire');
  const { canvas } = scene;
  const ember = scene.tint('key', [0.66, 0.19, 42]);
  const flame = scene.tint('key', [0.82, 0.17, 70]);
  addGlow(canvas, x, base, high * 3.2, scale(ember, 0.16), 0.55);
  addGlow(canvas, x, base - high * 0.3, high * 0.9, scale(ember, 0.5));
  for (let i = 0; i < 5; i += 1) {
    const at = x + random.range(-0.32, 0.32) * high;
    const tall = high * random.range(0.55, 1.1);
    const wide = high * random.range(0.09, 0.17);
    const bend = random.range(-0.12, 0.12) * high;
    const tip = [at + bend, base - tall];
    fillPolygon(
      canvas,
      [
        at - wide,
        base,
        at - wide * 0.7,
        base - tall * 0.4,
        ...tip,
        at + wide * 0.8,
        base - tall * 0.35,
        at + wide,
        base,
      ],
      scale(i % 2 === 0 ? flame : ember, 2.2),
      0.75,
    );
  }
}
