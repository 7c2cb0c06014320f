import { addGlow, addPixel, addPoint } from './canvas.ts';
import { add, blend, luminance, ramp, scale } from './color.ts';
import type { Lch, Rgb } from './color.ts';
import { createField } from './field.ts';
import { exp, mix, smooth, unit } from './math.ts';
import type { Scene } from './scene.ts';
import type { Time } from './vocabulary.ts';

/** A sky's colors from the zenith to the horizon, and the light that its sun or moon sheds. */
export interface Sky {
  zenith: Rgb;
  middle: Rgb;
  horizon: Rgb;
  /** The light of the sun, or of the moon at night. */
  light: Rgb;
  night: number;
}

/** Colors of one kind of sky; `power` is how strong its sun or moon is. */
export interface SkyTone {
  zenith: Lch;
  middle: Lch;
  horizon: Lch;
  light: Lch;
  power: number;
}

/** For each time of day, the skies that it may have. */
export type SkyPalette = Record<Time, readonly SkyTone[]>;

export function skyTone(zenith: Lch, middle: Lch, horizon: Lch, light: Lch, power: number): SkyTone {
  return { zenith, middle, horizon, light, power };
}

export const naturalSky: SkyPalette = {
  dawn: [
    skyTone([0.46, 0.07, 262], [0.68, 0.07, 330], [0.88, 0.085, 62], [0.88, 0.09, 62], 1.6),
    skyTone([0.5, 0.06, 235], [0.74, 0.045, 200], [0.9, 0.07, 85], [0.9, 0.08, 80], 1.6),
    skyTone([0.44, 0.06, 285], [0.68, 0.085, 10], [0.86, 0.1, 45], [0.86, 0.1, 50], 1.5),
  ],
  noon: [
    skyTone([0.5, 0.12, 256], [0.7, 0.085, 240], [0.9, 0.03, 215], [0.96, 0.03, 95], 2.4),
    skyTone([0.58, 0.09, 235], [0.76, 0.06, 225], [0.92, 0.025, 190], [0.96, 0.03, 90], 2.3),
  ],
  dusk: [
    skyTone([0.28, 0.08, 280], [0.48, 0.105, 345], [0.77, 0.135, 55], [0.82, 0.14, 55], 1.5),
    skyTone([0.29, 0.075, 250], [0.5, 0.06, 225], [0.8, 0.1, 72], [0.84, 0.11, 68], 1.4),
    skyTone([0.34, 0.06, 262], [0.58, 0.085, 15], [0.82, 0.11, 48], [0.84, 0.12, 48], 1.5),
    skyTone([0.25, 0.06, 265], [0.4, 0.05, 285], [0.66, 0.1, 40], [0.78, 0.12, 45], 1.3),
    skyTone([0.33, 0.065, 220], [0.56, 0.06, 185], [0.84, 0.09, 95], [0.86, 0.1, 80], 1.5),
  ],
  night: [
    skyTone([0.14, 0.045, 268], [0.21, 0.055, 258], [0.31, 0.055, 240], [0.8, 0.03, 240], 0.35),
    skyTone([0.13, 0.035, 245], [0.2, 0.045, 225], [0.32, 0.05, 205], [0.8, 0.03, 220], 0.35),
  ],
};

/** The sky for the scene's time of day, in the colors that its prompt asks for. */
export function skyAt(scene: Scene, own: Time, palette: SkyPalette = naturalSky): Sky {
  const shares = scene.time(own);
  const sky = {
    zenith: [0, 0, 0] as Rgb,
    middle: [0, 0, 0] as Rgb,
    horizon: [0, 0, 0] as Rgb,
    light: [0, 0, 0] as Rgb,
  };
  const random = scene.random('sky');
  for (const [time, share] of Object.entries(shares) as [Time, number][]) {
    const colors = random.pick(palette[time]);
    sky.zenith = add(sky.zenith, scale(scene.tint('ambient', colors.zenith), share));
    sky.middle = add(sky.middle, scale(scene.tint('ambient', colors.middle), share));
    sky.horizon = add(sky.horizon, scale(scene.tint('ambient', colors.horizon), share));
    sky.light = add(sky.light, scale(scene.tint('ambient', colors.light), share * colors.power));
  }
  return { ...overcast(sky, scene.mood('storm', 0)), night: shares.night };
}

