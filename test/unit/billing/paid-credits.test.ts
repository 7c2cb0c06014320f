import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { mergeRegisters, noRegisters, registersOf } from '../../../shared/billing/subscription.ts';
import { licenseOf } from '../../../shared/billing/subscription-license.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import { isActive, type License } from '../../../shared/licenses/license.ts';
import { evidenceOf } from './delivery.ts';
import { day, start, stripeEvent, type HandledEvent } from './stripe-fixtures.ts';
import { extraLine, invoice, line, linesOf } from './stripe-invoices.ts';
import { anyLife, lifeOf, prices, type Occurrence, type PriceId, type Step } from './subscription-lives.ts';

const rules = { prices, pastDueGraceDays: 7 };

/** An account that spends all that its license lets it spend, at any time. */
function spender() {
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
      self.license = licenseOf(registers, rules);
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
function spentIn(first: { price: PriceId }, steps: Step[], days = Infinity): number {
  const account = spender();
  for (const { event } of lifeOf({ trialDays: 0, ...first }, steps)) {
    if (event.created > start + days * day) break;
    account.deliver(event);
    account.spend(event.created + 1);
  }
  return account.total;
}

const fails = { do: 'card', works: false, wait: 2 } as const;

describe('moved anchors', () => {
  const move = (wait: number, billing: 'none' | 'prorated' = 'none'): Step => ({
    do: 'move',
    billing,
    price: null,
    wait,
  });

  test.each([1, 2, 30, 100])(
    'a license of 1 credit makes 1 image, however often its anchor moves: %i times',
    (times) => {
      const moves = Array.from({ length: times }, () => move(3600));
      expect(spentIn({ price: 'price_1' }, [fails, ...moves], 25)).toBe(1);
      const trials = moves.map(() => ({ do: 'extend trial', days: 14, wait: 3600 }) as const);
      expect(spentIn({ price: 'price_1' }, trials, 10)).toBe(1);
      // Each of these pays for a month, and is given back what is left of the month before: all but an hour.
      const prorated = moves.map(() => move(3600, 'prorated'));
      expect(spentIn({ price: 'price_1' }, prorated, 25)).toBe(1);
    },
  );

  test('a trial that is extended in the second in which a period begins pays for no higher price', () => {
    const up = { ...move(31 * day), price: 'price_10' } as const;
    const extend = { do: 'extend trial', days: 1, wait: 31 * day } as const;
    expect(spentIn({ price: 'price_1' }, [fails, up, extend])).toBeLessThanOrEqual(3);
  });

  test('a move that is paid, with nothing given back, begins a new period', () => {
    expect(spentIn({ price: 'price_1' }, [move(86_400), move(86_400)])).toBe(4);
  });
});

describe('other credits', () => {
  test.each(['none', 'next invoice', 'prorated'] as const)(
    'upgrade, spend, downgrade: nothing without a payment (%s)',
    (billing) => {
      const up = { do: 'change', billing, price: 'price_10', wait: day } as const;
      const down = { do: 'change', billing, price: 'price_1', wait: day } as const;
      expect(spentIn({ price: 'price_1' }, [fails, up, down, up, down], 29)).toBe(1);
    },
  );

  test('an upgrade on the last day brings the part of its credits that is paid', () => {
    const up = { do: 'change', billing: 'prorated', price: 'price_10', wait: 29 * day } as const;
    const down = { do: 'change', billing: 'none', price: 'price_1', wait: 3600 } as const;
    // 9 more for the last thirtieth of a month are none.
    expect(spentIn({ price: 'price_1' }, [up, down])).toBe(1 + 2);
  });

  test('a downgrade takes away nothing that is paid, and holds from the next month on', () => {
    const account = spender();
    const down = { do: 'change', billing: 'none', price: 'price_1', wait: day } as const;
    for (const { event } of lifeOf({ price: 'price_10', trialDays: 0 }, [down]).slice(0, 4))
      account.deliver(event);
    expect(account.spend(start + 2 * day)).toBe(10);
    expect(account.spend(start + 32 * day)).toBe(1);
  });

  test('an upgrade that is not paid is not had by waiting for the next month either', () => {
    const up = { do: 'change', billing: 'none', price: 'price_10', wait: 29 * day } as const;
    expect(spentIn({ price: 'price_1' }, [up, fails], 50)).toBe(2);
    expect(spentIn({ price: 'price_1' }, [up], 50)).toBe(11);
  });

  test('a first period that is shorter than a month has the credits of its part', () => {
    const account = spender();
    const [creation] = lifeOf({ price: 'price_10', trialDays: 15 }, []);
    account.deliver(creation!.event);
    const part = { ...extraLine(start + 15 * day, 700, true), pricing: line(start).pricing };
    part.pricing = { ...part.pricing!, price_details: { price: 'price_10', product: 'prod' } };
    account.deliver(stripeEvent('invoice.paid', invoice({ lines: linesOf(part) }), { created: start + 60 }));
    // 15 of 31 days.
    expect(account.spend(start + 61)).toBe(4);
  });
});

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
      { numRuns: Number(process.env.RUNS ?? 150) },
    );
  });

  test('the license in the end does not depend on the order, nor on repetitions', () => {
    fc.assert(
      fc.property(anyLife, anySeeds, (steps, seeds) => {
        const life = lifeOf(...steps);

        const [inOrder, mixed] = [spender(), spender()];
        const events = life.map(({ event }) => event);
        for (const event of events) inOrder.deliver(event);
        for (const event of shuffled([...events, ...events.slice(2, 6)], seeds)) mixed.deliver(event);
        expect(mixed.license).toEqual(inOrder.license);
      }),
      { numRuns: 100 },
    );
  });
});
