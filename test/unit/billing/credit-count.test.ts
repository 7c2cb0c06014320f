import { describe, expect, test } from '@jest/globals';
import type Stripe from 'stripe';
import { paidAfter, type CreditCount } from '../../../shared/billing/credit-count.ts';
import { mergeRegisters, noRegisters, registersOf } from '../../../shared/billing/subscription.ts';
import { licenseOf } from '../../../shared/billing/subscription-license.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import { evidenceOf } from './delivery.ts';
import {
  day,
  end,
  eventsOf,
  extraLine,
  invoice,
  item,
  itemList,
  items,
  line,
  linesOf,
  ms,
  pricing,
  start,
  stripeEvent,
  type HandledEvent,
} from './stripe-fixtures.ts';
import { prices, type PriceId } from './subscription-lives.ts';

const { created, updated } = eventsOf('sub_1SAda');
const month = 30 * day;
const of = (price: PriceId, anchor = start) => ({ items: items(price), billing_cycle_anchor: anchor });

/** An invoice that is paid at a moment after the start. */
const paid = (after: number, ...lines: Stripe.InvoiceLineItem[]) =>
  stripeEvent('invoice.paid', invoice({ lines: linesOf(...lines) }), { created: start + after });
/** A whole period, between two moments after the start. */
const whole = (price: PriceId, from: number, to: number, amount = 4900) => ({
  ...line(start + to, { amount }),
  period: { start: start + from, end: start + to },
  pricing: pricing(price),
});
/** What is billed, or given back, for a part of a period. */
const part = (price: PriceId, quantity: number, from: number, to: number) => ({
  ...extraLine(start + to, quantity * 700, true),
  quantity: Math.abs(quantity),
  period: { start: start + from, end: start + to },
  pricing: pricing(price),
});

/** The license after these events. */
function licenseAfter(events: HandledEvent[]) {
  const registers = events
    .map((event) => registersOf(evidenceOf(event)!))
    .reduce(mergeRegisters, noRegisters);
  return licenseOf(registers, { prices, pastDueGraceDays: 7 })!;
}
/** The period of credits that holds a moment after the start, and how many it has. */
const creditsAt = (after: number, events: HandledEvent[]) =>
  creditPeriod(licenseAfter(events), ms(start + after));

