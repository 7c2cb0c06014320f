import type { PlantedBug } from './plant.ts';

/** What a function remembers between requests. */
export const memoryBugs: readonly PlantedBug[] = [
  {
    name: 'breaker-stays-open',
    what: 'after five failures in a row a function never calls the model again',
    file: 'model/breaker-states.ts',
    changes: [
      [
        "return finding === 'healthy' ? { state: 'half_open' } : opened(finding, nowMs);",
        "return opened('failing', nowMs);",
      ],
    ],
  },
  {
    name: 'catalog-never-forgotten',
    what: "a function that once read an identity never learns of an operator's change",
    file: 'identities/store.ts',
    changes: [['ageMs < catalogLifetimeMs', 'ageMs < Infinity']],
  },
];
