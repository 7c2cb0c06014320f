import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { generationTypes } from '../../shared/contracts/generation.ts';
import type { UsageTally } from '../../shared/contracts/usage.ts';
import { periodFromItem, tallyNames } from '../../shared/store/period-store.ts';
import type { Item } from '../../shared/store/table.ts';
import { anyId, inheritedNames } from '../support/unit-samples.ts';

const startMs = Date.UTC(2026, 0, 31, 10);
const anyCompleted = fc.record({
  type: fc.constantFrom(...generationTypes),
  identityId: anyId,
  completedAtMs: fc.integer({ min: startMs, max: Date.UTC(2026, 1, 28, 10) - 1 }),
  credits: fc.integer({ min: 1, max: 16 }),
});
type Completed = typeof anyCompleted extends fc.Arbitrary<infer T> ? T : never;

/** What DynamoDB's ADD makes of an item: a number that is missing begins at nothing. */
function settleAll(completed: Completed[]): Item {
  const item: Item = { PK: 'PERIOD#lic_1', SK: '2026-01-31T10:00:00.000Z', committed: 0, used: 0 };
  const add = (name: string, value: number) =>
    (item[name] = (Object.hasOwn(item, name) ? item[name] : 0) + value);
  for (const { credits, ...of } of completed) {
    add('committed', credits);
    add('used', credits);
    for (const [requests, charged] of tallyNames(of)) {
      add(requests, 1);
      add(charged, credits);
    }
  }
  return item;
}

/** The model: counts what completed, without any names of attributes. */
function count(completed: Completed[], keyOf: (one: Completed) => string): [string, UsageTally][] {
  const keys = [...new Set(completed.map(keyOf))].sort();
  return keys.map((key) => {
    const own = completed.filter((one) => keyOf(one) === key);
    return [key, { requests: own.length, credits: own.reduce((sum, { credits }) => sum + credits, 0) }];
  });
}

const sorted = (tallies: Record<string, UsageTally>) =>
  Object.entries(tallies).sort(([a], [b]) => (a < b ? -1 : 1));

describe('a period’s statistics', () => {
  test('read back what was added, by type, identity and day, for any generations', () => {
    fc.assert(
      fc.property(fc.array(anyCompleted, { maxLength: 20 }), (completed) => {
        const period = periodFromItem(settleAll(completed));
        expect(sorted(period.byType)).toEqual(count(completed, ({ type }) => type));
        expect(sorted(period.byIdentity)).toEqual(count(completed, ({ identityId }) => identityId));
        const days = count(completed, ({ completedAtMs }) =>
          new Date(completedAtMs).toISOString().slice(5, 10).replace('-', ''),
        );
        expect(sorted(period.byDay)).toEqual(days);
      }),
    );
  });

  test.each(inheritedNames)('count an identity of the id %s like any other', (identityId) => {
    const completed = [{ type: 'text_to_image' as const, identityId, completedAtMs: startMs, credits: 4 }];
    const { byIdentity } = periodFromItem(settleAll(completed));
    expect(Object.entries(byIdentity)).toEqual([[identityId, { requests: 1, credits: 4 }]]);
    // The language's own object of that name is left alone.
    const inherited = ({} as Record<string, object>)[identityId]!;
    expect(['requests', 'credits'].filter((name) => Object.hasOwn(inherited, name))).toEqual([]);
  });

  test('have names that never meet the item’s own attributes', () => {
    fc.assert(
      fc.property(anyCompleted, (completed) => {
        const names = tallyNames(completed).flat();
        expect(new Set(names).size).toBe(6);
        for (const own of ['PK', 'SK', 'committed', 'used', 'imported']) expect(names).not.toContain(own);
      }),
    );
  });

  test('go by the UTC day of completion', () => {
    const of = { type: 'reference' as const, identityId: 'idn_1' };
    const dayOf = (iso: string) => tallyNames({ ...of, completedAtMs: Date.parse(iso) })[2]![0];
    expect(dayOf('2026-12-31T23:59:59.999Z')).toBe('d#1231#n');
    expect(dayOf('2027-01-01T00:00:00.000Z')).toBe('d#0101#n');
  });
});

describe('a period’s totals', () => {
  test('are all zero for a period without an item', () => {
    const nothing = {
      committed: 0,
      used: 0,
      imported: 0,
      inFlight: 0,
      byType: {},
      byIdentity: {},
      byDay: {},
    };
    expect(periodFromItem(null)).toEqual(nothing);
  });

  test('tell what is held beside what is used, and what was imported', () => {
    const item = { PK: 'PERIOD#lic_1', SK: 'x', committed: 9, used: 5, imported: 2 };
    expect(periodFromItem(item)).toMatchObject({ committed: 9, used: 5, imported: 2 });
  });

  test('leave out attributes and types that this version does not know', () => {
    const period = periodFromItem({
      PK: 'p',
      SK: 's',
      't#video#n': 3,
      'x#y#n': 1,
      note: 'x',
      'xt#reference#n': 4,
      't#reference#nn': 5,
      't#reference#x': 6,
      'd##n': 7,
      't#reference#n': 2,
    });
    expect(period.byType).toEqual({ reference: { requests: 2, credits: 0 } });
    expect(period.byIdentity).toEqual({});
  });
});
