import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { generationTypes } from '../../../shared/base/generation-kinds.ts';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import { keysInUse, usageAggregates, usageStats } from '../../../shared/licenses/usage.ts';
import { usageHistoryItem } from '../../../shared/generations/answers.ts';
import { committedName, periodFromItem } from '../../../shared/licenses/period-store.ts';
import { anyGeneration, anyId, anyInstantMs, inheritedNames } from '../../support/unit-samples.ts';
import { settle } from './settled.ts';

const dayMs = 24 * 3600 * 1000;
const may = { startMs: Date.UTC(2026, 4, 1), endMs: Date.UTC(2026, 5, 1) };

const statsOf = (used: number, creditsLimit: number, nowMs = may.startMs) =>
  usageStats('pro', used, { ...may, creditsLimit }, null, nowMs);

describe('how a period stands', () => {
  test('has exactly these members', () => {
    expect(statsOf(7, 4000, Date.UTC(2026, 4, 10, 12))).toEqual({
      current: 7,
      limit: 4000,
      percentage: 0,
      billingPeriodStart: '2026-05-01T00:00:00.000Z',
      billingPeriodEnd: '2026-06-01T00:00:00.000Z',
      daysRemaining: 22,
      tier: 'Pro',
    });
  });

  test.each([
    [499, 500, 99],
    [57, 100, 57],
    [1000, 500, 200],
    [0, 0, 100],
  ])('%i of %i credits is %i percent, rounded down', (used, limit, percentage) => {
    expect(statsOf(used, limit).percentage).toBe(percentage);
  });

  test.each([
    ['its first millisecond', may.startMs, 31],
    ['the millisecond before its last day', may.endMs - dayMs - 1, 2],
  ])('counts started days: in %s', (_, nowMs, days) => {
    expect(statsOf(0, 1, nowMs).daysRemaining).toBe(days);
  });
});

const nobody = { identities: [], keys: [] };

/** Any anchor, often one of the difficult ones: last days of months, leap days, turns of the year, midnights. */
const anyAnchorMs = fc.oneof(
  anyInstantMs,
  fc
    .tuple(
      fc.integer({ min: 2023, max: 2029 }),
      fc.constantFrom([0, 31], [1, 28], [1, 29], [2, 31], [11, 31], [11, 30], [0, 1], [5, 30]),
      fc.constantFrom(0, 1, 12 * 3600_000, dayMs - 1),
    )
    .map(([year, [month, day], timeOfDayMs]) => Date.UTC(year, month!, day) + timeOfDayMs),
);

/** A moment within a period, what the period has completed by then, and a little that completed after its end. */
const anyPeriod = fc
  .tuple(
    anyAnchorMs,
    anyAnchorMs,
    fc.array(
      fc.record({
        type: fc.constantFrom(...generationTypes),
        identityId: fc.oneof(anyId, fc.constantFrom('idn_1', 'idn_2')),
        credits: fc.integer({ min: 1, max: 16 }),
        place: fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constant(1)),
      }),
      { maxLength: 20 },
    ),
    fc.oneof(fc.nat({ max: 40 * dayMs }), fc.constantFrom(31 * dayMs, 40 * dayMs)),
    fc.boolean(),
  )
  .map(([anchorMs, insideMs, drawn, sinceMs, isMidnight]) => {
    const period = billingPeriod(anchorMs, insideMs);
    const longestRunMs = 465_000;
    const anyMs = Math.min(period.startMs + sinceMs, period.endMs + longestRunMs);
    const nowMs = isMidnight ? Math.max(period.startMs, anyMs - (anyMs % dayMs)) : anyMs;
    const completed = drawn.map(({ place, ...rest }) => ({
      ...rest,
      keyId: null,
      completedAtMs: Math.floor(period.startMs + place * (nowMs - period.startMs)),
    }));
    return { period, nowMs, completed };
  });

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

