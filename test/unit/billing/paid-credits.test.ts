import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { InvoiceEvidence } from '../../../shared/billing/evidence.ts';
import { mergeMoments, momentsOf } from '../../../shared/billing/credit-history.ts';
import { mergeRegisters, noRegisters, registersOf } from '../../../shared/billing/subscription.ts';
import { licenseOf } from '../../../shared/billing/subscription-license.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import { isActive, type License } from '../../../shared/licenses/license.ts';
import { evidenceOf } from './delivery.ts';
import {
  day,
  eventsOf,
  extraLine,
  invoice,
  items,
  linesOf,
  pricing,
  start,
  stripeEvent,
  type HandledEvent,
} from './stripe-fixtures.ts';
import {
  anyLife,
  anyRisingLife,
  creditsOf,
  lifeOf,
  prices,
  type Occurrence,
  type PriceId,
  type Step,
} from './subscription-lives.ts';
import { runs } from '../../support/runs.ts';

const rules = { prices, pastDueGraceDays: 7 };

/** An account that spends all that its license lets it spend, at any time. */
function spender(ofRules = rules) {
  let registers = noRegisters;
  const used = new Map<number, number>();
  const self = {
    license: null as License | null,
    total: 0,
    deliver(event: HandledEvent) {
      const evidence = evidenceOf(event);
      // An invoice of a period that is over says nothing.
      if (evidence === null) return;
      registers = mergeRegisters(registers, registersOf(evidence));
      self.license = licenseOf(registers, ofRules);
    },
    spend(at: number) {
      const { license } = self;
      if (license === null || !isActive(license, at * 1000)) return 0;
      const { startMs, creditsLimit } = creditPeriod(license, at * 1000);
      const spent = Math.max(0, creditsLimit - (used.get(startMs) ?? 0));
      used.set(startMs, (used.get(startMs) ?? 0) + spent);
      self.total += spent;
      return spent;
    },
  };
  return self;
}

/** The events of one deed: those of one second and the next. */
function burstsOf(life: Occurrence[]): Occurrence[][] {
  const bursts: Occurrence[][] = [];
  for (const one of life) {
    const last = bursts.at(-1)?.at(-1);
    if (last !== undefined && one.event.created - last.event.created <= 1) bursts.at(-1)!.push(one);
    else bursts.push([one]);
  }
  return bursts;
}

