import { blur, createCanvas } from '../canvas.ts';
import type { Canvas } from '../canvas.ts';
import { exp, smooth } from '../math.ts';
import type { Product } from './placement.ts';
import type { Reading } from './reading.ts';
import type { References, ReferenceImage, Size } from './reference.ts';
import { regionsOf } from './regions.ts';
import type { Region } from './regions.ts';
import { meanLight, sample } from './sample.ts';

/** The form of a reference fades out over this share of its width and height. */
const FADE = 0.1;

/** How many pixels of the picture are one cell of the relief. */
function coarsenessOf(preserveBranding: boolean): number {
  return preserveBranding ? 2 : 4;
}

/** How many cells of the relief one pixel of a reference takes, before it is shrunk to that. */
function scaleOf({ width, height, cutOut }: Product, region: Region, coarseness: number): number {
  const whole = Math.min(region.width / width, region.height / height) / coarseness;
  // An outline of its own needs room around it; any other image fades out towards its borders.
  return cutOut ? whole * 0.84 : whole;
}

/** The sizes at which references are decoded for their forms. */
export function fitForms(references: Product[], picture: Size, preserveBranding: boolean): Size[] {
  const coarseness = coarsenessOf(preserveBranding);
  const regions = regionsOf(references.length, picture);
  return references.map((reference, i) => {
    const { width, height } = reference;
    const factor = Math.min(1, scaleOf(reference, regions[i]!, coarseness));
    return {
      width: Math.max(1, Math.round(width * factor)),
      height: Math.max(1, Math.round(height * factor)),
    };
  });
}

/**
 * Shows the references' large forms in a scene, like a relief of clear glass in front of it. Slopes bend the view and
 * change the brightness. What is light or dark in a reference makes the scene lighter or darker.
 */
export function applyRelief(
  canvas: Canvas,
  references: References,
  readings: Reading[],
  tick: () => void,
): void {
  const coarseness = coarsenessOf(references.preserveBranding);
  const forms = createCanvas(canvas.width / coarseness, canvas.height / coarseness);
  const regions = regionsOf(references.images.length, canvas);
  for (const [i, image] of references.images.entries()) {
    tick();
    press(forms, image, readings[i]!, regions[i]!, coarseness);
  }
  const fine = references.preserveBranding ? { ...forms, light: forms.light.slice() } : undefined;
  const radius = Math.max(1, Math.min(forms.width, forms.height) / 150);
  blur(forms, radius, radius, tick);
  tick();
  lookThrough(canvas, slopesOf(forms, fine), coarseness, tick);
}

/**
 * Presses one reference into the middle of its region, fading out towards its own borders: [0] how much lighter or
 * darker than its ground, [1] how much it stands out from that at all.
 */
function press(
  forms: Canvas,
  image: ReferenceImage,
  { labs, lighter, apart }: Reading,
  region: Region,
  coarseness: number,
): void {
  const { width, height } = image;
  const scale = scaleOf(image, region, coarseness);
  const faded = image.cutOut ? 0 : FADE;
  const wide = Math.floor(width * scale);
  const high = Math.floor(height * scale);
  const left = Math.max(0, Math.floor((region.x + region.width / 2) / coarseness - wide / 2));
  const top = Math.max(0, Math.floor((region.y + region.height / 2) / coarseness - high / 2));
  for (let y = 0; y < high; y += 1) {
    const row = Math.min(height - 1, Math.floor((y + 0.5) / scale));
    const fadeY = smooth(0, faded, Math.min(y + 0.5, high - y - 0.5) / high);
    for (let x = 0; x < wide; x += 1) {
      const from = row * width + Math.min(width - 1, Math.floor((x + 0.5) / scale));
      const fade = fadeY * smooth(0, faded, Math.min(x + 0.5, wide - x - 0.5) / wide);
      const to = ((top + y) * forms.width + left + x) * 3;
      const share = fade * labs[from * 4 + 3]!;
      forms.light[to] = lighter[from]! * share;
      forms.light[to + 1] = apart[from]! * share;
    }
  }
}

/** [0] and [1] the slope to the right and downwards, about −1 … 1; [2] the light's gain. */
function slopesOf(forms: Canvas, fine: Canvas | undefined): Canvas {
  const { width, height, light } = forms;
  const slopes = createCanvas(width, height);
  const steep = Math.min(width, height) * 0.022;
  for (let y = 0; y < height; y += 1) {
    const up = y > 0 ? -width * 3 : 0;
    const down = y < height - 1 ? width * 3 : 0;
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      const before = x > 0 ? at - 3 : at;
      const after = x < width - 1 ? at + 3 : at;
      const right = ((light[after + 1]! - light[before + 1]!) / 2) * steep;
      const below = ((light[at + down + 1]! - light[at + up + 1]!) / 2) * steep;
      slopes.light[at] = right;
      slopes.light[at + 1] = below;
      // Shadows are stronger than lights, because lights would burn out. The light comes from the upper left.
      let gain = light[at]! * (light[at]! < 0 ? 1.4 : 0.75) + 0.85 * (0.6 * right + 0.8 * below);
      if (fine) {
        const relief = fine.light[at]! - fine.light[before + up]!;
        gain += 1.5 * (fine.light[at]! - light[at]!) + 1.5 * relief;
      }
      slopes.light[at + 2] = exp(gain < -1.4 ? -1.4 : gain > 1 ? 1 : gain);
    }
  }
  return slopes;
}

/** Replaces the scene by the view of it through the relief. */
function lookThrough(canvas: Canvas, slopes: Canvas, coarseness: number, tick: () => void): void {
  const { width, height, light } = canvas;
  const behind = light.slice();
  const bend = Math.min(width, height) * 0.028;
  const ambient = meanLight(canvas);
  const here = new Float32Array(3);
  for (let y = 0; y < height; y += 1) {
    if ((y & 31) === 0) tick();
    for (let x = 0; x < width; x += 1) {
      sample(slopes, (x + 0.5) / coarseness - 0.5, (y + 0.5) / coarseness - 0.5, here);
      const gain = here[2]!;
      const fromX = Math.min(width - 1, Math.max(0, Math.round(x + here[0]! * bend)));
      const fromY = Math.min(height - 1, Math.max(0, Math.round(y + here[1]! * bend)));
      const from = (fromY * width + fromX) * 3;
      const at = (y * width + x) * 3;
      // Glass shows a little of the room's light even where the scene behind it is black.
      const glint = gain > 1 ? (gain - 1) * 0.22 : 0;
      for (let i = 0; i < 3; i += 1) light[at + i] = behind[from + i]! * gain + ambient[i]! * glint;
    }
  }
}
