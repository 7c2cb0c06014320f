import { cover } from './canvas.ts';
import type { Canvas } from './canvas.ts';
import type { Rgb } from './color.ts';
import { cos, sin, TAU } from './math.ts';

/** A color, or one that depends on the pixel. */
export type Paint = Rgb | ((x: number, y: number) => Rgb);

const SUBROWS = 4;

/** Fills a polygon, given as x, y, x, y …, by the even-odd rule with smooth edges. */
export function fillPolygon(canvas: Canvas, points: readonly number[], paint: Paint, opacity = 1): void {
  let top = Infinity;
  let bottom = -Infinity;
  for (let i = 1; i < points.length; i += 2) {
    top = Math.min(top, points[i]!);
    bottom = Math.max(bottom, points[i]!);
  }
  const first = Math.max(0, Math.floor(top));
  const last = Math.min(canvas.height - 1, Math.ceil(bottom) - 1);
  const shares = new Float32Array(canvas.width);
  for (let y = first; y <= last; y += 1) {
    let left = canvas.width;
    let right = -1;
    for (let i = 0; i < SUBROWS; i += 1) {
      const crossings = crossingsAt(points, y + (i + 0.5) / SUBROWS);
      for (let k = 0; k + 1 < crossings.length; k += 2) {
        const from = Math.max(0, crossings[k]!);
        const to = Math.min(canvas.width, crossings[k + 1]!);
        if (to <= from) continue;
        left = Math.min(left, Math.floor(from));
        right = Math.max(right, Math.min(canvas.width - 1, Math.ceil(to) - 1));
        addSpan(shares, from, to);
      }
    }
    for (let x = left; x <= right; x += 1) {
      const share = shares[x]!;
      if (share > 0) cover(canvas, x, y, typeof paint === 'function' ? paint(x, y) : paint, share * opacity);
      shares[x] = 0;
    }
  }
}

function crossingsAt(points: readonly number[], y: number): number[] {
  const crossings: number[] = [];
  const count = points.length;
  let x0 = points[count - 2]!;
  let y0 = points[count - 1]!;
  for (let i = 0; i < count; i += 2) {
    const x1 = points[i]!;
    const y1 = points[i + 1]!;
    if (y0 <= y !== y1 <= y) crossings.push(x0 + ((y - y0) / (y1 - y0)) * (x1 - x0));
    x0 = x1;
    y0 = y1;
  }
  return crossings.sort((a, b) => a - b);
}

function addSpan(shares: Float32Array, from: number, to: number): void {
  const first = Math.floor(from);
  const last = Math.ceil(to) - 1;
  for (let x = first; x <= last && x < shares.length; x += 1) {
    const covered = Math.min(to, x + 1) - Math.max(from, x);
    shares[x]! += covered / SUBROWS;
  }
}

/** A straight stroke with a width at each end. */
export function strokeLine(
  canvas: Canvas,
  from: readonly [number, number],
  to: readonly [number, number],
  widths: readonly [number, number],
  paint: Paint,
  opacity = 1,
): void {
  const dx = to[0] - from[0];
  const dy = to[1] - from[1];
  const length = Math.sqrt(dx * dx + dy * dy);
  if (length < 1e-6) return;
  // A stroke thinner than a pixel is drawn about a pixel wide and fainter. It looks the same.
  const thinnest = 0.8;
  const faint = Math.min(1, Math.max(widths[0], widths[1]) / thinnest);
  const a = Math.max(thinnest, widths[0]) / 2;
  const b = Math.max(thinnest, widths[1]) / 2;
  const nx = -dy / length;
  const ny = dx / length;
  const points = [
    from[0] + nx * a,
    from[1] + ny * a,
    to[0] + nx * b,
    to[1] + ny * b,
    to[0] - nx * b,
    to[1] - ny * b,
    from[0] - nx * a,
    from[1] - ny * a,
  ];
  fillPolygon(canvas, points, paint, opacity * faint);
}

/** The outline of an ellipse as polygon points. */
export function ellipse(x: number, y: number, rx: number, ry: number): number[] {
  const corners = Math.max(12, Math.min(96, Math.ceil(rx)));
  return Array.from({ length: corners }, (_, i) => {
    const angle = (i / corners) * TAU;
    return [x + rx * cos(angle), y + ry * sin(angle)];
  }).flat();
}
