import type { Film } from '../finish.ts';
import type { Scene } from '../scene.ts';
import { paintAurora } from './aurora.ts';
import { paintBasalt } from './basalt.ts';
import { paintCitrine } from './citrine.ts';
import { paintDrift } from './drift.ts';
import { paintHarbor } from './harbor.ts';

/** A way of painting, and the film that suits it. */
interface Form {
  paint(scene: Scene): void;
  film: Film;
}

export const forms = {
  aurora: { paint: paintAurora, film: { bloom: 0.22, vignette: 0.3, grain: 3, exposure: 1.1, contrast: 1 } },
  basalt: {
    paint: paintBasalt,
    film: { bloom: 0.2, vignette: 0.34, grain: 3, exposure: 1.15, contrast: 1.05 },
  },
  citrine: {
    paint: paintCitrine,
    film: { bloom: 0.12, vignette: 0.16, grain: 2.4, exposure: 1.2, contrast: 1.06 },
  },
  drift: { paint: paintDrift, film: { bloom: 0.1, vignette: 0.18, grain: 2.6, exposure: 1.1, contrast: 1 } },
  harbor: {
    paint: paintHarbor,
    film: { bloom: 0.2, vignette: 0.28, grain: 2.8, exposure: 1.15, contrast: 1.02 },
  },
} satisfies Record<string, Form>;

export type FormName = keyof typeof forms;

export const formNames = Object.keys(forms) as FormName[];
