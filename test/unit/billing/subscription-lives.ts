import * as fc from 'fast-check';
import type Stripe from 'stripe';
import type { BillingPrices } from '../../../shared/billing/prices.ts';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import {
  day,
  item,
  itemList,
  start,
  stripeEvent,
  subscription,
  type HandledEvent,
} from './stripe-fixtures.ts';
import { extraLine, invoice, line, linesOf } from './stripe-invoices.ts';

export const creditsOf = { price_1: 1, price_4: 4, price_10: 10 } as const;
export type PriceId = keyof typeof creditsOf;
const priceIds = Object.keys(creditsOf) as PriceId[];
export const prices: BillingPrices = Object.fromEntries(
  priceIds.map((id) => [id, { tier: 'pro', creditsPerMonth: creditsOf[id] }]),
);

/** An event, and how many credits were paid for in the whole life until then. */
export interface Occurrence {
  event: HandledEvent;
  paidCredits: number;
}

type Billing = 'none' | 'prorated';
export type Deed =
  | { do: 'move'; billing: Billing; price: PriceId | null }
  | { do: 'change'; billing: Billing | 'next invoice'; price: PriceId }
  | { do: 'extend trial'; days: number }
  | { do: 'card'; works: boolean }
  | { do: 'note' }
  | { do: 'cancel' };
/** A deed after a wait in seconds. */
export type Step = Deed & { wait: number };

/** What Stripe tells of a subscription to which this happens, and what was paid for. */
export function lifeOf(first: { price: PriceId; trialDays: number }, steps: Step[]): Occurrence[] {
  const life = newLife(first.price, first.trialDays);
  for (const { wait, ...deed } of steps) {
    life.wait(wait);
    life.act(deed);
  }
  life.wait(40 * day);
  return life.occurrences.sort((a, b) => a.event.created - b.event.created);
}

interface Bill {
  lines: Stripe.InvoiceLineItem[];
  /** What its payment adds to the paid credits. */
  adds: number;
  /** The items that are paid for a month by it. */
  price: PriceId | null;
}