describe('the days of a period', () => {
  test('are contiguous, each once, in order, and hold what completed on them: nothing is lost or counted twice', () => {
    fc.assert(
      fc.property(anyPeriod, ({ period, nowMs, completed }) => {
        const { byDay } = usageAggregates(periodFromItem(settle(completed)), nobody, period, nowMs);
        const lastMs = Math.max(
          Math.min(nowMs, period.endMs - 1),
          ...completed.map(({ completedAtMs }) => completedAtMs),
        );
        const expected: typeof byDay = [];
        for (let ms = Date.parse(dateOf(period.startMs)); ms <= lastMs; ms += dayMs) {
          const then = completed.filter(({ completedAtMs }) => dateOf(completedAtMs) === dateOf(ms));
          const credits = then.reduce((sum, one) => sum + one.credits, 0);
          expected.push({ date: dateOf(ms), requests: then.length, credits });
        }
        expect(byDay).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the keys of a period', () => {
  const keyOf = (digit: string) => `key_${digit.repeat(32)}`;
  const by = (keyId: string, credits: number) => ({
    type: 'reference' as const,
    identityId: 'idn_1',
    completedAtMs: may.startMs,
    credits,
    keyId,
  });

  test('have their present names, the playground has one, and a removed key says that it is one', () => {
    const [kept, removed, idle] = [keyOf('a'), keyOf('b'), keyOf('c')] as const;
    const item = settle([by(kept, 2), by(removed, 3), by(kept, 4), by('acct_one', 1), by('acct_two', 1)]);
    // It holds credits, and has completed nothing.
    item[committedName(idle)] = 5;
    const period = periodFromItem(item);
    expect(keysInUse(period).sort()).toEqual([kept, removed]);
    const names = { identities: [], keys: [{ keyId: kept, name: 'my app' }] };
    expect(usageAggregates(period, names, may, may.startMs).byKey).toEqual({
      [kept]: { name: 'my app', requests: 2, credits: 6 },
      [removed]: { name: 'removed key', requests: 1, credits: 3 },
      playground: { name: 'Playground', requests: 2, credits: 2 },
    });
  });
});

describe('the types and identities of a period', () => {
  test('are all three types, those without a request too', () => {
    const nothing = { requests: 0, credits: 0 };
    const period = periodFromItem({ 't#reference#n': 2, 't#reference#c': 6 });
    const { byType } = usageAggregates(period, nobody, may, 0);
    expect(byType).toEqual({
      text_to_image: nothing,
      reference: { requests: 2, credits: 6 },
      exact_product: nothing,
    });
  });

  test('call an identity by its present name, and one that is gone by its id, whatever word that is', () => {
    const ids = ['idn_1', 'idn_gone', ...inheritedNames];
    const one = { type: 'reference' as const, completedAtMs: may.startMs, credits: 3, keyId: null };
    const period = periodFromItem(settle(ids.map((identityId) => ({ identityId, ...one }))));
    const identities = ['1', '2'].map((n) => ({
      identityId: `idn_${n}`,
      name: `Name ${n}`,
      slug: `slug-${n}`,
    }));
    const { byIdentity } = usageAggregates(period, { identities, keys: [] }, may, may.startMs);
    const expected = ids.map((id) => [id, { name: id, slug: id, requests: 1, credits: 3 }] as const);
    Object.assign(expected[0]![1], { name: 'Name 1', slug: 'slug-1' });
    expect(Object.entries(byIdentity).sort()).toEqual(expected.toSorted());
  });
});

test('an item of the history says what was charged: its credits when COMPLETED, otherwise nothing', () => {
  fc.assert(
    fc.property(anyGeneration, (generation) => {
      const { requestId, type, status, identity, numOutputs, credits, createdAtMs, completedAtMs } =
        generation;
      expect(usageHistoryItem(generation)).toEqual({
        requestId,
        type,
        status,
        identity,
        numOutputs,
        creditsCharged: status === 'COMPLETED' ? credits : 0,
        createdAt: new Date(createdAtMs).toISOString(),
        completedAt: completedAtMs === null ? null : new Date(completedAtMs).toISOString(),
      });
    }),
  );
});
