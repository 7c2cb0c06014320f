import { blur, cover, createCanvas } from '../canvas.ts';
import type { Canvas } from '../canvas.ts';
import type { Rgb } from '../color.ts';
import { exp, mix, smooth } from '../math.ts';
import { linearSteps } from './oklab.ts';
import type { Table } from './placement.ts';
import type { PlacedProduct } from './placed-products.ts';

/** How far a round bottom rises from its lowest point to its ends, as a share of the product's width. */
const ROUND_BOTTOM = 0.12;

/** Paints the products' reflections and shadows on the table. The products themselves are laid over the picture later. */
export function paintReflectionsAndShadows(
  canvas: Canvas,
  products: PlacedProduct[],
  table: Table,
  tick: () => void,
): void {
  for (const product of products) {
    mirror(canvas, product, table);
    tick();
  }
  soften(canvas, table);
  tick();
  const side = Math.min(canvas.width, canvas.height);
  const towards = lightSide(canvas, table);
  const contact = { reach: side / 500, radius: side / 420, shift: 0, share: 0.8 };
  const shadow = { reach: side / 24, radius: side / 44, shift: -towards * (side / 20), share: 0.78 };
  for (const layer of [shadow, contact]) {
    shade(canvas, products, table, layer);
    tick();
  }
}

/** A product's reflection: upside down under its foot, fading within the table's depth. */
function mirror(canvas: Canvas, product: PlacedProduct, { base }: Table): void {
  const { x, y, width, pixels } = product;
  const reach = canvas.height - base;
  const foot = base - y;
  for (const [column, lowest] of outline(product).entries()) {
    // The camera looks down a little, so a round bottom touches the table along its whole outline.
    const line = foot - 1 - lowest < width * ROUND_BOTTOM ? lowest + 1 : foot;
    for (let d = 0; d < Math.min(reach, line); d += 1) {
      const from = ((line - 1 - d) * width + column) * 4;
      const left = 1 - d / reach;
      const share = (pixels[from + 3]! / 255) * 0.42 * left * left;
      if (share === 0) continue;
      const color = [pixels[from]!, pixels[from + 1]!, pixels[from + 2]!].map((step) => linearSteps[step]!);
      cover(canvas, x + column, y + line + d, color as unknown as Rgb, share);
    }
  }
}

/** Blurs reflections, more strongly with the distance from the product. */
function soften(canvas: Canvas, { base }: Table): void {
  const { width, height, light } = canvas;
  const side = Math.min(width, height);
  const sharp = createCanvas(width, height - base);
  sharp.light.set(light.subarray(base * width * 3));
  const dull = { ...sharp, light: sharp.light.slice() };
  blur(sharp, side / 700, side / 500);
  blur(dull, side / 150, side / 90);
  for (let y = base; y < height; y += 1) {
    const share = smooth(0, height - base, y - base + 1);
    for (let x = 0; x < width * 3; x += 1) {
      const at = (y - base) * width * 3 + x;
      light[y * width * 3 + x] = mix(sharp.light[at]!, dull.light[at]!, share);
    }
  }
}

/** −1 where the scene is brighter on the left … 1 on the right. */
function lightSide({ width, light }: Canvas, { edge }: Table): number {
  let sum = 0;
  let moment = 0;
  for (let pixel = 0; pixel < width * edge; pixel += 97) {
    const bright = Math.min(4, light[pixel * 3 + 1]!);
    sum += bright;
    moment += bright * ((2 * (pixel % width)) / width - 1);
  }
  return sum > 0 ? Math.max(-1, Math.min(1, (2.5 * moment) / sum)) : 0;
}

interface Layer {
  /** In pixels: how far a shadow reaches from the product's foot, the radius of its blur, its shift to the side. */
  reach: number;
  radius: number;
  shift: number;
  /** The share of light that it takes where it is darkest. */
  share: number;
}

/** Darkens the table under the products' lower outlines, most where these are lowest. */
function shade(canvas: Canvas, products: PlacedProduct[], { edge, base }: Table, layer: Layer): void {
  const { width, height, light } = canvas;
  const shadow = createCanvas(width, height - edge);
  for (const product of products) {
    const lowest = outline(product);
    const foot = Math.max(...lowest);
    const hover = Math.max(2, ROUND_BOTTOM * product.width) + layer.reach * 0.5;
    for (const [column, row] of lowest.entries()) {
      if (row < 0) continue;
      const share = exp(-(foot - row) / hover);
      const x = Math.round(product.x + column + layer.shift);
      if (share < 0.01 || x < 0 || x >= width) continue;
      const middle = base - (foot - row);
      const top = Math.max(edge, Math.round(middle - layer.reach));
      const bottom = Math.min(height - 1, Math.round(middle + layer.reach));
      for (let y = top; y <= bottom; y += 1) {
        const at = ((y - edge) * width + x) * 3;
        shadow.light[at] = Math.max(shadow.light[at]!, share);
      }
    }
  }
  blur(shadow, layer.radius, layer.radius * 0.6);
  const start = edge * width * 3;
  for (let at = start; at < light.length; at += 3) {
    const left = 1 - layer.share * shadow.light[at - start]!;
    for (let i = 0; i < 3; i += 1) light[at + i]! *= left;
  }
}

/** The lowest solid row of each column, −1 where there is none. */
function outline({ width, height, pixels }: PlacedProduct): number[] {
  return Array.from({ length: width }, (_, column) => {
    let row = height - 1;
    while (row >= 0 && pixels[(row * width + column) * 4 + 3]! < 128) row -= 1;
    return row;
  });
}
