import { createCanvas, blur } from './canvas.ts';
import type { Rgb } from './color.ts';
import { createField } from './field.ts';
import { exp, mix, smooth, unit } from './math.ts';
import type { Scene } from './scene.ts';
import { fillPolygon } from './shapes.ts';

/**
 * Cut paper: sheets laid over each other from back to front. Every pixel keeps the level of its sheet. In the end, a
 * sheet is shaded where higher sheets around it block the light.
 */
export interface Paper {
  readonly scene: Scene;
  readonly level: Float32Array;
}

export function createPaper(scene: Scene): Paper {
  return { scene, level: new Float32Array(scene.width * scene.height) };
}

/** The color of a sheet at a pixel; `depth` is how far below its edge, in pixels. */
export type SheetPaint = (x: number, y: number, depth: number, color: Float32Array) => void;

/**
 * Lays a sheet that covers everything below an edge, one height for each pixel column.
 *
 * @param hidden for each pixel column the row below which nearer sheets will cover this one, so it is not painted there
 */
export function laySheet(
  paper: Paper,
  edge: Float32Array,
  hidden: Float32Array,
  level: number,
  paint: SheetPaint,
): void {
  const { width, height, canvas } = paper.scene;
  const color = new Float32Array(3);
  const reach = Math.round(paper.scene.side / 60);
  for (let x = 0; x < width; x += 1) {
    const top = edge[x]!;
    const steep = steepness(slopeOf(edge, x, 1));
    // Depth uses the edge's slope over a longer distance, because a ragged edge would show as stripes in the sheet.
    const large = steepness(slopeOf(edge, x, reach));
    const last = Math.min(height - 1, Math.ceil(hidden[x]!) + 2);
    for (let y = Math.max(0, Math.floor(top - 1)); y <= last; y += 1) {
      const share = unit((y + 0.5 - top) * steep + 0.5);
      if (share <= 0) continue;
      paint(x, y, (y + 0.5 - top) * large, color);
      const at = y * width + x;
      for (let c = 0; c < 3; c += 1)
        canvas.light[at * 3 + c]! += (color[c]! - canvas.light[at * 3 + c]!) * share;
      paper.level[at]! += (level - paper.level[at]!) * share;
    }
  }
}

/** How much shorter the way across an edge is than the way straight down. */
function steepness(slope: number): number {
  return 1 / Math.sqrt(1 + slope * slope);
}

function slopeOf(edge: Float32Array, x: number, reach: number): number {
  const before = Math.max(0, x - reach);
  const after = Math.min(edge.length - 1, x + reach);
  return (edge[after]! - edge[before]!) / (after - before);
}

/** Lays a shape cut out of one color. */
export function layShape(paper: Paper, points: readonly number[], level: number, color: Rgb): void {
  const { canvas } = paper.scene;
  fillPolygon(canvas, points, color);
  const { width } = canvas;
  // A second, invisible fill visits the same pixels and sets their level.
  const mask = (x: number, y: number): Rgb => {
    paper.level[y * width + x] = level;
    return color;
  };
  fillPolygon(canvas, points, mask, 0);
}

export interface Shadows {
  /** How dark a sheet gets right under the edge of one a level higher, 0 … 1. */
  strength: number;
  /** How far shadows reach, in pixels. */
  reach: number;
  /** Which way they fall, in pixels. */
  offsetX: number;
  offsetY: number;
}

/** Shades all sheets by the mean level around them, once with a small and once with a large reach, and adds a paper texture. */
export function castPaperShadows({ scene, level }: Paper, shadows: Shadows): void {
  const { width, height, canvas } = scene;
  const close = softLevels(level, width, height, shadows.reach * 0.3);
  const wide = softLevels(level, width, height, shadows.reach);
  const noise = scene.noise('paper');
  const octaves = 3 + Math.round(scene.detail * 2);
  const tooth = createField(width, 0, height, 2, (x, y) => {
    const scale = 1024 / scene.side;
    return (
      noise.fbm(x * 0.05 * scale, y * 0.05 * scale, octaves) * 0.7 +
      noise.at(x * 0.012 * scale, y * 0.35 * scale) * 0.3
    );
  });
  for (let y = 0; y < height; y += 1) {
    if ((y & 31) === 0) scene.tick(0.75 + (0.25 * y) / height);
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const own = level[at]!;
      const near = sampleSoft(close, x - shadows.offsetX * 0.3, y - shadows.offsetY * 0.3) - own;
      const far = sampleSoft(wide, x - shadows.offsetX, y - shadows.offsetY) - own;
      const shade = 1 - exp(-1.5 * shadows.strength * (Math.max(0, near) * 0.9 + Math.max(0, far) * 1.1));
      // An edge that stands above its surroundings catches the light.
      const rim = smooth(0.25, 0.75, -near) * 0.1;
      const gain = (1 - shade) * (1 + rim) * (1 + 0.075 * tooth.values[at]!);
      canvas.light[at * 3]! *= gain;
      // A shadow on paper is lit by the paper around it, so it is warmer than black.
      canvas.light[at * 3 + 1]! *= gain * (1 - shade * 0.06);
      canvas.light[at * 3 + 2]! *= gain * (1 - shade * 0.02);
    }
  }
}

interface SoftLevels {
  width: number;
  height: number;
  values: Float32Array;
}

function softLevels(level: Float32Array, width: number, height: number, reach: number): SoftLevels {
  const small = createCanvas(width / 4, height / 4);
  for (let y = 0; y < small.height; y += 1) {
    for (let x = 0; x < small.width; x += 1) {
      let sum = 0;
      for (let i = 0; i < 4; i += 1) sum += level[(y * 4 + i) * width + x * 4 + i]!;
      small.light[(y * small.width + x) * 3] = sum / 4;
    }
  }
  blur(small, Math.max(1, reach / 8));
  const values = new Float32Array(small.width * small.height);
  for (let i = 0; i < values.length; i += 1) values[i] = small.light[i * 3]!;
  return { width: small.width, height: small.height, values };
}

function sampleSoft({ width, height, values }: SoftLevels, x: number, y: number): number {
  const sx = Math.min(width - 1.001, Math.max(0, (x + 0.5) / 4 - 0.5));
  const sy = Math.min(height - 1.001, Math.max(0, (y + 0.5) / 4 - 0.5));
  const i = Math.floor(sx);
  const j = Math.floor(sy);
  const at = j * width + i;
  const fx = sx - i;
  const top = mix(values[at]!, values[at + 1]!, fx);
  return top + (mix(values[at + width]!, values[at + width + 1]!, fx) - top) * (sy - j);
}
