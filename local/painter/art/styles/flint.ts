import { blend, scale } from '../colour.ts';
import { createField } from '../field.ts';
import { mix, smooth } from '../math.ts';
import type { Scene } from '../scene.ts';
import { paintFacets } from './facets.ts';

/** Stone that has split along planes, in raking light. */
export function paintFlint(scene: Scene): void {
  const random = scene.random('flint');
  const noise = scene.noise('flint');
  const stone = scene.tint('ambient', [0.5, 0.015, 240]);
  const pale = scene.tint('accent', [0.82, 0.025, 70]);
  const dark = scene.tint('ground', [0.2, 0.02, 270]);
  const side = random.chance(0.5) ? 1 : -1;
  const steep = random.range(0.45, 0.7);
  paintFacets(scene, {
    count: Math.round(random.range(9, 15) * (1 + scene.mood('density', 0) * 0.5)),
    height: (u, v) => noise.ridged(u * 1.4, v * 1.4, 3) * steep + noise.at(u * 5, v * 5) * 0.06,
    colour: ([nx, ny, nz], u, v, own) => {
      const lit = Math.max(0, nx * 0.62 * side - ny * 0.62 + nz * 0.48);
      const tone = smooth(-0.4, 0.5, noise.fbm(u * 2, v * 2 + 9, 2)) * 0.7 + own * 0.12;
      return scale(blend(blend(dark, stone, 0.4 + tone * 0.6), pale, lit * lit * 0.6), 0.25 + 1.25 * lit);
    },
  });
  weather(scene);
}

/** Pits, veins and grain over the flat facets. */
function weather(scene: Scene): void {
  const { width, height, side, canvas } = scene;
  const noise = scene.noise('grain');
  const vein = scene.tint('key', [0.78, 0.1, 70]);
  const octaves = 4 + Math.round(scene.detail * 2);
  const grain = createField(width, 0, height, 2, (x, y) =>
    noise.fbm((x / side) * 22, (y / side) * 22, octaves),
  );
  const line = createField(width, 0, height, 2, (x, y) =>
    noise.fbm((x / side) * 1.8, (y / side) * 1.8 + 50, octaves),
  );
  for (let i = 0; i < width * height; i += 1) {
    if (i % (width * 32) === 0) scene.tick(0.7 + (0.3 * i) / (width * height));
    const tone = 1 + grain.values[i]! * mix(0.3, 0.45, scene.detail);
    const bright = smooth(0.012, 0.002, Math.abs(line.values[i]!)) * 0.55;
    for (let c = 0; c < 3; c += 1)
      canvas.light[i * 3 + c] = canvas.light[i * 3 + c]! * tone * (1 - bright) + vein[c]! * bright;
  }
}