describe('credits of a part of a month', () => {
  test('are those of its units, in proportion', () => {
    const both = itemList([item('price_1', start + month, 1), item('price_4', start + month, 3)]);
    const events = [
      created(start, of('price_1')),
      paid(60, whole('price_1', 0, month)),
      updated(start + month / 2, { items: both }, { items: items('price_1') }),
      paid(month / 2, part('price_4', 3, month / 2, month)),
    ];
    expect(creditsAt(month / 2, events).creditsLimit).toBe(1 + (3 * 4) / 2);
  });

  test('are added to the first month where it is changed in its first second', () => {
    const change = [part('price_1', -1, 0, month), part('price_10', 1, 0, month)];
    const events = [created(start, of('price_1')), updated(start, of('price_10'), of('price_1'))];
    expect(creditsAt(1, [...events, paid(0, ...change)]).creditsLimit).toBe(10);
  });

  test('of a plan for nothing are given back when another takes its place', () => {
    const given = {
      ...part('price_4', 0, month / 2, month),
      quantity: 1,
      parent: {
        invoice_item_details: { proration: true, proration_details: { credited_items: {} } },
      } as never,
    };
    const events = [
      created(start, of('price_4')),
      paid(0, whole('price_4', 0, month, 0)),
      updated(start + month / 2, of('price_10'), of('price_4')),
      paid(month / 2, given, part('price_10', 1, month / 2, month)),
    ];
    expect(creditsAt(month / 2, events).creditsLimit).toBe((4 + 10) / 2);
  });

  test('of a short first period are all that it has, beside a plan for nothing and an item of no unit', () => {
    const anchor = start + 2 * day;
    const nothing = { ...part('price_4', 0, 0, 2 * day), quantity: 1 };
    const none = { ...part('price_1', 0, 0, 2 * day), quantity: 0 };
    const parts = [part('price_10', 30, 0, 2 * day), nothing, none];
    const all = { items: itemList([item('price_10', anchor, 30), item('price_4', anchor, 1)]) };
    const events = [created(start, { ...all, billing_cycle_anchor: anchor }), paid(0, ...parts)];
    // 2 of 31 days.
    expect(creditsAt(1, events).creditsLimit).toBe(Math.floor((304 * 2) / 31));
  });

  test('that began before the subscription did are those of its first month', () => {
    const anchor = start + 11 * day;
    const before = part('price_4', 1, -20 * day, 11 * day);
    const events = [created(start, of('price_4', anchor)), paid(0, before)];
    const later = updated(start + day, of('price_10', anchor), of('price_4', anchor));
    expect(creditsAt(2 * day, [...events, later]).creditsLimit).toBe(4);
  });

  test('of a plan by the week change nothing in this month, and come with the next', () => {
    const change = [part('price_4', -1, 10 * day, 14 * day), part('price_10', 1, 10 * day, 14 * day)];
    const events = [
      created(start, of('price_4')),
      paid(60, whole('price_4', 0, 7 * day)),
      updated(start + 10 * day, of('price_10'), of('price_4')),
      paid(10 * day, ...change),
    ];
    expect(creditsAt(11 * day, events).creditsLimit).toBe(4);
    const nextWeek = paid(14 * day, whole('price_10', 14 * day, 21 * day));
    expect(creditsAt(15 * day, [...events, nextWeek]).creditsLimit).toBe(4);
    expect(creditsAt(month, [...events, nextWeek]).creditsLimit).toBe(10);
  });
});

