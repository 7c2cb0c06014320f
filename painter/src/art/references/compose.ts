import type { Scene } from '../scene.ts';
import { paintReflectionsAndShadows } from './reflections-and-shadows.ts';
import { applyPalette } from './palette.ts';
import { tableOf } from './placement.ts';
import { readReference } from './reading.ts';
import type { References } from './reference.ts';
import { applyRelief } from './relief.ts';
import { layProducts, arrangeProducts } from './placed-products.ts';
import { paintTable } from './table.ts';

/** What references change: first in the painted scene, then in the developed picture. */
export interface Composition {
  beforeFilm(): void;
  /** @param bytes 8-bit RGB, changed in place. */
  afterFilm(bytes: Uint8Array): void;
}

export function withReferences(scene: Scene, references: References, seed: number): Composition {
  const { canvas } = scene;
  const tick = (): void => scene.tick(1);
  if (references.mode === 'exact_product') {
    const table = tableOf(canvas);
    const products = arrangeProducts(references.images, canvas);
    return {
      beforeFilm: () => {
        paintTable(canvas, table, seed, tick);
        paintReflectionsAndShadows(canvas, products, table, tick);
      },
      afterFilm: (bytes) => layProducts(bytes, products, canvas),
    };
  }
  const readings = references.images.map((image) => {
    tick();
    return readReference(image);
  });
  return {
    beforeFilm: () => applyRelief(canvas, references, readings, tick),
    afterFilm: (bytes) => applyPalette(bytes, readings, tick),
  };
}
