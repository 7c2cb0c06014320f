import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { generationTypes } from '../../../shared/base/generation-kinds.ts';
import { newKeyLimit } from '../../../shared/routes/limits.ts';
import type { UsageTally } from '../../../shared/licenses/usage-contract.ts';
import {
  committedName,
  inFlightName,
  periodFromItem,
  tallyNames,
} from '../../../shared/licenses/period-store.ts';
import { anyId } from '../../support/unit-samples.ts';
import { settle, type Completed } from './settled.ts';

const anyKeyId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => `key_${Buffer.from(bytes).toString('hex')}`);
const startMs = Date.UTC(2026, 0, 31, 10);
const anyCompleted = fc.record({
  type: fc.constantFrom(...generationTypes),
  identityId: anyId,
  completedAtMs: fc.integer({ min: startMs, max: Date.UTC(2026, 1, 28, 10) - 1 }),
  credits: fc.integer({ min: 1, max: 16 }),
  // Those who were accepted before keys were counted are in no key's tally.
  keyId: fc.oneof(fc.constantFrom(null, 'acct_one', 'acct_two'), anyKeyId),
});

/** The model: counts what completed, without any names of attributes. */
function count(completed: Completed[], keyOf: (one: Completed) => string | null): [string, UsageTally][] {
  const keys = [...new Set(completed.map(keyOf))].filter((key) => key !== null).sort();
  return keys.map((key) => {
    const own = completed.filter((one) => keyOf(one) === key);
    return [key, { requests: own.length, credits: own.reduce((sum, { credits }) => sum + credits, 0) }];
  });
}

const sorted = <T>(tallies: Record<string, T>) =>
  Object.entries(tallies).sort(([a], [b]) => (a < b ? -1 : 1));

describe('a period’s statistics', () => {
  test('read back what was added, by type, identity, day and key, for any generations', () => {
    fc.assert(
      fc.property(fc.array(anyCompleted, { maxLength: 20 }), (completed) => {
        const period = periodFromItem(settle(completed));
        expect(sorted(period.byType)).toEqual(count(completed, ({ type }) => type));
        expect(sorted(period.byIdentity)).toEqual(count(completed, ({ identityId }) => identityId));
        const days = count(completed, ({ completedAtMs }) =>
          new Date(completedAtMs).toISOString().slice(5, 10).replace('-', ''),
        );
        expect(sorted(period.byDay)).toEqual(days);
        const keys = count(completed, ({ keyId }) => (keyId?.startsWith('acct_') ? 'playground' : keyId));
        const committed = keys.map(([key, tally]) => [key, { ...tally, committed: tally.credits }]);
        expect(sorted(period.byKey)).toEqual(committed);
      }),
    );
  });

  test('have names that never meet the item’s own attributes', () => {
    fc.assert(
      fc.property(anyCompleted, (completed) => {
        const names = tallyNames(completed).flat();
        expect(new Set(names).size).toBe(completed.keyId === null ? 6 : 8);
        for (const own of ['PK', 'SK', 'committed', 'used', 'imported', 'inFlight'])
          expect(names).not.toContain(own);
      }),
    );
  });
});

describe('a period’s item', () => {
  test('has room for every key that an account may make in a month, each used', () => {
    const keys = newKeyLimit.quota * 31;
    const keyId = `key_${'f'.repeat(32)}`;
    const names = tallyNames({ type: 'reference', identityId: 'i', completedAtMs: startMs, keyId }).at(-1)!;
    // A number takes a byte for two digits, one for its sign and one more (DynamoDB Developer Guide, "Item sizes").
    const bytesOfKey = [...names, committedName(keyId), inFlightName(keyId)].join('').length + 3 * 7 + 3;
    expect(keys * bytesOfKey).toBeLessThan(350 * 1024);
  });

  test('counts nobody whose id is neither a key’s nor an account’s', () => {
    expect(() => committedName('key_1')).toThrow('neither');
  });
});

test('a period leaves out attributes and types that this version does not know', () => {
  const unknown =
    't#video#n x#y#n xt#reference#n t#reference#nn t#reference#x d##n t#reference#h k#short#n k##h';
  const numbers = Object.fromEntries(unknown.split(' ').map((name) => [name, 9]));
  const zeros = { committed: 0, used: 0, fromExtra: 0, imported: 0, inFlight: 0, notified: 0 };
  const nothing = {
    ...zeros,
    inFlightByKey: {},
    unpaidRuns: [],
    byType: {},
    byIdentity: {},
    byDay: {},
    byKey: {},
  };
  expect(periodFromItem({ PK: 'p', SK: 's', note: 'x', ...numbers })).toEqual(nothing);
  expect(periodFromItem(null)).toEqual(nothing);
});

test.each(['t#text_to_image', 'i#idn_1', 'd#0517'])(
  '%s counts requests and credits each from nothing',
  (name) => {
    const tallyOf = (item: object) => {
      const { byType, byIdentity, byDay } = periodFromItem(item);
      return [byType, byIdentity, byDay].flatMap((tallies) => Object.values(tallies));
    };
    expect(tallyOf({ [`${name}#n`]: 4 })).toEqual([{ requests: 4, credits: 0 }]);
    expect(tallyOf({ [`${name}#c`]: 5 })).toEqual([{ requests: 0, credits: 5 }]);
  },
);
