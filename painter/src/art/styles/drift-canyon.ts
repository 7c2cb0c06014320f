import { blend } from '../color.ts';
import { createField } from '../field.ts';
import { clamp, mix, smooth, unit } from '../math.ts';
import { castPaperShadows, createPaper } from '../paper.ts';
import type { Scene } from '../scene.ts';
import { driftPalette } from './drift-palettes.ts';

/** A stack of paper with a winding hole cut through it, each sheet a little less far: a canyon seen from above. */
export function paintCanyon(scene: Scene): void {
  const { width, height, canvas } = scene;
  const random = scene.random('canyon');
  const palette = driftPalette(scene);
  const sheets = Math.round(clamp(random.range(8, 13) + scene.mood('density', 0) * 4, 5, 17));
  const depth = canyonDepth(scene);
  const field = createField(width, 0, height, 2, (x, y) => clamp(depth(x, y), 0, 0.999) * sheets);
  scene.tick(0.35);
  const paper = createPaper(scene);
  const glow = random.chance(0.5);
  const mist = scene.mood('mist', 0);
  const colors = Array.from({ length: sheets + 1 }, (_, i) => {
    const t = 1 - i / (sheets - 1);
    const color = palette.at(mix(0.02, 1, unit(t)));
    const deepest = glow && i === 0 ? palette.accent : color;
    return blend(deepest, palette.at(0), mist * unit(t) * 0.7);
  });
  for (let y = 0; y < height; y += 1) {
    if ((y & 31) === 0) scene.tick(0.35 + (0.4 * y) / height);
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const value = field.values[at]!;
      const level = Math.floor(value);
      const dx = field.values[x < width - 1 ? at + 1 : at]! - field.values[x > 0 ? at - 1 : at]!;
      const dy = field.values[y < height - 1 ? at + width : at]! - field.values[y > 0 ? at - width : at]!;
      const slope = Math.sqrt(dx * dx + dy * dy) * 0.5 + 1e-6;
      // Half a pixel on either side of a cut belongs to both sheets.
      const inside = (value - level) / slope;
      const share = level > 0 ? unit(inside + 0.5) : 1;
      const upper = colors[level]!;
      const lower = colors[Math.max(0, level - 1)]!;
      const rim = 1 + 0.16 * smooth(2.4, 0.4, inside);
      for (let c = 0; c < 3; c += 1) canvas.light[at * 3 + c] = mix(lower[c]!, upper[c]! * rim, share);
      paper.level[at] = (level - 1 + share) * 0.8;
    }
  }
  const reach = scene.side * random.range(0.03, 0.055);
  const side = random.chance(0.5) ? 1 : -1;
  castPaperShadows(paper, { strength: 0.75, reach, offsetX: side * reach * 0.5, offsetY: reach * 0.6 });
}

/** 0 in the deepest place … 1 on the top sheet. */
function canyonDepth(scene: Scene): (x: number, y: number) => number {
  const random = scene.random('course');
  const noise = scene.noise('course');
  const round = random.chance(0.4);
  const cx = scene.width * random.range(0.32, 0.68);
  const cy = scene.height * random.range(0.32, 0.68);
  const turn = random.range(-0.6, 0.6);
  const calm = scene.mood('calm', 0.35);
  const bend = mix(1.3, 0.6, calm);
  const octaves = 2 + Math.round(scene.detail);
  const rough = mix(0.1, 0.045, calm);
  const size = Math.sqrt(scene.width * scene.height);
  return (px, py) => {
    const x = (px - cx) / size;
    const y = (py - cy) / size;
    const wx = x + noise.at(x * 1.7 + 3, y * 1.7) * 0.2 * bend;
    const wy = y + noise.at(x * 1.7, y * 1.7 + 9) * 0.2 * bend;
    const ragged = noise.fbm(wx * 3.1, wy * 3.1 + 20, octaves) * rough * 3;
    if (round) return Math.sqrt(wx * wx * 1.2 + wy * wy) * 1.75 + ragged - 0.05;
    const along = wy + wx * turn;
    const across = wx - along * turn + noise.at(along * 1.6, 31) * 0.42 * bend;
    return Math.abs(across) * 1.6 + ragged + 0.02 + 0.25 * along * turn;
  };
}
