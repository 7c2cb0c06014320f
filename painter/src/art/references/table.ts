import { blur, shrink } from '../canvas.ts';
import type { Canvas } from '../canvas.ts';
import { spread } from '../finish.ts';
import { mix, smooth, unit } from '../math.ts';
import { createNoise } from '../noise.ts';
import type { Table } from './placement.ts';
import { meanLight, sample } from './sample.ts';

/**
 * Blurs a scene a little and paints a stone tabletop in front of it. The stone reflects the scene, less clearly towards
 * the viewer.
 */
export function paintTable(canvas: Canvas, { edge }: Table, seed: number, tick: () => void): void {
  const { width, height, light } = canvas;
  const side = Math.min(width, height);
  const coarseness = side < 1024 ? 2 : 4;
  const soft = shrink(canvas, coarseness);
  tick();
  blur(soft, Math.max(1, side / 190 / coarseness));
  tick();
  spread(canvas, soft, coarseness, 0.9);
  tick();
  const near = shrink(canvas, 4);
  blur(near, side / 420, side / 160);
  const far = shrink(near, 4);
  blur(far, side / 420, side / 140);
  tick();
  const noise = createNoise(seed);
  const mean = meanLight(canvas);
  const clear = new Float32Array(3);
  const dim = new Float32Array(3);
  for (let y = edge; y < height; y += 1) {
    if ((y & 31) === 0) tick();
    const t = (y + 0.5 - edge) / (height - edge);
    const mirrored = edge - (y - edge) * (1 + 0.5 * t);
    const gloss = mix(0.62, 0.26, Math.sqrt(t));
    // The very edge is rounded and catches light from above.
    const rim = 1 + 0.5 * unit(1 - (y - edge) / (side / 300));
    const depth = 1 / (0.3 + t);
    for (let x = 0; x < width; x += 1) {
      sample(near, (x + 0.5) / 4 - 0.5, mirrored / 4 - 0.5, clear);
      sample(far, (x + 0.5) / 16 - 0.5, mirrored / 16 - 0.5, dim);
      const across = ((x - width / 2) / side) * depth;
      const grain = 1 + 0.09 * noise.fbm(across * 26, depth * 40, 3);
      const at = (y * width + x) * 3;
      const cloudy = smooth(0, 0.7, t);
      for (let i = 0; i < 3; i += 1) {
        const seen = clear[i]! + (dim[i]! - clear[i]!) * cloudy;
        light[at + i] = (seen * gloss + mean[i]! * 0.12 + 0.004) * grain * rim;
      }
    }
  }
}
