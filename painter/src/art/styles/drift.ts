import type { Scene } from '../scene.ts';
import type { Subject } from '../vocabulary.ts';
import { paintCanyon } from './drift-canyon.ts';
import { paintDunes } from './drift-dunes.ts';
import { paintSheets } from './drift-sheets.ts';

/** Things that flow and settle: dunes in low light, layered paper waves, or a canyon cut through stacked paper. */
export function paintDrift(scene: Scene): void {
  const way = scene.random('way').unit();
  const standing: Subject[] = ['water', 'mountain', 'boat', 'forest', 'city', 'flower'];
  const layered = standing.some((subject) => scene.wants(subject));
  if (layered && scene.strength > 0.45) return paintSheets(scene);
  if (way < 0.42) return paintDunes(scene);
  return way < 0.74 ? paintSheets(scene) : paintCanyon(scene);
}
