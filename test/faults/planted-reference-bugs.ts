import type { PlantedBug } from './plant.ts';

/** Bugs of reference images: what is fetched for whom, and what is left of it. */
export const referenceBugs: readonly PlantedBug[] = [
  {
    name: 'references-before-credits',
    what: 'whoever cannot pay has addresses fetched and copies stored',
    file: 'generations/decide.ts',
    changes: [['refusal !== null || references.length > 0;', 'refusal !== null;']],
  },
  {
    name: 'references-before-refusal',
    what: 'references are fetched for whoever then hears that nothing can be painted',
    file: 'generations/decide.ts',
    changes: [
      ['  if (model === null || refusal !== null) throw refusal;\n', ''],
      [
        '  // References and a probe take time. The request counts from this moment.',
        '  if (model === null || refusal !== null) throw refusal;',
      ],
    ],
  },
  {
    name: 'copies-of-refused-stay',
    what: 'a request that loses the race for the last credits leaves its references in the bucket',
    file: 'generations/create.ts',
    changes: [
      [
        'if (!accepted) await discardReferences(generation, generation.referenceImages, deps);',
        'void accepted;',
      ],
    ],
  },
  {
    name: 'copies-of-failed-stay',
    what: 'only requests that complete take their references with them',
    file: 'generations/create.ts',
    changes: [
      [
        'observer, deps).finally(() =>\n    discardReferences(generation, generation.referenceImages, deps),\n  );',
        "observer, deps);\n  if (ended.status === 'COMPLETED')\n    await discardReferences(generation, generation.referenceImages, deps);",
      ],
    ],
  },
  {
    name: 'copies-deleted-too-early',
    what: 'references are gone before the model has seen them',
    file: 'generations/create.ts',
    changes: [['if (!accepted) await discard', 'await discard']],
  },
  {
    name: 'sweep-leaves-copies',
    what: 'references of a handler that died stay in the bucket',
    file: 'generations/sweep.ts',
    changes: [['generation.referenceImages, deps)', '0, deps)']],
  },
];
