import { addGlow, addPoint } from '../canvas.ts';
import { scale } from '../colour.ts';
import { createField } from '../field.ts';
import { cos, exp, mix, sin, smooth } from '../math.ts';
import type { Scene } from '../scene.ts';

/** A bed of coals below, smoke above, and sparks that the heat carries up. */
export function paintEmber(scene: Scene): void {
  const bed = scene.height * scene.random('bed').range(0.66, 0.8);
  paintSmoke(scene, bed);
  scene.tick(0.4);
  paintCoals(scene, bed);
  scene.tick(0.7);
  paintSparks(scene, bed);
}

function paintSmoke(scene: Scene, bed: number): void {
  const { width, height, side, canvas } = scene;
  const noise = scene.noise('smoke');
  const octaves = 4 + Math.round(scene.detail * 2);
  const dark = scene.tint('ambient', [0.16, 0.02, 280]);
  const lit = scene.tint('key', [0.5, 0.13, 45]);
  const smoke = createField(width, 0, height, 3, (x, y) => {
    const u = x / side;
    const v = y / side;
    const bend = noise.at(u * 1.4, v * 0.9 + 7) * 0.5;
    return noise.fbm(u * 2.1 + bend, v * 1.3 + bend, octaves) + 0.35 * noise.at(u * 0.9 + bend, v * 0.6);
  });
  for (let y = 0; y < height; y += 1) {
    const glow = exp(-Math.abs(y - bed) / (height * 0.22));
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const thick = smooth(-0.35, 0.6, smoke.values[at]!);
      for (let c = 0; c < 3; c += 1)
        canvas.light[at * 3 + c] = dark[c]! * (0.25 + thick) + lit[c]! * glow * (0.15 + thick * 0.7);
    }
  }
}

/** Charred lumps with fire in the cracks between them: the distance to the nearest two of scattered points. */
function paintCoals(scene: Scene, bed: number): void {
  const { width, height, side, canvas } = scene;
  const noise = scene.noise('coals');
  const ember = scene.tint('key', [0.66, 0.2, 40]);
  const core = scene.tint('key', [0.88, 0.15, 80]);
  const coal = scene.tint('ground', [0.2, 0.015, 50]);
  for (let y = Math.floor(bed - side * 0.05); y < height; y += 1) {
    const depth = (y - bed) / (height - bed);
    const size = side * mix(0.03, 0.09, Math.max(0, depth));
    for (let x = 0; x < width; x += 1) {
      const u = x / size + noise.at(x / size, y / size) * 0.35;
      const v = (y / size) * 1.5 + noise.at(x / size + 9, y / size) * 0.35;
      const gap = cellGap(noise.cell, u, v);
      const rough = noise.fbm(u * 1.7, v * 1.7, 3);
      const heat = smooth(-0.35, 0.4, noise.fbm((x / side) * 3, (y / side) * 4, 3)) * exp(-gap * gap * 30);
      const share = smooth(-0.05, 0.05, depth + noise.at((x / side) * 9, 2) * 0.05);
      const at = (y * width + x) * 3;
      for (let c = 0; c < 3; c += 1) {
        const value =
          coal[c]! * (0.5 + rough * 0.6) * smooth(0, 0.3, gap) +
          ember[c]! * heat * 1.6 +
          core[c]! * heat * heat * 1.8;
        canvas.light[at + c]! += (value - canvas.light[at + c]!) * share;
      }
    }
  }
}

/** How far a point is from the border between its nearest two cell centres. */
function cellGap(cell: (x: number, y: number) => number, u: number, v: number): number {
  let first = 9;
  let second = 9;
  for (let j = Math.floor(v) - 1; j <= Math.floor(v) + 1; j += 1) {
    for (let i = Math.floor(u) - 1; i <= Math.floor(u) + 1; i += 1) {
      const dx = i + cell(i, j) - u;
      const dy = j + cell(j + 57, i) - v;
      const distance = Math.sqrt(dx * dx + dy * dy);
      if (distance < first) {
        second = first;
        first = distance;
      } else if (distance < second) second = distance;
    }
  }
  return second - first;
}

function paintSparks(scene: Scene, bed: number): void {
  const { width, side, canvas } = scene;
  const random = scene.random('sparks');
  const noise = scene.noise('draught');
  const count = Math.round(
    mix(150, 320, scene.detail) * (1 + scene.mood('density', 0) * 0.6) * (width / side),
  );
  const hot = scene.tint('key', [0.85, 0.16, 70]);
  for (let i = 0; i < count; i += 1) {
    const rise = random.unit();
    let x = width * (0.5 + random.gauss() * 0.24);
    let y = bed - rise * rise * bed * 1.05;
    const bright = (0.4 + 1.6 * random.unit()) * (1.1 - rise);
    const steps = random.int(4, 26);
    for (let step = 0; step < steps; step += 1) {
      const turn = noise.at((x / side) * 3, (y / side) * 3) * 3;
      x += sin(turn) * side * 0.0016;
      y -= cos(turn * 0.5) * side * 0.0016;
      addPoint(canvas, x, y, scale(hot, bright * (1 - step / steps)));
    }
    if (random.chance(0.2)) addGlow(canvas, x, y, side * random.range(0.002, 0.006), scale(hot, bright));
  }
}
