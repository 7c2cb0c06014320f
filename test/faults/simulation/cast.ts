import type { Functions } from './functions.ts';
import type { Judge } from './judge.ts';
import type { Setup } from './setup.ts';
import type { World } from './world.ts';

/** Who plays in a world, and with what. */
export interface Cast {
  world: World;
  setup: Setup;
  functions: Functions;
  judge: Judge;
  /** By how much each environment's clock is wrong. */
  skewsMs: number[];
  nextNumber(): number;
}