const shuffled = <T>(list: T[], seeds: number[]) =>
  list
    .map((one, i) => ({ one, at: seeds[i % seeds.length]! * ((i % 7) + 1) }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
const anySeeds = fc.array(fc.nat({ max: 1000 }), { minLength: 11, maxLength: 11 });

/** What an account spends in a life whose events come in time, in its first so many days. */
function spentIn(first: { price: PriceId; trialDays?: number }, steps: Step[], days = Infinity): number {
  const account = spender();
  for (const { event } of lifeOf({ trialDays: 0, ...first }, steps)) {
    if (event.created > start + days * day) break;
    account.deliver(event);
    account.spend(event.created + 1);
  }
  return account.total;
}

const fails = { do: 'card', works: false, wait: 2 } as const;
const move = (wait: Step['wait'], billing: 'none' | 'prorated' = 'none', price: PriceId | null = null) =>
  ({ do: 'move', billing, price, wait }) as const;
const change = (price: PriceId, wait: Step['wait'], billing: 'none' | 'prorated' | 'next invoice' = 'none') =>
  ({ do: 'change', billing, price, wait }) as const;
/** More often than moments are remembered. */
const often = (step: Step) => Array.from({ length: 100 }, () => step);
const upAndDown = (billing: 'none' | 'prorated' | 'next invoice') =>
  [1, 2].flatMap(() => [change('price_10', day, billing), change('price_1', day, billing)]);
const month = 31 * day;

describe('what is paid can be used', () => {
  test.each<[string, PriceId, Step[], days: number, credits: number]>([
    [
      'an anchor that moves without a payment brings nothing',
      'price_1',
      [fails, ...often(move(3600))],
      25,
      1,
    ],
    // Each move pays for a month, and is given back what is left of the month before: all but an hour.
    ['nor does one for which all is given back', 'price_1', often(move(3600, 'prorated')), 25, 1],
    [
      'nor does a trial that is extended',
      'price_1',
      often({ do: 'extend trial', days: 14, wait: 3600 }),
      10,
      1,
    ],
    ['nor do an upgrade and a downgrade', 'price_1', [fails, ...upAndDown('none')], 29, 1],
    ['nor do they where they are not paid', 'price_1', [fails, ...upAndDown('prorated')], 29, 1],
    ['nor before the next invoice', 'price_1', [fails, ...upAndDown('next invoice')], 29, 1],
    ['a move that is paid brings a month', 'price_1', [move(day), move(day)], Infinity, 4],
    [
      'a trial that is extended as a period begins pays for no higher price',
      'price_1',
      [fails, move(month, 'none', 'price_10'), { do: 'extend trial', days: 1, wait: month }],
      Infinity,
      3,
    ],
    [
      'an upgrade brings nothing for the little that is left of a month',
      'price_1',
      [change('price_10', 29 * day, 'prorated'), change('price_1', 3600)],
      Infinity,
      1 + 2,
    ],
    ['an upgrade brings the next month', 'price_1', [change('price_10', 29 * day)], 50, 1 + 10],
    ['but not where that is not paid', 'price_1', [change('price_10', 29 * day), fails], 50, 1 + 1],
    [
      'an upgrade just after a trial brings its credits with those of the first month',
      'price_1',
      [{ do: 'extend trial', days: 16, wait: day }, change('price_10', 'next period', 'prorated')],
      40,
      // A second of the month is over.
      1 + 9,
    ],
    [
      'and so does a move',
      'price_1',
      [{ do: 'extend trial', days: 16, wait: day }, move('next period', 'prorated', 'price_10')],
      40,
      1 + 10,
    ],
    [
      'an upgrade after more moves than are remembered brings its credits',
      'price_1',
      [...often(move(3600, 'prorated')), change('price_10', 2, 'prorated')],
      25,
      10,
    ],
    [
      'a month after a move that gave back is like the one before, also before it is paid',
      'price_1',
      [move(day, 'prorated'), fails],
      Infinity,
      1 + 1,
    ],
    [
      'an upgrade that is paid holds in the next month, also before that is paid',
      'price_1',
      [change('price_10', 2, 'prorated')],
      30,
      // A minute of the month is over.
      1 + 8 + 10,
    ],
    [
      'an upgrade that is billed with the first month after a trial brings its part and that month',
      'price_1',
      [change('price_4', 'next period', 'next invoice'), { do: 'extend trial', days: 1, wait: 2 }],
      40,
      1 + 1 + (2 + 4),
    ],
    [
      'a month that begins just as the anchor moves is there, also unpaid',
      'price_1',
      [fails, { do: 'extend trial', days: 1, wait: 30 * day - 62 }],
      31,
      1 + 1,
    ],
  ])('%s', (_, price, steps, days, credits) => expect(spentIn({ price }, steps, days)).toBe(credits));

  test.each<[string, number, Step, days: number, credits: number]>([
    ['an upgrade that nothing bills comes with its payment', 40, change('price_10', 2), 40, 1 + 1],
    [
      'when it is extended as it ends, the next month comes with its payment',
      14,
      { do: 'extend trial', days: 16, wait: 'next period' },
      30 + 1 / day,
      1 + 1,
    ],
  ])('of a trial %s', (_, trialDays, step, days, credits) =>
    expect(spentIn({ price: 'price_1', trialDays }, [step], days)).toBe(credits),
  );

  test('a downgrade holds from the next month on, also before anything is said of that month', () => {
    const account = spender();
    const life = lifeOf({ price: 'price_10', trialDays: 0 }, [change('price_1', day)]);
    for (const { event } of life.slice(0, 4)) account.deliver(event);
    expect([2, 32].map((days) => account.spend(start + days * day))).toEqual([10, 1]);
  });

  test('a first period that is shorter than a month has the credits of its part', () => {
    const account = spender();
    const [creation] = lifeOf({ price: 'price_10', trialDays: 15 }, []);
    account.deliver(creation!.event);
    const part = { ...extraLine(start + 15 * day, 700, true), pricing: pricing('price_10') };
    account.deliver(stripeEvent('invoice.paid', invoice({ lines: linesOf(part) }), { created: start + 60 }));
    // 15 of 31 days.
    expect(account.spend(start + 61)).toBe(4);
  });

  test('an upgrade before the first whole month brings its credits: nothing else will be paid until then', () => {
    const account = spender();
    const [creation] = lifeOf({ price: 'price_1', trialDays: 40 }, []);
    account.deliver(creation!.event);
    const [from, anchor] = [start + 20 * day, start + 40 * day];
    const after = { billing_cycle_anchor: anchor, items: items('price_10', anchor) };
    account.deliver(eventsOf('sub_1SAda').updated(from, after, { items: items('price_1', anchor) }));
    const parts = (['price_1', 'price_10'] as const).map((price) => ({
      ...extraLine(anchor, price === 'price_1' ? -700 : 7000, true),
      period: { start: from, end: anchor },
      pricing: pricing(price),
    }));
    account.deliver(stripeEvent('invoice.paid', invoice({ lines: linesOf(...parts) }), { created: from }));
    // 20 of 30 days.
    expect(account.spend(from + 1)).toBe(1 + 6);
  });
});

describe('what is remembered of credits', () => {
  const { created, updated } = eventsOf('sub_1SAda');
  const of = (price: PriceId) => ({ items: items(price) });
  const remembered = (events: HandledEvent[], from = noRegisters) =>
    events.map((event) => registersOf(evidenceOf(event)!)).reduce(mergeRegisters, from);

  test('is forty moments; for what is older stands a count, which nothing older changes', () => {
    const turn = (i: number) => (i % 2 === 0 ? 'price_1' : 'price_4');
    // Both are of one second. If the second in which the count was made came again, its part would be counted twice.
    const billed = (at: number, price: PriceId) => {
      const part = { ...extraLine(start + month, 700, true), pricing: pricing(price) };
      const lines = linesOf({ ...part, period: { start: at, end: start + month } });
      return stripeEvent('invoice.paid', invoice({ lines }), { created: at });
    };
    const changes = Array.from({ length: 30 }, (_, i) => [
      billed(start + i + 1, turn(i + 1)),
      updated(start + i + 1, of(turn(i + 1)), of(turn(i))),
    ]);
    const all = [created(start, of('price_1')), ...changes.flat()];
    const forty = remembered(all.slice(0, 40)).moments;
    expect(forty).toEqual(all.slice(0, 40).flatMap((event) => momentsOf(evidenceOf(event)!)));
    const registers = remembered(all);
    const [count, ...newest] = registers.moments;
    expect(count).toMatchObject({ kind: 'count', atMs: (start + 11) * 1000, eventId: '' });
    expect(newest.map(({ eventId }) => eventId)).toEqual(all.slice(1 + 2 * 11).map(({ id }) => id));
    for (const again of all) expect(remembered([again], registers)).toEqual(registers);
  });

  test('is every payment that comes before its subscription, until that comes', () => {
    const payments = Array.from({ length: 50 }, (_, i) => eventsOf('sub_1SAda').paid(start + i));
    expect(remembered(payments).moments).toHaveLength(50);
    const whole = remembered([...payments, created(start)]);
    expect(whole.moments[0]).toMatchObject({ kind: 'count' });
  });

  test('is what a subscription began with: a price of whose coming nothing was said brings nothing yet', () => {
    const account = spender();
    account.deliver(created(start, of('price_1')));
    account.deliver(updated(start + day, of('price_10'), { status: 'incomplete' }));
    expect(account.spend(start + 2 * day)).toBe(1);
  });

  const [before, begin, after] = [1000, 5000, 9000];
  test.each([
    ['for time after its period’s begin', -1, after, true],
    ['until just then', -1, begin, false],
    ['no unit', 0, after, false],
    ['but takes', 1, after, false],
  ])('is whether an invoice gives back %s, and since when', (_, quantity, endMs, givesBack) => {
    const parts = [2000, before].map((startMs) => ({ priceId: 'price_1', quantity, startMs, endMs }));
    const bill = { periodStartMs: begin, isFree: false, items: [], prorations: parts };
    expect(
      momentsOf({ kind: 'paid', eventId: 'evt_1', ...bill } as unknown as InvoiceEvidence),
    ).toMatchObject([
      { kind: 'prorated', atMs: before },
      { kind: 'paid', atMs: begin, givesBack },
    ]);
  });
});

/** Lives in which more was used than paid once, each with the order of arrival with which it was found. */
const found: [Parameters<typeof lifeOf>, number[]][] = [
  // The trial has just ended, and what is bought then may be known before the month is paid.
  [
    [
      { price: 'price_1', trialDays: 0 },
      [{ do: 'extend trial', days: 16, wait: day }, change('price_10', 16 * day, 'prorated')],
    ],
    [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
  ],
  [
    [
      { price: 'price_1', trialDays: 0 },
      [{ do: 'extend trial', days: 1, wait: day }, move('next period', 'prorated', 'price_10')],
    ],
    [0, 217, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ],
  // What is bought after such a move waits as well.
  [
    [
      { price: 'price_1', trialDays: 0 },
      [
        { do: 'extend trial', days: 1, wait: day },
        move('next period', 'prorated', 'price_4'),
        change('price_10', 2, 'prorated'),
      ],
    ],
    [0, 585, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ],
  // An upgrade is billed together with the whole month that begins just after it.
  [
    [
      { price: 'price_1', trialDays: 0 },
      [change('price_4', 'next period', 'next invoice'), move(2), change('price_10', day), fails],
    ],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ],
  // A downgrade is billed together with the month that a trial's end begins.
  [
    [
      { price: 'price_4', trialDays: 0 },
      [change('price_1', 42 * day + 1, 'next invoice'), { do: 'extend trial', days: 18, wait: 2 }],
    ],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ],
];

describe('over any life of a subscription', () => {
  test('no more credits are used than were paid, however late and in whatever order its events come', () => {
    fc.assert(
      fc.property(anyLife, anySeeds, (steps, seeds) => {
        const life = lifeOf(...steps);
        const account = spender();
        let mostPaid = life[0]!.paidCredits;
        const check = () => expect(account.total).toBeLessThanOrEqual(mostPaid + 1e-6);
        const [creation, ...others] = life;
        // A license is made from the first event of its subscription.
        account.deliver(creation!.event);
        for (const [i, burst] of burstsOf(others).entries()) {
          // What was spent just before it happened was spent of what was paid before.
          account.spend(Math.max(start, burst[0]!.event.created - 1));
          check();
          mostPaid = Math.max(mostPaid, ...burst.map(({ paidCredits }) => paidCredits));
          const now = burst.at(-1)!.event.created;
          const repeated = others.slice(0, i).map(({ event }) => event);
          for (const event of shuffled([...burst.map((one) => one.event), ...repeated.slice(0, 3)], seeds)) {
            account.deliver(event);
            account.spend(now);
            check();
          }
          for (const days of [2, 9, 20])
            account.spend(
              Math.min(now + days * day, (burstsOf(others)[i + 1]?.[0]?.event.created ?? Infinity) - 1),
            );
          check();
        }
      }),
      { numRuns: runs(50), examples: found },
    );
  });

  test('all that was paid can be used, to the credit, where prices only rise and events come in time', () => {
    const scale = 1000;
    const dear = Object.entries(creditsOf).map(([id, credits]) => [
      id,
      { tier: 'pro' as const, creditsPerMonth: credits * scale },
    ]);
    fc.assert(
      fc.property(anyRisingLife, ([first, steps]) => {
        const life = lifeOf(first, steps);
        const account = spender({ ...rules, prices: Object.fromEntries(dear) });
        for (const [i, { event, paidCredits }] of life.entries()) {
          const nextAt = life[i + 1]?.event.created ?? event.created + 30 * day;
          account.deliver(event);
          for (const days of [0, 2, 9, 20])
            account.spend(Math.min(event.created + 1 + days * day, nextAt - 1));
          // What belongs together comes within a second. Each count of credits is rounded down.
          if (nextAt - event.created <= 1) continue;
          expect(account.total).toBeLessThanOrEqual(paidCredits * scale + 1e-3);
          expect(account.total).toBeGreaterThanOrEqual(paidCredits * scale - life.length);
        }
      }),
      { numRuns: runs(50) },
    );
  });

  test('the count that stands for the oldest moments gives the credits that all of them do', () => {
    const step = fc.record({
      do: fc.constantFrom('move' as const, 'change' as const),
      billing: fc.constantFrom('none' as const, 'prorated' as const),
      price: fc.constantFrom('price_1' as const, 'price_4' as const, 'price_10' as const),
      wait: fc.integer({ min: 2, max: 7200 }),
    });
    const many = fc.array(step, { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(anyLife, many, ([first, steps], before) => {
        let registers = noRegisters;
        let moments: typeof registers.moments = [];
        for (const { event } of lifeOf(first, [...before, ...steps])) {
          const evidence = evidenceOf(event);
          if (evidence === null) continue;
          registers = mergeRegisters(registers, registersOf(evidence));
          moments = mergeMoments(moments, momentsOf(evidence));
          expect(registers.moments.length).toBeLessThanOrEqual(41);
          expect(licenseOf(registers, rules)).toEqual(licenseOf({ ...registers, moments }, rules));
        }
      }),
      { numRuns: runs(4) },
    );
  });
});
