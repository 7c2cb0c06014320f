import type { CSSProperties } from 'react';

/** A size in pixels. The API takes sides that are multiples of 64. */
export interface Size {
  width: number;
  height: number;
}

export const sideStepPx = 64;
export const minSidePx = 512;

const presets = [
  { label: 'Square', width: 1024, height: 1024 },
  { label: 'Portrait', width: 832, height: 1216 },
  { label: 'Portrait', width: 768, height: 1024 },
  { label: 'Landscape', width: 1216, height: 832 },
  { label: 'Landscape', width: 1024, height: 768 },
  { label: 'Tall', width: 768, height: 1344 },
  { label: 'Tall', width: 576, height: 1024 },
  { label: 'Wide', width: 1344, height: 768 },
  { label: 'Wide', width: 1024, height: 576 },
  { label: 'Small', width: 512, height: 512 },
  { label: '2K square', width: 2048, height: 2048 },
  { label: '2K wide', width: 2048, height: 1152 },
];

/**
 * What the form offers: the first size of each shape that the tier allows. An identity's own size stands in place of the
 * one that is most like it, so that there are as many with every identity and nothing moves.
 */
export function presetsFor(maxSidePx: number, own?: Size): typeof presets {
  const allowed = presets.filter(({ width, height }) => Math.max(width, height) <= maxSidePx);
  const offered = allowed.filter((preset, at) => allowed[at - 1]?.label !== preset.label);
  if (own === undefined || offered.some((preset) => isSame(preset, own))) return offered;
  const [nearest] = offered.toSorted((a, b) => unlikeness(a, own) - unlikeness(b, own));
  return offered.map((preset) => (preset === nearest ? { label: 'Default', ...own } : preset));
}

export function isSame(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}

/** The shape counts more than how large it is. */
function unlikeness(a: Size, b: Size): number {
  const shape = Math.log((a.width * b.height) / (a.height * b.width));
  const area = Math.log((a.width * a.height) / (b.width * b.height));
  return Math.abs(shape) + Math.abs(area) / 10;
}

/** The nearest size within the tier. It keeps the shape as far as steps of 64 allow. */
export function fitSize({ width, height }: Size, maxSidePx: number): Size {
  const shrink = Math.min(1, maxSidePx / Math.max(width, height));
  return { width: fitSide(width * shrink, maxSidePx), height: fitSide(height * shrink, maxSidePx) };
}

function fitSide(sidePx: number, maxSidePx: number): number {
  const stepped = Math.round(sidePx / sideStepPx) * sideStepPx;
  return Math.min(maxSidePx, Math.max(minSidePx, stepped));
}

/** The width at which each of `count` images can be seen whole, where the window is tall enough. */
export function frameStyle({ width, height }: Size, count: number): CSSProperties {
  const columns = count > 1 ? 2 : 1;
  return { maxWidth: `max(24rem, calc((100dvh - 17rem) * ${((width * columns) / height).toFixed(4)}))` };
}

export function gridColumns(count: number): string {
  return count > 1 ? 'grid-cols-1 sm:grid-cols-2' : 'grid-cols-1';
}

/** How wide each of `count` images is at most, for the browser's choice of its file: the panel is beside the form from 1024 px on. */
export function resultSizes(count: number): string {
  return count > 1
    ? '(min-width: 1024px) 30vw, (min-width: 640px) 50vw, 100vw'
    : '(min-width: 1024px) 60vw, 100vw';
}