describe('a month', () => {
  test('whose payment was stored by an earlier version, without what it bills, has what the subscription had', () => {
    const events = [created(start, of('price_4')), paid(month, whole('price_4', month, 2 * month))];
    const stored = events.map((event) => registersOf(evidenceOf(event)!)).reduce(mergeRegisters, noRegisters);
    const moments = stored.moments.map((moment) => ({ ...moment, items: undefined }) as never);
    const { creditsLimit } = licenseOf({ ...stored, moments }, { prices, pastDueGraceDays: 7 })!;
    expect(creditsLimit).toBe(4);
  });

  test('whose period began before the subscription counts from when that was made', () => {
    const anchor = start - 20 * day;
    const events = [created(start, of('price_4', anchor)), paid(0, whole('price_4', -20 * day, 11 * day))];
    expect(creditsAt(day, events)).toMatchObject({ startMs: ms(start), creditsLimit: 4 });
  });

  test('that is not paid yet keeps its credits when the plan is lowered within it', () => {
    const lowered = updated(start + month + day, of('price_1'), of('price_10'));
    const events = [created(start, of('price_10')), paid(60, whole('price_10', 0, month)), lowered];
    expect(creditsAt(month + 2 * day, events).creditsLimit).toBe(10);
  });

  test('that is paid for an anchor whose event never came is known by a later event', () => {
    const anchor = start + 5 * day;
    const events = [
      created(start, of('price_4')),
      paid(5 * day, whole('price_4', 5 * day, 35 * day)),
      updated(start + 10 * day, { ...of('price_4', anchor), cancel_at_period_end: true }, {}),
    ];
    expect(creditsAt(11 * day, events)).toMatchObject({ startMs: ms(anchor), creditsLimit: 4 });
  });

  test('of an anchor that has moved since begins no count', () => {
    const moved = updated(start + 5 * day, of('price_4', start + 5 * day), of('price_4'));
    const late = paid(month, whole('price_4', month, 2 * month));
    expect(creditsAt(month, [created(start, of('price_4')), moved, late]).startMs).toBe(ms(start));
  });

  const free = (price: PriceId, from: number) => paid(from, whole(price, from, from + month, 0));
  const raised = updated(start + 10 * day, of('price_10'), of('price_1'));
  const moved = of('price_1', start + 5 * day);
  test.each([
    ['raised within the month before', month, [raised, free('price_10', month)]],
    [
      'raised after its anchor moved',
      35 * day,
      [
        updated(start + 5 * day, moved, of('price_1')),
        updated(start + 10 * day, of('price_10', start + 5 * day), moved),
        free('price_10', 35 * day),
      ],
    ],
    [
      'raised as the month begins',
      month,
      [updated(start + month, of('price_10'), of('price_1')), free('price_10', month)],
    ],
  ])('of a plan for nothing has the credits that its invoice settles: %s', (_, from, events) => {
    const all = [created(start, of('price_1')), free('price_1', 0), ...events];
    expect(creditsAt(from - 1, all.slice(0, -1)).creditsLimit).toBe(1);
    expect(creditsAt(from, all)).toMatchObject({ startMs: ms(start + from), creditsLimit: 10 });
  });

  test('is not begun by a trial that is extended by a month, where its invoice begins a second later', () => {
    const trialEnd = Date.parse('2026-05-10T10:00:01Z') / 1000;
    const from = 10 * day + 1;
    const extended = updated(start + 10 * day, of('price_1', trialEnd), of('price_1'));
    const nothing = paid(from, whole('price_1', from, trialEnd - start, 0));
    const events = [created(start, of('price_1')), paid(60, whole('price_1', 0, month)), extended, nothing];
    expect(creditsAt(from, events)).toMatchObject({ startMs: ms(start), creditsLimit: 1 });
  });

  test('that may be another’s waits: what is bought after a period began comes when its payment is known', () => {
    const anchor = start + 17 * day;
    const change = [part('price_1', -1, 32 * day, 47 * day), part('price_10', 1, 32 * day, 47 * day)];
    const events = [
      created(start, of('price_1')),
      updated(start + day, of('price_1', anchor), of('price_1')),
      paid(32 * day, ...change),
      updated(start + 33 * day, { ...of('price_10', anchor), cancel_at_period_end: true }, {}),
    ];
    expect(creditsAt(34 * day, events)).toMatchObject({ startMs: ms(start), creditsLimit: 1 });
    const late = paid(17 * day, whole('price_1', 17 * day, 47 * day));
    expect(creditsAt(34 * day, [...events, late])).toMatchObject({
      startMs: ms(anchor),
      creditsLimit: 1 + 4,
    });
  });
});

