/** Sizes that the form offers, and what a tier makes of any size. Pixels throughout; sides are multiples of 64. */
export interface Size {
  width: number;
  height: number;
}

export interface SizePreset extends Size {
  label: string;
}

export const sideStepPx = 64;
export const minSidePx = 512;

// Of each shape the first size that the tier allows is offered.
const shapes: { label: string; sizes: [number, number][] }[] = [
  { label: 'Square', sizes: [[1024, 1024]] },
  {
    label: 'Portrait',
    sizes: [
      [832, 1216],
      [768, 1024],
    ],
  },
  {
    label: 'Landscape',
    sizes: [
      [1216, 832],
      [1024, 768],
    ],
  },
  {
    label: 'Tall',
    sizes: [
      [768, 1344],
      [576, 1024],
    ],
  },
  {
    label: 'Wide',
    sizes: [
      [1344, 768],
      [1024, 576],
    ],
  },
  { label: 'Small', sizes: [[512, 512]] },
  { label: '2K square', sizes: [[2048, 2048]] },
  { label: '2K wide', sizes: [[2048, 1152]] },
];

/** The presets within a tier. */
export function presetsFor(maxSidePx: number): SizePreset[] {
  return shapes.flatMap(({ label, sizes }) => {
    const size = sizes.find(([width, height]) => Math.max(width, height) <= maxSidePx);
    return size === undefined ? [] : [{ label, width: size[0], height: size[1] }];
  });
}

export function isPreset({ width, height }: Size, maxSidePx: number): boolean {
  return presetsFor(maxSidePx).some((preset) => preset.width === width && preset.height === height);
}

/** The nearest size within the tier: the shape is kept as far as steps of 64 allow. */
export function fitSize({ width, height }: Size, maxSidePx: number): Size {
  const shrink = Math.min(1, maxSidePx / Math.max(width, height));
  return { width: fitSide(width * shrink, maxSidePx), height: fitSide(height * shrink, maxSidePx) };
}

function fitSide(sidePx: number, maxSidePx: number): number {
  const stepped = Math.round(sidePx / sideStepPx) * sideStepPx;
  return Math.min(maxSidePx, Math.max(minSidePx, stepped));
}
