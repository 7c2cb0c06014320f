import type { PlantedBug } from './plant.ts';

const transactions = 'generations/transactions.ts';

/** Bugs of the budgets that keys have: who is refused, and what counts. */
export const budgetBugs: readonly PlantedBug[] = [
  {
    name: 'budget-not-held',
    what: "requests at once use more of a key's budget than there is",
    file: transactions,
    changes: [
      ['AND inFlight < :most${withinBudget(generation, keyBudget)}`', 'AND inFlight < :most`'],
      ["...(keyBudget !== null && { ':keyRoom': keyBudget - credits }),", ''],
    ],
  },
  {
    name: 'first-of-any-price',
    what: "a key's first request of a month may cost more than its whole budget",
    file: transactions,
    changes: [['return credits > keyBudget\n', 'return credits > Infinity\n']],
    also: {
      file: 'licenses/credits.ts',
      changes: [
        [
          'keyBudget === null || committed + credits',
          'keyBudget === null || committed === 0 || committed + credits',
        ],
      ],
    },
  },
  {
    name: 'release-forgets-the-key',
    what: "what failed stays in its key's budget until the month ends",
    file: transactions,
    changes: [['...(ended.countedByKey\n', '...(ended.keyId === null\n']],
  },
  {
    name: 'charge-forgets-the-key',
    what: "what completed is held in its key's budget, and is never its use",
    file: transactions,
    changes: [['const keyId = ended.countedByKey ? ended.keyId : null;', 'const keyId = null;']],
  },
  {
    name: 'busy-is-budget',
    what: 'too many requests in flight are told as a budget that is used up',
    file: 'generations/store.ts',
    changes: [
      [
        'if (!fitsBudget(limits.keyBudget, period?.[committedName(keyId)] ?? 0, credits))',
        'void fitsBudget;\n      if (limits.keyBudget !== null && period?.[committedName(keyId)] !== undefined)',
      ],
    ],
  },
];