function newLife(firstPrice: PriceId, trialDays: number) {
  const occurrences: Occurrence[] = [];
  const state = {
    now: start,
    anchor: start + trialDays * day,
    from: start,
    end: trialDays > 0 ? start + trialDays * day : nextEnd(start, start),
    price: firstPrice,
    paidPrice: firstPrice,
    status: (trialDays > 0 ? 'trialing' : 'incomplete') as Stripe.Subscription.Status,
    cardWorks: true,
    isOver: false,
    paidCredits: 0,
    pending: [] as Bill[],
    unpaid: null as Bill | null,
    /** When a month begins within a trial, by calculation; 0 where none does. */
    trialMonth: 0,
  };

  const tell = (event: HandledEvent) => occurrences.push({ event, paidCredits: state.paidCredits });
  const present = () =>
    subscription({
      status: state.status,
      billing_cycle_anchor: state.anchor,
      items: itemList([item(state.price, state.end, 1)]),
    });
  const tellChange = (before: Partial<Stripe.Subscription>, at = state.now) =>
    tell(stripeEvent('customer.subscription.updated', present(), { created: at, previous: before as any }));
  const items = () => itemList([item(state.price, state.end, 1)]);
  const setStatus = (status: Stripe.Subscription.Status, at: number) => {
    const before = state.status;
    state.status = status;
    if (before !== status) tellChange({ status: before }, at);
  };

  /** Stripe tries to collect an invoice at this moment. */
  const collect = (bill: Bill, at: number) => {
    const object = invoice({ lines: linesOf(...bill.lines) });
    if (state.cardWorks) {
      state.paidCredits += bill.adds;
      if (bill.price !== null) {
        // A month of a trial that has not begun has what is paid by then, as every month that is not paid itself.
        const more = creditsOf[bill.price] - creditsOf[state.paidPrice];
        if (at < state.trialMonth) state.paidCredits += Math.max(0, more);
        state.paidPrice = bill.price;
      }
      state.unpaid = null;
      tell(stripeEvent('invoice.paid', object, { created: at }));
      setStatus('active', at);
    } else {
      state.unpaid = bill;
      tell(stripeEvent('invoice.payment_failed', object, { created: at }));
      if (state.status !== 'incomplete') setStatus('past_due', at);
    }
  };

  /** A month that is not paid (yet) has no more credits than the last one that was. */
  const unpaidCredits = () => Math.min(creditsOf[state.price], creditsOf[state.paidPrice]);

  const whole = (): Bill => ({
    lines: [lineOf(state.price, state.from, state.end)],
    adds: creditsOf[state.price],
    price: state.price,
  });

  /** What is left of the present period is billed for another price, or given back for none. */
  const rest = (price: PriceId | null): Bill => {
    const { startMs, endMs } = billingPeriod(state.anchor * 1000, state.end * 1000 - 1);
    const share = (state.end - state.now) / ((endMs - startMs) / 1000);
    const back = prorationOf(state.price, state.now, state.end, -1);
    return {
      lines: price === null ? [back] : [back, prorationOf(price, state.now, state.end, 1)],
      adds: share * ((price === null ? 0 : creditsOf[price]) - creditsOf[state.price]),
      price,
    };
  };

  const together = (bills: Bill[]): Bill => ({
    lines: bills.flatMap(({ lines }) => lines),
    adds: Math.max(
      0,
      bills.reduce((sum, { adds }) => sum + adds, 0),
    ),
    price: bills.at(-1)?.price ?? null,
  });

  function renew(): void {
    const before = { items: items() };
    const at = state.end;
    state.from = at;
    state.end = nextEnd(state.anchor, at);
    if (state.status === 'trialing') {
      state.status = 'active';
      Object.assign(before, { status: 'trialing' });
    }
    // A period that is not paid yet, by calculation.
    const unpaid = unpaidCredits();
    state.paidCredits += unpaid;
    tellChange(before, at);
    const bill = together([...state.pending, whole()]);
    state.pending = [];
    collect({ ...bill, adds: bill.adds - unpaid }, at + 1);
  }

  const deeds = {
    move({ billing, price }: Extract<Deed, { do: 'move' }>) {
      const before = { billing_cycle_anchor: state.anchor, items: items() };
      const given = billing === 'prorated' && state.status !== 'trialing' ? [rest(null)] : [];
      const [wasTrial, pending] = [state.status === 'trialing', state.pending];
      Object.assign(state, {
        anchor: state.now,
        from: state.now,
        end: nextEnd(state.now, state.now),
        pending: [],
      });
      state.price = price ?? state.price;
      if (wasTrial) state.status = 'active';
      tellChange(wasTrial ? { ...before, status: 'trialing' } : before);
      collect(together([...pending, together([...given, whole()])]), state.now + 1);
    },
    change({ billing, price }: Extract<Deed, { do: 'change' }>) {
      if (price === state.price) return;
      const before = { items: items() };
      const bill = state.status === 'trialing' || billing === 'none' ? null : rest(price);
      state.price = price;
      tellChange(before);
      if (bill === null) return;
      if (billing === 'next invoice') state.pending.push(together([bill]));
      else collect(together([bill]), state.now + 1);
    },
    'extend trial'({ days }: Extract<Deed, { do: 'extend trial' }>) {
      const before = { billing_cycle_anchor: state.anchor, items: items(), status: state.status };
      const end = state.now + days * day;
      // A trial of more than a month has credits each month, by calculation.
      const trialMonth = nextEnd(end, state.now);
      if (trialMonth < end) {
        state.paidCredits += creditsOf[state.paidPrice];
        state.trialMonth = trialMonth;
      }
      Object.assign(state, { anchor: end, from: state.now, end, status: 'trialing' });
      tellChange(before);
      const free = line(end, {
        amount: 0,
        period: { start: state.now, end },
        pricing: pricingOf(state.price),
      });
      tell(stripeEvent('invoice.paid', invoice({ lines: linesOf(free) }), { created: state.now + 1 }));
    },
    card({ works }: Extract<Deed, { do: 'card' }>) {
      state.cardWorks = works;
      if (works && state.unpaid !== null) collect(state.unpaid, state.now);
    },
    note: () => void tellChange({}),
    cancel() {
      state.isOver = true;
      const ended = { ...present(), status: 'canceled' as const, ended_at: state.now };
      tell(stripeEvent('customer.subscription.deleted', ended, { created: state.now }));
    },
  };

  tell(stripeEvent('customer.subscription.created', present(), { created: start }));
  if (trialDays > 0) {
    state.paidCredits += creditsOf[firstPrice];
    occurrences[0]!.paidCredits = state.paidCredits;
    const free = line(state.end, { amount: 0, pricing: pricingOf(firstPrice) });
    tell(stripeEvent('invoice.paid', invoice({ lines: linesOf(free) }), { created: start }));
  } else collect(whole(), start + 60);
  state.now = start + 60;

  return {
    occurrences,
    wait(seconds: number) {
      const until = state.now + seconds;
      while (!state.isOver && state.end <= until) {
        state.now = state.end;
        renew();
      }
      state.now = Math.max(until, state.now);
    },
    act(deed: Deed) {
      if (!state.isOver && (state.status !== 'incomplete' || deed.do === 'card'))
        deeds[deed.do](deed as never);
    },
  };
}

function nextEnd(anchor: number, at: number): number {
  return billingPeriod(anchor * 1000, at * 1000).endMs / 1000;
}

function pricingOf(price: PriceId): Stripe.InvoiceLineItem.Pricing {
  const price_details = { price, product: `prod_of_${price}` };
  return { price_details, type: 'price_details', unit_amount_decimal: null };
}

function lineOf(price: PriceId, from: number, end: number): Stripe.InvoiceLineItem {
  return line(end, { period: { start: from, end }, pricing: pricingOf(price) });
}

function prorationOf(price: PriceId, from: number, end: number, sign: 1 | -1): Stripe.InvoiceLineItem {
  const part = extraLine(end, sign * 700, true);
  return { ...part, period: { start: from, end }, pricing: pricingOf(price) };
}

const anyPrice = fc.constantFrom(...priceIds);
const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    do: fc.constant('move' as const),
    billing: fc.constantFrom('none', 'prorated'),
    price: fc.option(anyPrice),
  }),
  fc.record({
    do: fc.constant('change' as const),
    billing: fc.constantFrom('none', 'prorated', 'next invoice'),
    price: anyPrice,
  }),
  fc.record({ do: fc.constant('extend trial' as const), days: fc.integer({ min: 1, max: 45 }) }),
  fc.record({ do: fc.constant('card' as const), works: fc.boolean() }),
  fc.constant({ do: 'note' as const }),
  { weight: 1, arbitrary: fc.constant({ do: 'cancel' as const }) },
) as fc.Arbitrary<Deed>;
const anyWait = fc.oneof(
  fc.integer({ min: 2, max: 7200 }),
  fc.integer({ min: 1, max: 45 }).map((days) => days * day),
);

export const anyLife = fc.tuple(
  fc.record({ price: anyPrice, trialDays: fc.constantFrom(0, 0, 14, 40) }),
  fc.array(
    fc.tuple(anyWait, anyDeed).map(([wait, deed]) => ({ ...deed, wait })),
    { maxLength: 8 },
  ),
);
