import * as fc from 'fast-check';
import type Stripe from 'stripe';
import type { BillingPrices } from '../../../shared/billing/prices.ts';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import {
  day,
  eventsOf,
  extraLine,
  invoice,
  items,
  line,
  linesOf,
  pricing,
  start,
  stripeEvent,
  type Changes,
  type HandledEvent,
} from './stripe-fixtures.ts';

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
type Deed =
  | { do: 'move'; billing: Billing; price: PriceId | null }
  | { do: 'change'; billing: Billing | 'next invoice'; price: PriceId }
  | { do: 'schedule'; price: PriceId }
  | { do: 'extend trial'; days: number }
  | { do: 'card'; works: boolean }
  | { do: 'cancel' };
/** A deed after a wait in seconds, or just after the next period has begun. */
export type Step = Deed & { wait: number | 'next period' };

/** The events of a subscription to which this happens, and what was paid for. */
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
  const stripe = eventsOf('sub_1SAda');
  const state = {
    now: start,
    anchor: start + trialDays * day,
    from: start,
    end: trialDays > 0 ? start + trialDays * day : nextEnd(start, start),
    price: firstPrice,
    paidPrice: firstPrice,
    /** From the next period on. */
    nextPrice: null as PriceId | null,
    status: (trialDays > 0 ? 'trialing' : 'incomplete') as Stripe.Subscription.Status,
    cardWorks: true,
    isOver: false,
    paidCredits: 0,
    pending: [] as Bill[],
    unpaid: null as Bill | null,
    /** When a month begins within a trial, by calculation; 0 where none does. */
    trialMonth: 0,
  };

  const emit = (event: HandledEvent) => occurrences.push({ event, paidCredits: state.paidCredits });
  const present = () => {
    const { status, anchor, price, end } = state;
    return { status, billing_cycle_anchor: anchor, items: items(price, end) };
  };
  const emitChange = (before: Changes, at = state.now) => emit(stripe.updated(at, present(), before));
  const emitPaid = (at: number, ...lines: Stripe.InvoiceLineItem[]) =>
    emit(stripeEvent('invoice.paid', invoice({ lines: linesOf(...lines) }), { created: at }));
  const setStatus = (status: Stripe.Subscription.Status, at: number) => {
    const before = state.status;
    state.status = status;
    if (before !== status) emitChange({ status: before }, at);
  };

  /** Stripe tries to collect an invoice at this moment. */
  const collect = (bill: Bill, at: number) => {
    if (state.cardWorks) {
      state.paidCredits += bill.adds;
      if (bill.price !== null) {
        // A month of a trial that has not begun has what is paid by then, as every month that is not paid itself.
        const more = creditsOf[bill.price] - creditsOf[state.paidPrice];
        if (at < state.trialMonth) state.paidCredits += Math.max(0, more);
        state.paidPrice = bill.price;
      }
      state.unpaid = null;
      emitPaid(at, ...bill.lines);
      setStatus('active', at);
    } else {
      state.unpaid = bill;
      const object = invoice({ lines: linesOf(...bill.lines) });
      emit(stripeEvent('invoice.payment_failed', object, { created: at }));
      if (state.status !== 'incomplete') setStatus('past_due', at);
    }
  };

  const whole = (): Bill => ({
    lines: [
      { ...line(state.end), period: { start: state.from, end: state.end }, pricing: pricing(state.price) },
    ],
    adds: creditsOf[state.price],
    price: state.price,
  });

  /** What is left of the present period is billed for another price, or given back for none. */
  const rest = (price: PriceId | null): Bill => {
    const { startMs, endMs } = billingPeriod(state.anchor * 1000, state.end * 1000 - 1);
    const share = (state.end - state.now) / ((endMs - startMs) / 1000);
    const partOf = (of: PriceId, sign: 1 | -1) => ({
      ...extraLine(state.end, sign * 700, true),
      period: { start: state.now, end: state.end },
      pricing: pricing(of),
    });
    return {
      lines: [partOf(state.price, -1), ...(price === null ? [] : [partOf(price, 1)])],
      adds: share * ((price === null ? 0 : creditsOf[price]) - creditsOf[state.price]),
      price,
    };
  };

  const joined = (...bills: Bill[]): Bill => {
    const adds = bills.reduce((sum, bill) => sum + bill.adds, 0);
    const price = bills.at(-1)?.price ?? null;
    return { lines: bills.flatMap(({ lines }) => lines), adds: Math.max(0, adds), price };
  };

  function renew(): void {
    const before: Changes = { items: present().items };
    const at = state.end;
    state.from = at;
    state.end = nextEnd(state.anchor, at);
    const former = state.price;
    state.price = state.nextPrice ?? state.price;
    state.nextPrice = null;
    if (state.status === 'trialing') {
      state.status = 'active';
      before.status = 'trialing';
    }
    // A month that is not paid (yet) has no more credits than the last one that was, by calculation.
    const unpaid = Math.min(creditsOf[state.price], creditsOf[state.paidPrice]);
    // That a smaller plan was scheduled for it nobody knows before its event.
    const unknown = Math.min(creditsOf[former], creditsOf[state.paidPrice]) - unpaid;
    state.paidCredits += unpaid + Math.max(0, unknown);
    emitChange(before, at);
    const bill = joined(...state.pending, whole());
    state.pending = [];
    collect({ ...bill, adds: bill.adds - unpaid }, at + 1);
  }

  const deeds = {
    move({ billing, price }: Extract<Deed, { do: 'move' }>) {
      const { status, pending } = state;
      const { status: _status, ...before } = present();
      const given = billing === 'prorated' && status !== 'trialing' ? [rest(null)] : [];
      const end = nextEnd(state.now, state.now);
      Object.assign(state, { anchor: state.now, from: state.now, end, pending: [] });
      state.price = price ?? state.price;
      state.nextPrice = null;
      if (status === 'trialing') state.status = 'active';
      emitChange(status === 'trialing' ? { ...before, status } : before);
      collect(joined(...pending, joined(...given, whole())), state.now + 1);
    },
    change({ billing, price }: Extract<Deed, { do: 'change' }>) {
      state.nextPrice = null;
      if (price === state.price) return;
      const before = { items: present().items };
      const bill = state.status === 'trialing' || billing === 'none' ? null : rest(price);
      state.price = price;
      emitChange(before);
      if (bill === null) return;
      if (billing === 'next invoice') state.pending.push(joined(bill));
      else collect(joined(bill), state.now + 1);
    },
    schedule({ price }: Extract<Deed, { do: 'schedule' }>) {
      state.nextPrice = price;
    },
    'extend trial'({ days }: Extract<Deed, { do: 'extend trial' }>) {
      const before = present();
      const end = state.now + days * day;
      // A trial of more than a month has credits each month, by calculation.
      const trialMonth = nextEnd(end, state.now);
      if (trialMonth < end) {
        state.paidCredits += creditsOf[state.paidPrice];
        state.trialMonth = trialMonth;
      }
      Object.assign(state, { anchor: end, from: state.now, end, status: 'trialing' });
      emitChange(before);
      const period = { start: state.now, end };
      emitPaid(state.now + 1, { ...line(end), amount: 0, period, pricing: pricing(state.price) });
    },
    card({ works }: Extract<Deed, { do: 'card' }>) {
      state.cardWorks = works;
      if (works && state.unpaid !== null) collect(state.unpaid, state.now);
    },
    cancel() {
      state.isOver = true;
      emit(stripe.deleted(state.now, { ...present(), status: 'canceled', ended_at: state.now }));
    },
  };

  if (trialDays > 0) {
    state.paidCredits += creditsOf[firstPrice];
    emit(stripe.created(start, present()));
    emitPaid(start, { ...line(state.end), amount: 0, pricing: pricing(firstPrice) });
  } else {
    emit(stripe.created(start, present()));
    collect(whole(), start + 60);
  }
  state.now = start + 60;

  return {
    occurrences,
    wait(seconds: number | 'next period') {
      const until = seconds === 'next period' ? state.end + 1 : state.now + seconds;
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

const anyPrice = fc.constantFrom(...priceIds);
const billings = ['none', 'prorated'] as const;
const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    do: fc.constant('move' as const),
    billing: fc.constantFrom(...billings),
    price: fc.option(anyPrice),
  }),
  fc.record({
    do: fc.constant('change' as const),
    billing: fc.constantFrom(...billings, 'next invoice' as const),
    price: anyPrice,
  }),
  fc.record({ do: fc.constant('schedule' as const), price: anyPrice }),
  fc.record({ do: fc.constant('extend trial' as const), days: fc.integer({ min: 1, max: 45 }) }),
  fc.record({ do: fc.constant('card' as const), works: fc.boolean() }),
  fc.constant({ do: 'cancel' as const }),
);
const anyWait = fc.oneof(
  fc.integer({ min: 2, max: 7200 }),
  // The second more keeps every deed out of the second in which a period begins: of two invoices for a period from that second on,
  // the renewal's and the deed's, one counts.
  fc.integer({ min: 1, max: 45 }).map((days) => days * day + 1),
  fc.constant('next period' as const),
);

/** Lives in which prices only rise, and all that is billed is billed at once. */
export const anyRisingLife = fc
  .tuple(
    anyPrice,
    fc.array(
      fc.record({
        wait: anyWait,
        do: fc.constantFrom('move', 'change', 'schedule'),
        billing: fc.constantFrom(...billings),
        price: anyPrice,
      }),
      {
        maxLength: 8,
      },
    ),
  )
  .map(([first, deeds]) => {
    let price = first;
    const steps = deeds.map((deed) => {
      if (creditsOf[deed.price] > creditsOf[price]) price = deed.price;
      return { ...deed, price } as Step;
    });
    return [{ price: first, trialDays: 0 }, steps] as const;
  });

export const anyLife = fc.tuple(
  fc.record({ price: anyPrice, trialDays: fc.constantFrom<number>(0, 0, 14, 40) }),
  fc.array(
    fc.tuple(anyWait, anyDeed).map(([wait, deed]): Step => ({ ...deed, wait })),
    { maxLength: 8 },
  ),
);
