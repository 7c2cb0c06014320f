import type { PlantedBug } from './plant.ts';
import { asyncBugs } from './planted-async-bugs.ts';
import { budgetBugs } from './planted-budget-bugs.ts';
import { deletionBugs } from './planted-deletion-bugs.ts';
import { generalBugs } from './planted-bugs.ts';
import { memoryBugs } from './planted-memory-bugs.ts';
import { referenceBugs } from './planted-reference-bugs.ts';

/** Each is found by `npm run faults -- --planted`, or the simulation is not worth its time. */
export const plantedBugs: readonly PlantedBug[] = [
  ...generalBugs,
  ...budgetBugs,
  ...memoryBugs,
  ...referenceBugs,
  ...asyncBugs,
  ...deletionBugs,
];
