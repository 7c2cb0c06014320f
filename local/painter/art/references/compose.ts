import type { Scene } from '../scene.ts';
import { groundProducts } from './grounding.ts';
import { movePalette } from './palette.ts';
import { tableOf } from './placement.ts';
import { readReference } from './reading.ts';
import type { References } from './reference.ts';
import { pressForms } from './relief.ts';
import { layProducts, standProducts } from './standing.ts';
import { paintTable } from './table.ts';

/** What references do to a painted scene, and then to the picture that the film makes of it. */
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
    const products = standProducts(references.images, canvas);
    return {
      beforeFilm: () => {
        paintTable(canvas, table, seed, tick);
        groundProducts(canvas, products, table, tick);
      },
      afterFilm: (bytes) => layProducts(bytes, products, canvas),
    };
  }
  const readings = references.images.map((image) => {
    tick();
    return readReference(image);
  });
  return {
    beforeFilm: () => pressForms(canvas, references, readings, tick),
    afterFilm: (bytes) => movePalette(bytes, readings, tick),
  };
}
