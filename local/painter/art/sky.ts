import { addGlow, addPixel, addPoint } from './canvas.ts';
import { add, ramp, scale } from './colour.ts';
import type { Lch, Rgb } from './colour.ts';
import { createField } from './field.ts';
import { exp, mix, smooth, unit } from './math.ts';
import type { Scene } from './scene.ts';
import type { Time } from './vocabulary.ts';

/** A sky's colours from the zenith to the horizon, and the light that its sun or moon sheds. */
export interface Sky {
  zenith: Rgb;
  middle: Rgb;
  horizon: Rgb;
  /** The light of the sun, or of the moon at night. */
  light: Rgb;
  night: number;
}

export type SkyPalette = Record<Time, { zenith: Lch; middle: Lch; horizon: Lch; light: Lch; power: number }>;

export const naturalSky: SkyPalette = {
  dawn: { zenith: [0.4, 0.075, 268], middle: [0.62, 0.085, 335], horizon: [0.86, 0.1, 62], light: [0.86, 0.1, 60], power: 1.6 },
  noon: { zenith: [0.5, 0.12, 256], middle: [0.7, 0.085, 240], horizon: [0.9, 0.03, 215], light: [0.96, 0.03, 95], power: 2.4 },
  dusk: { zenith: [0.26, 0.085, 284], middle: [0.46, 0.115, 345], horizon: [0.76, 0.145, 55], light: [0.8, 0.15, 52], power: 1.5 },
  night: { zenith: [0.14, 0.045, 268], middle: [0.21, 0.055, 258], horizon: [0.31, 0.055, 240], light: [0.8, 0.03, 240], power: 0.35 },
};

/** The sky for the scene's time of day, in the colours that its prompt asks for. */
export function skyAt(scene: Scene, own: Time, palette: SkyPalette = naturalSky): Sky {
  const shares = scene.time(own);
  const sky = { zenith: [0, 0, 0] as Rgb, middle: [0, 0, 0] as Rgb, horizon: [0, 0, 0] as Rgb, light: [0, 0, 0] as Rgb };
  for (const [time, share] of Object.entries(shares) as [Time, number][]) {
    if (share <= 0) continue;
    const colours = palette[time];
    sky.zenith = add(sky.zenith, scale(scene.tint('ambient', colours.zenith), share));
    sky.middle = add(sky.middle, scale(scene.tint('ambient', colours.middle), share));
    sky.horizon = add(sky.horizon, scale(scene.tint('ambient', colours.horizon), share));
    sky.light = add(sky.light, scale(scene.tint('ambient', colours.light), share * colours.power));
  }
  return { ...sky, night: shares.night };
}

/** Fills rows 0 … `bottom` with the sky; the horizon's colour lies at row `horizon`. */
export function paintSkyGradient(scene: Scene, sky: Sky, horizon: number, bottom: number): void {
  const { width, light } = scene.canvas;
  const colours = ramp([
    [0, sky.horizon],
    [0.32, sky.middle],
    [1, sky.zenith],
  ]);
  for (let y = 0; y < Math.min(bottom, scene.height); y += 1) {
    const t = unit((horizon - y) / horizon);
    const from = Math.floor(t * colours.last) * 3;
    const row = [colours.light[from]!, colours.light[from + 1]!, colours.light[from + 2]!] as const;
    for (let x = 0, at = y * width * 3; x < width; x += 1, at += 3) {
      light[at] = row[0];
      light[at + 1] = row[1];
      light[at + 2] = row[2];
    }
  }
}

/** Stars above the horizon, many faint and few bright, thinner in the haze low down. */
export function paintStars(scene: Scene, horizon: number, share: number): void {
  const random = scene.random('stars');
  const count = Math.round((scene.width * horizon) / 620 * share * mix(0.8, 1.6, scene.detail));
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

function paintDisc(scene: Scene, x: number, y: number, radius: number, colour: (u: number, v: number) => Rgb): void {
  for (let py = Math.floor(y - radius - 1); py <= y + radius + 1; py += 1) {
    for (let px = Math.floor(x - radius - 1); px <= x + radius + 1; px += 1) {
      const dx = px + 0.5 - x;
      const dy = py + 0.5 - y;
      const share = unit(radius + 0.5 - Math.sqrt(dx * dx + dy * dy));
      if (share > 0) addPixel(scene.canvas, px, py, colour(dx / radius, dy / radius), share);
    }
  }
}

export interface Clouds {
  horizon: number;
  /** 0 none … 1 overcast. */
  cover: number;
  /** Colours of the side towards the light and of the other. */
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
    const u = ((x - width / 2) / scene.side) * (0.7 / above) / clouds.stretch + offset;
    return noise.fbm(u, 1.15 / above + offset, octaves);
  };
  const step = 2;
  const density = createField(width, 0, rows, step, at);
  const reach = scene.side * 0.02;
  const towards = createField(width, 0, rows, 4, (x, y) => {
    const dx = clouds.lightX - x;
    const dy = clouds.lightY - y;
    const length = Math.sqrt(dx * dx + dy * dy) + 1;
    return at(x + (dx / length) * reach, y + (dy / length) * reach * 0.5);
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
        const colour = clouds.shade[c]! + (clouds.lit[c]! - clouds.shade[c]!) * rim;
        light[i * 3 + c]! += (colour - light[i * 3 + c]!) * share;
      }
    }
  }
}

/** Light that hangs over a line, as over a far town or where the sun has set. */
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
