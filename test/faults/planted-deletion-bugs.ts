import type { PlantedBug } from './plant.ts';

/** Bugs of deletions: what is left of a request, and what its idempotency key stands for then. */
export const deletionBugs: readonly PlantedBug[] = [
  {
    name: 'deletion-frees-its-key',
    what: 'a repeat of what was deleted hears that the first request still runs, for a day',
    file: 'generations/decide.ts',
    changes: [['if (first === null) throw deleted();', 'if (first === null) return null;']],
  },
  {
    name: 'deletion-forgets-late-images',
    what: 'an image that comes after the deletion of its request stays in the bucket',
    file: 'generations/delete.ts',
    changes: [['clock.now() >= deletion.imagesUntilMs', 'true']],
  },
  {
    name: 'deletion-believes-a-fault',
    what: 'who deletes is told that it is done, while images are there',
    file: 'images/object-store.ts',
    changes: [["if (failed?.status === 'rejected') throw failed.reason;", 'void failed;']],
  },
  {
    name: 'deletion-dies-with-its-function',
    what: 'nobody goes on with a deletion whose function died',
    file: 'generations/sweep.ts',
    changes: [['if (deletions !== null) await', 'if (deletions === undefined) await']],
  },
  {
    name: 'deletes-what-runs',
    what: 'a request that runs is deleted, and its credits stay held',
    file: 'generations/delete.ts',
    changes: [['if (!isFinal(generation.status)) {', "if (generation.status === 'QUEUED') {"]],
    also: {
      file: 'generations/deletion-store.ts',
      changes: [["':timeout': 'TIMEOUT',", "':timeout': 'PROCESSING',"]],
    },
  },
  {
    name: 'deletion-keeps-the-prompt',
    what: 'who deletes is told that it is done, and what was asked for is in the table until the sweep looks once more',
    file: 'generations/deletion.ts',
    changes: [
      ['imagesUntilMs, isErased: false };', 'imagesUntilMs, isErased: false, prompt: generation.prompt };'],
    ],
  },
  {
    name: 'deletion-answers-strangers',
    what: "another account's request and a missing one are not told in the same bytes",
    file: 'generations/delete.ts',
    changes: [
      [
        'if (found === null) throw requestNotFound();',
        "if (found === null) throw new ServiceError('REQUEST_NOT_FOUND', `No request ${sent} is stored.`);",
      ],
    ],
  },
  {
    name: 'deleted-request-comes-back',
    what: 'a reservation that was refused and comes again, late, brings back what was deleted since',
    file: 'generations/store.ts',
    changes: [['transact(table, items, requestId)', 'transact(table, items)']],
  },
];
