import type { PlantedBug } from './plant.ts';

/** Bugs of deletions: what is left of a request, and what its idempotency key stands for then. */
export const deletionBugs: readonly PlantedBug[] = [
  {
    name: 'deletion-frees-its-key',
    what: 'a repeat of what was deleted hears that the first request still runs, for a day',
    file: 'workflow/decide-generation.ts',
    changes: [['if (first === null) throw deleted();', 'if (first === null) return null;']],
  },
  {
    name: 'deletion-forgets-late-images',
    what: 'an image that comes after the deletion of its request stays in the bucket',
    file: 'workflow/delete-generation.ts',
    changes: [['clock.now() >= deletion.imagesUntilMs', 'true']],
  },
  {
    name: 'deletion-believes-a-fault',
    what: 'who deletes is told that it is done, while images are there',
    file: 'adapters/object-store.ts',
    changes: [["if (failed?.status === 'rejected') throw failed.reason;", 'void failed;']],
  },
  {
    name: 'deletion-dies-with-its-function',
    what: 'nobody goes on with a deletion whose function died',
    file: 'workflow/sweep.ts',
    changes: [['if (deletions !== null) await', 'if (deletions === undefined) await']],
  },
  {
    name: 'deletes-what-runs',
    what: 'a request that runs is deleted, and its credits stay held',
    file: 'workflow/delete-generation.ts',
    changes: [['if (!isFinal(generation.status)) {', "if (generation.status === 'QUEUED') {"]],
    also: {
      file: 'store/deletion-store.ts',
      changes: [["':timeout': 'TIMEOUT',", "':timeout': 'PROCESSING',"]],
    },
  },
];