/** A storm makes a sky grayer and darker. */
function overcast(sky: Omit<Sky, 'night'>, storm: number): Omit<Sky, 'night'> {
  const dulled = (color: Rgb, loss: number): Rgb => {
    const gray = luminance(color) * 0.9;
    return scale(blend(color, [gray * 0.95, gray, gray * 1.08], storm * 0.6), 1 - loss * storm);
  };
  return {
    zenith: dulled(sky.zenith, 0.5),
    middle: dulled(sky.middle, 0.5),
    horizon: dulled(sky.horizon, 0.4),
    light: dulled(sky.light, 0.6),
  };
}

/** Fills rows 0 … `bottom` with the sky; the horizon's color lies at row `horizon`. */
export function paintSkyGradient(scene: Scene, sky: Sky, horizon: number, bottom: number): void {
  const { width, light } = scene.canvas;
  const colors = ramp([
    [0, sky.horizon],
    [0.32, sky.middle],
    [1, sky.zenith],
  ]);
  for (let y = 0; y < Math.min(bottom, scene.height); y += 1) {
    const t = unit((horizon - y) / horizon);
    const from = Math.floor(t * colors.last) * 3;
    const row = [colors.light[from]!, colors.light[from + 1]!, colors.light[from + 2]!] as const;
    for (let x = 0, at = y * width * 3; x < width; x += 1, at += 3) {
      light[at] = row[0];
      light[at + 1] = row[1];
      light[at + 2] = row[2];
    }
  }
}

/** Stars above the horizon: many faint ones, few bright ones, fewer in the haze low down. */
export function paintStars(scene: Scene, horizon: number, share: number): void {
  const random = scene.random('stars');
  const count = Math.round(((scene.width * horizon) / 620) * share * mix(0.8, 1.6, scene.detail));
  const size = scene.side / 1024;
  for (let i = 0; i < count; i += 1) {
    const x = random.unit() * scene.width;
    const height = random.unit();
    const rarity = random.unit();
    const warmth = random.range(-1, 1);
    const y = height * horizon;
    const brightness = (0.03 + 0.5 * rarity * rarity * rarity * rarity) * (1 - height * height * 0.8);
    const light: Rgb = [brightness * (1 + warmth * 0.22), brightness, brightness * (1 - warmth * 0.25)];
    if (rarity > 0.985) {
      addGlow(scene.canvas, x, y, (0.8 + 40 * (rarity - 0.985)) * size, scale(light, 2));
      addGlow(scene.canvas, x, y, 5 * size, scale(light, 0.07));
    } else addPoint(scene.canvas, x, y, scale(light, share));
  }
}

export interface Disc {
  x: number;
  y: number;
  radius: number;
  light: Rgb;
  /** How far the glow reaches, in radii. */
  halo: number;
}

/** The sun: a disc with soft edges inside a glow that is wide along the horizon. */
export function paintSun(scene: Scene, { x, y, radius, light, halo }: Disc): void {
  addGlow(scene.canvas, x, y, radius * halo, scale(light, 0.22), 0.75);
  addGlow(scene.canvas, x, y, radius * halo * 0.4, scale(light, 0.3));
  paintDisc(scene, x, y, radius, () => light);
}

/** The moon: maria, a darker limb, and a phase from full to crescent. */
export function paintMoon(scene: Scene, { x, y, radius, light, halo }: Disc, phase: number): void {
  const noise = scene.noise('moon');
  addGlow(scene.canvas, x, y, radius * halo, scale(light, 0.06));
  addGlow(scene.canvas, x, y, radius * 2, scale(light, 0.12));
  const offset = (1 - phase) * 0.8;
  paintDisc(scene, x, y, radius, (u, v) => {
    const maria = smooth(-0.25, 0.35, noise.fbm(u * 1.7 + 3, v * 1.7, 4));
    const limb = 1 - 0.35 * (u * u + v * v);
    const far = Math.sqrt((u - offset) * (u - offset) + (v + offset * 0.35) * (v + offset * 0.35));
    const lit = phase >= 0.98 ? 1 : smooth(0.96, 1.1, far);
    return scale(light, (0.62 + 0.38 * maria) * limb * lit);
  });
}