describe('a plan that was scheduled for the end of a period', () => {
  const turn = (from: PriceId, to: PriceId, late: number) => [
    created(start, of(from)),
    paid(60, whole(from, 0, month)),
    updated(start + month + late, { items: items(to, start + 61 * day) }, { items: items(from) }),
    paid(month + 3600, whole(to, month, 61 * day)),
  ];

  test.each([0, 1, 30])('is what the next one’s payment brings, where Stripe is %i s late', (late) => {
    const up = turn('price_1', 'price_10', late);
    expect([3, 4].map((n) => creditsAt(month + late, up.slice(0, n)).creditsLimit)).toEqual([1, 10]);
    const down = turn('price_10', 'price_1', late);
    expect([3, 4].map((n) => creditsAt(month + late, down.slice(0, n)).creditsLimit)).toEqual([1, 1]);
  });

  test('is known by its payment, where that comes before its event', () => {
    for (const [from, to, credits] of [
      ['price_1', 'price_10', 10],
      ['price_10', 'price_1', 1],
    ] as const) {
      const [creation, first, change, payment] = turn(from, to, 5);
      for (const events of [[payment!], [payment!, change!]])
        expect(creditsAt(month + 10, [creation!, first!, ...events]).creditsLimit).toBe(credits);
    }
  });

  const list = (...all: PriceId[]) => ({
    items: itemList(all.map((price) => item(price, start + 61 * day, 1))),
  });
  test.each<[string, PriceId[], PriceId[], before: number]>([
    ['without an item that it has no more', ['price_1', 'price_4'], ['price_1'], 1],
    ['with one that it had not', ['price_4'], ['price_10', 'price_4'], 4],
  ])('is what its payment brings, %s', (_, had, has, before) => {
    const payment = paid(month + 3600, ...has.map((price) => whole(price, month, 61 * day)));
    const change = updated(start + month, list(...has), {
      items: itemList(had.map((id) => item(id, end, 1))),
    });
    const events = [created(start, list(...had)), change, payment];
    const credits = has.reduce((sum, price) => sum + prices[price]!.creditsPerMonth!, 0);
    expect([2, 3].map((n) => creditsAt(month, events.slice(0, n)).creditsLimit)).toEqual([before, credits]);
    const early = [events[0]!, payment];
    expect(creditsAt(month, early).creditsLimit).toBe(had.length > 1 ? 5 : credits);
  });

  test('stays what was paid when an item that it does not bill goes within the month', () => {
    const all = { items: itemList([item('price_1', end, 1), item('price_4', end)]) };
    const events = [
      created(start, all),
      paid(60, whole('price_1', 0, month)),
      updated(start + 10 * day, { items: items('price_1') }, all),
    ];
    expect(creditsAt(11 * day, events).creditsLimit).toBe(1 + 4);
  });

  test('of other units is known by them beside an item that it does not bill', () => {
    const units = (count: number, until: number) => ({
      items: itemList([item('price_1', start + until, count), item('price_4', start + until)]),
    });
    const bill = { ...whole('price_1', month, 61 * day), quantity: 3 };
    const events = [
      created(start, units(10, month)),
      paid(60, { ...whole('price_1', 0, month), quantity: 10 }),
      updated(start + month, units(3, 61 * day), units(10, month)),
      paid(month + 3600, bill),
    ];
    expect(creditsAt(month + 1, events).creditsLimit).toBe(3 + 4);
  });

  test('begins with a trial, which changes nothing of what it has', () => {
    const trialEnd = start + month + 14 * day;
    const events = [
      created(start, of('price_10')),
      paid(60, whole('price_10', 0, month)),
      updated(start + month, of('price_1', trialEnd), { ...of('price_10'), billing_cycle_anchor: start }),
    ];
    const nothing = paid(month + 1, whole('price_1', month, month + 14 * day, 0));
    for (const all of [events, [...events, nothing]]) expect(creditsAt(month + 2, all).creditsLimit).toBe(1);
  });

  test('has with it the prices that are billed by use, afterwards', () => {
    const with4 = (price: PriceId, until: number) => ({
      items: itemList([item(price, start + until, 1), item('price_4', start + until)]),
    });
    const payment = paid(month + 3600, whole('price_10', month, 61 * day), whole('price_4', 0, month));
    const events = [
      created(start, with4('price_1', month)),
      paid(60, whole('price_1', 0, month)),
      updated(start + month, with4('price_10', 61 * day), with4('price_1', month)),
      payment,
    ];
    expect([3, 4].map((n) => creditsAt(month, events.slice(0, n)).creditsLimit)).toEqual([5, 14]);
  });
});

test('what a month may consist of is remembered once, without what was given back', () => {
  const [one, four, ten] = (['price_1', 'price_4', 'price_10'] as const).map((priceId) => ({
    priceId,
    quantity: 1,
  }));
  const now = [ten!, four!];
  const count = {
    terms: { anchorMs: ms(start), items: now },
    paid: [[one!], [one!]],
    prorated: [{ ...one!, quantity: -1 }, four!, ten!].map((each) => ({ ...each, months: 0.5 })),
  };
  expect(paidAfter(count as unknown as CreditCount)).toEqual([now]);
});
