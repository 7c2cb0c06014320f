import type { CSSProperties } from 'react';
import type { Size } from './sizes.ts';

/** So wide that each image can be seen whole without scrolling, where the window is tall enough. */
export function frameStyle({ width, height }: Size, count: number): CSSProperties {
  const columns = count > 1 ? 2 : 1;
  return { maxWidth: `max(24rem, calc((100dvh - 17rem) * ${((width * columns) / height).toFixed(4)}))` };
}

export function gridColumns(count: number): string {
  return count > 1 ? 'grid-cols-1 sm:grid-cols-2' : 'grid-cols-1';
}