function paintDisc(
  scene: Scene,
  x: number,
  y: number,
  radius: number,
  color: (u: number, v: number) => Rgb,
): void {
  for (let py = Math.floor(y - radius - 1); py <= y + radius + 1; py += 1) {
    for (let px = Math.floor(x - radius - 1); px <= x + radius + 1; px += 1) {
      const dx = px + 0.5 - x;
      const dy = py + 0.5 - y;
      const share = smooth(radius + 1, radius - 1.5, Math.sqrt(dx * dx + dy * dy));
      if (share > 0) addPixel(scene.canvas, px, py, color(dx / radius, dy / radius), share);
    }
  }
}

export interface Clouds {
  horizon: number;
  /** 0 none … 1 overcast. */
  cover: number;
  /** Colors of the side towards the light and of the other. */
  lit: Rgb;
  shade: Rgb;
  /** Where the light is, in pixels. */
  lightX: number;
  lightY: number;
  /** How long clouds are drawn out sideways, about 1 … 3. */
  stretch: number;
}

/** Clouds on a flat layer high above, so they grow smaller and closer together towards the horizon. */
export function paintClouds(scene: Scene, clouds: Clouds): void {
  const noise = scene.noise('clouds');
  const { width, light } = scene.canvas;
  const rows = Math.min(scene.height, Math.floor(clouds.horizon));
  const octaves = 4 + Math.round(scene.detail * 2);
  const threshold = mix(0.32, -0.42, clouds.cover);
  const offset = scene.random('clouds').range(0, 100);
  const at = (x: number, y: number): number => {
    const above = (clouds.horizon - y) / clouds.horizon + 0.09;
    const u = (((x - width / 2) / scene.side) * (0.7 / above)) / clouds.stretch + offset;
    return noise.fbm(u, 1.15 / above + offset, octaves);
  };
  const step = 2;
  const density = createField(width, 0, rows, step, at);
  const reach = scene.side * 0.02;
  const towards = createField(width, 0, rows, 4, (x, y) => {
    const dx = clouds.lightX - x;
    const dy = clouds.lightY - y;
    const length = Math.sqrt(dx * dx + dy * dy) + 1;
    // The direction turns quickly close to the light. Shorter steps there prevent a dark blot.
    const share = (reach * Math.min(1, length / (reach * 6))) / length;
    return at(x + dx * share, y + dy * share * 0.5);
  });
  for (let y = 0; y < rows; y += 1) {
    const haze = smooth(0, 0.14, (clouds.horizon - y) / clouds.horizon);
    for (let x = 0; x < width; x += 1) {
      const i = y * width + x;
      const thick = smooth(threshold, threshold + 0.42, density.values[i]!);
      if (thick <= 0) continue;
      const facing = smooth(-0.14, 0.16, density.values[i]! - towards.values[i]!);
      const rim = facing * (1 - thick * 0.45);
      const share = thick * haze * 0.92;
      for (let c = 0; c < 3; c += 1) {
        const color = clouds.shade[c]! + (clouds.lit[c]! - clouds.shade[c]!) * rim;
        light[i * 3 + c]! += (color - light[i * 3 + c]!) * share;
      }
    }
  }
}

/** A glow above the horizon, as over a far town or after sunset. */
export function paintHorizonGlow(scene: Scene, horizon: number, x: number, reach: number, light: Rgb): void {
  const { width, light: out } = scene.canvas;
  const spread = scene.width * 0.45;
  for (let y = 0; y < Math.min(horizon, scene.height); y += 1) {
    const fall = exp(-(horizon - y) / reach);
    if (fall < 0.004) continue;
    for (let px = 0, at = y * width * 3; px < width; px += 1, at += 3) {
      const dx = (px - x) / spread;
      const share = fall / (1 + dx * dx * 2.2);
      out[at]! += light[0] * share;
      out[at + 1]! += light[1] * share;
      out[at + 2]! += light[2] * share;
    }
  }
}
