import type { Rgb } from './color.ts';
import { exp } from './math.ts';

/** Linear light, interleaved RGB, row by row. Values above 1 are lights; the film curve compresses them at the end. */
export interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly light: Float32Array;
}

export function createCanvas(width: number, height: number): Canvas {
  return { width, height, light: new Float32Array(width * height * 3) };
}

/** Adds a Gaussian glow around a point. At `radius` it has fallen to 1/e. */
export function addGlow(canvas: Canvas, x: number, y: number, radius: number, light: Rgb, stretch = 1): void {
  const reach = radius * 2.6;
  const top = Math.max(0, Math.floor(y - reach * stretch));
  const bottom = Math.min(canvas.height - 1, Math.ceil(y + reach * stretch));
  const left = Math.max(0, Math.floor(x - reach));
  const right = Math.min(canvas.width - 1, Math.ceil(x + reach));
  const narrow = 1 / (radius * radius);
  const rows = 1 / (radius * radius * stretch * stretch);
  const edge = exp(-reach * reach * narrow);
  for (let py = top; py <= bottom; py += 1) {
    const dy = (py + 0.5 - y) * (py + 0.5 - y) * rows;
    for (let px = left; px <= right; px += 1) {
      const dx = px + 0.5 - x;
      const share = exp(-dx * dx * narrow - dy) - edge;
      if (share <= 0) continue;
      const at = (py * canvas.width + px) * 3;
      canvas.light[at]! += light[0] * share;
      canvas.light[at + 1]! += light[1] * share;
      canvas.light[at + 2]! += light[2] * share;
    }
  }
}

/** Adds a point of light, shared between the four pixels around it. */
export function addPoint(canvas: Canvas, x: number, y: number, light: Rgb): void {
  const x0 = Math.floor(x - 0.5);
  const y0 = Math.floor(y - 0.5);
  const fx = x - 0.5 - x0;
  const fy = y - 0.5 - y0;
  addPixel(canvas, x0, y0, light, (1 - fx) * (1 - fy));
  addPixel(canvas, x0 + 1, y0, light, fx * (1 - fy));
  addPixel(canvas, x0, y0 + 1, light, (1 - fx) * fy);
  addPixel(canvas, x0 + 1, y0 + 1, light, fx * fy);
}

/** Adds a share of a light to one pixel; outside the canvas it does nothing. */
export function addPixel(canvas: Canvas, x: number, y: number, light: Rgb, share: number): void {
  if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return;
  const at = (y * canvas.width + x) * 3;
  canvas.light[at]! += light[0] * share;
  canvas.light[at + 1]! += light[1] * share;
  canvas.light[at + 2]! += light[2] * share;
}

/** Covers one pixel by `share` with a color; outside the canvas it does nothing. */
export function cover(canvas: Canvas, x: number, y: number, color: Rgb, share: number): void {
  if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return;
  const at = (y * canvas.width + x) * 3;
  const { light } = canvas;
  light[at]! += (color[0] - light[at]!) * share;
  light[at + 1]! += (color[1] - light[at + 1]!) * share;
  light[at + 2]! += (color[2] - light[at + 2]!) * share;
}

/** Averages blocks of `factor` × `factor` pixels; both sides must be multiples of it. */
export function shrink(canvas: Canvas, factor: number): Canvas {
  const small = createCanvas(canvas.width / factor, canvas.height / factor);
  const share = 1 / (factor * factor);
  for (let y = 0; y < canvas.height; y += 1) {
    const row = Math.floor(y / factor) * small.width;
    let from = y * canvas.width * 3;
    for (let x = 0; x < small.width; x += 1) {
      const to = (row + x) * 3;
      for (let i = 0; i < factor; i += 1, from += 3) {
        small.light[to]! += canvas.light[from]! * share;
        small.light[to + 1]! += canvas.light[from + 1]! * share;
        small.light[to + 2]! += canvas.light[from + 2]! * share;
      }
    }
  }
  return small;
}

/** Three box blurs along each axis, close to a Gaussian. The radius is in pixels of this canvas. Calls `tick` for each. */
export function blur(canvas: Canvas, radiusX: number, radiusY = radiusX, tick = (): void => undefined): void {
  const { width, height, light } = canvas;
  const scratch = new Float32Array(Math.max(width, height) * 3);
  for (let pass = 0; pass < 3; pass += 1) {
    tick();
    if (radiusX >= 1) {
      for (let y = 0; y < height; y += 1)
        boxLine(light, scratch, y * width * 3, 3, width, Math.round(radiusX));
    }
    tick();
    if (radiusY >= 1) {
      for (let x = 0; x < width; x += 1)
        boxLine(light, scratch, x * 3, width * 3, height, Math.round(radiusY));
    }
  }
}

/** A running mean along one line of RGB values. Beyond its ends, the line's first and last values go on. */
function boxLine(
  light: Float32Array,
  scratch: Float32Array,
  start: number,
  stride: number,
  count: number,
  radius: number,
): void {
  const share = 1 / (radius * 2 + 1);
  for (let channel = 0; channel < 3; channel += 1) {
    const base = start + channel;
    let sum = light[base]! * (radius + 1);
    for (let i = 1; i <= radius; i += 1) sum += light[base + Math.min(i, count - 1) * stride]!;
    for (let i = 0; i < count; i += 1) {
      scratch[i] = sum * share;
      const ahead = i + radius + 1;
      const behind = i - radius;
      sum += light[base + (ahead < count ? ahead : count - 1) * stride]!;
      sum -= light[base + (behind > 0 ? behind : 0) * stride]!;
    }
    for (let i = 0; i < count; i += 1) light[base + i * stride] = scratch[i]!;
  }
}
