import type { Size } from './reference.ts';

/** Where products stand: a tabletop across the foot of the picture, in pixels from its upper left corner. */
export interface Table {
  /** The row of its far edge, where the scene ends. */
  edge: number;
  /** The row on which the products stand. */
  base: number;
}

export interface Product extends Size {
  cutOut: boolean;
}

export interface Place {
  /** Of the product's own pixels, without a frame. */
  x: number;
  y: number;
}

export function tableOf({ width, height }: Size): Table {
  const side = Math.min(width, height);
  const base = Math.round(height - 0.13 * side - 0.12 * Math.max(0, height - 1.25 * width));
  return { base, edge: base - Math.round(0.11 * side) };
}

/** The widths of a print's paper margin and of its frame around that, in pixels; a cut-out has neither. */
export function bordersOf({ width, height, cutOut }: Product, picture: Size): { mat: number; frame: number } {
  if (cutOut) return { mat: 0, frame: 0 };
  return { mat: Math.max(3, Math.ceil(Math.min(width, height) * MAT)), frame: frameOf(picture) };
}

const MAT = 0.045;

function frameOf({ width, height }: Size): number {
  return Math.max(2, Math.round(Math.min(width, height) / 256));
}

/**
 * The sizes at which products stand side by side in a picture: their own, or smaller so that all fit.
 *
 * None takes more than its share of the width while another one needs it. With preserved branding, products get more
 * of the picture, so that lettering is shrunk less.
 */
export function fitProducts(products: Product[], picture: Size, preserveBranding: boolean): Size[] {
  const { base } = tableOf(picture);
  const count = products.length;
  const frame = frameOf(picture);
  // A margin is rounded up, and three pixels at least.
  const extra = products.map(({ cutOut }) => (cutOut ? 0 : 2 * (frame + 3)));
  const grown = products.map(({ width, height, cutOut }) => {
    const mat = cutOut ? 0 : 2 * MAT * Math.min(width, height);
    return { width: width + mat, height: height + mat };
  });
  const tallest = base - picture.height * (preserveBranding ? 0.09 : 0.15);
  const span =
    picture.width * (count === 1 ? (preserveBranding ? 0.76 : 0.62) : preserveBranding ? 0.93 : 0.86);
  const usable = span - gapOf(picture) * (count - 1);
  const byHeight = grown.map(({ height }, i) => Math.min(1, (tallest - extra[i]!) / height));
  const wishes = grown.map(({ width }, i) => width * byHeight[i]! + extra[i]!);
  const shares = shareOut(usable, wishes);
  return products.map(({ width, height }, i) => {
    const factor = Math.min(byHeight[i]!, (shares[i]! - extra[i]!) / grown[i]!.width);
    if (factor > 0.9999) return { width, height };
    const shrink = (length: number): number => Math.max(1, Math.floor(length * factor));
    return { width: shrink(width), height: shrink(height) };
  });
}

/** Shares a length equally. What one does not need goes to the others. */
function shareOut(total: number, wishes: number[]): number[] {
  let left = total;
  let waiting = wishes.length;
  const shares = new Map<number, number>();
  for (const i of wishes.map((_, index) => index).toSorted((a, b) => wishes[a]! - wishes[b]!)) {
    const share = Math.min(wishes[i]!, left / waiting);
    shares.set(i, share);
    left -= share;
    waiting -= 1;
  }
  return wishes.map((_, i) => shares.get(i)!);
}

function gapOf({ width }: Size): number {
  return Math.round(width * 0.035);
}

/** Where products of their final sizes stand: on one line, centered, in the order given. */
export function placeProducts(products: (Product & { foot: number })[], picture: Size): Place[] {
  const { base } = tableOf(picture);
  const gap = gapOf(picture);
  const borders = products.map((product) => {
    const { mat, frame } = bordersOf(product, picture);
    return mat + frame;
  });
  const total = products.reduce(
    (sum, { width }, i) => sum + width + 2 * borders[i]!,
    gap * (products.length - 1),
  );
  let x = Math.floor((picture.width - total) / 2);
  return products.map(({ width, foot }, i) => {
    const border = borders[i]!;
    const place = { x: x + border, y: base - border - foot };
    x += width + 2 * border + gap;
    return place;
  });
}
