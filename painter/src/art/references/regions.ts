import type { Size } from './reference.ts';

/** Part of a picture, in pixels. */
export interface Region extends Size {
  x: number;
  y: number;
}

/** Divides a picture between references: in a row, a column or two rows, as its shape allows. */
export function regionsOf(count: number, picture: Size): Region[] {
  const columns = columnsOf(count, picture);
  const width = picture.width / columns;
  const height = picture.height / Math.ceil(count / columns);
  return Array.from({ length: count }, (_, i) => ({
    x: (i % columns) * width,
    y: Math.floor(i / columns) * height,
    width,
    height,
  }));
}

function columnsOf(count: number, { width, height }: Size): number {
  if (count === 4 && width <= height * 2 && height <= width * 2) return 2;
  return width >= height ? count : 1;
}
