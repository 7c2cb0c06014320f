import type { Lch, Rgb } from '../color.ts';
import { scale } from '../color.ts';
import { mix } from '../math.ts';
import type { Scene } from '../scene.ts';
import type { Time } from '../vocabulary.ts';

/** From far and light to near and deep. */
const palettes: readonly (readonly Lch[])[] = [
  [
    [0.95, 0.035, 80],
    [0.88, 0.075, 68],
    [0.78, 0.12, 55],
    [0.64, 0.14, 40],
    [0.45, 0.11, 30],
    [0.3, 0.07, 20],
  ],
  [
    [0.95, 0.025, 150],
    [0.86, 0.055, 190],
    [0.72, 0.085, 205],
    [0.56, 0.095, 225],
    [0.4, 0.085, 245],
    [0.27, 0.06, 260],
  ],
  [
    [0.94, 0.03, 60],
    [0.86, 0.07, 25],
    [0.74, 0.1, 355],
    [0.58, 0.11, 325],
    [0.42, 0.1, 300],
    [0.28, 0.075, 285],
  ],
  [
    [0.95, 0.03, 95],
    [0.87, 0.06, 110],
    [0.74, 0.075, 135],
    [0.58, 0.075, 155],
    [0.42, 0.06, 170],
    [0.28, 0.04, 190],
  ],
  [
    [0.94, 0.04, 85],
    [0.85, 0.1, 75],
    [0.72, 0.13, 50],
    [0.58, 0.09, 350],
    [0.42, 0.085, 280],
    [0.28, 0.06, 265],
  ],
];

const hours: Record<Time, { power: number; night: number }> = {
  dawn: { power: 1, night: 0 },
  noon: { power: 1.15, night: 0 },
  dusk: { power: 0.8, night: 0.25 },
  night: { power: 0.42, night: 1 },
};

export interface DriftPalette {
  /** 0 far … 1 near. */
  at(depth: number): Rgb;
  /** A color from outside the row, for suns, sails and lines. */
  accent: Rgb;
  /** 0 day … 1 night. */
  night: number;
}

/** The colors of one picture: a row from far to near, turned towards night when it is night. */
export function driftPalette(scene: Scene): DriftPalette {
  const random = scene.random('palette');
  const row = random.pick(palettes);
  const flipped = random.chance(0.18);
  const shares = scene.time('noon');
  let power = 0;
  let night = 0;
  for (const [time, share] of Object.entries(shares) as [Time, number][]) {
    power += hours[time].power * share;
    night += hours[time].night * share;
  }
  const colors = row.map(([lightness, chroma, hue]) => {
    const cooled = mix(lightness, lightness * 0.62, night);
    return scale(scene.tint('ambient', [cooled, chroma, hue + night * 30]), mix(1, power, 0.6));
  });
  const accents: Lch[] = [
    [0.72, 0.18, 45],
    [0.82, 0.15, 80],
    [0.66, 0.17, 20],
    [0.74, 0.15, 60],
  ];
  return {
    at: (depth) => {
      const t = Math.min(0.9999, Math.max(0, flipped ? 1 - depth : depth)) * (colors.length - 1);
      const i = Math.floor(t);
      const a = colors[i]!;
      const b = colors[i + 1]!;
      const f = t - i;
      return [mix(a[0], b[0], f), mix(a[1], b[1], f), mix(a[2], b[2], f)];
    },
    accent: scene.tint('key', random.pick(accents)),
    night,
  };
}
