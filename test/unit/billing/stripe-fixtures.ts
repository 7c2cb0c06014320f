import type Stripe from 'stripe';

/** The events that are read, as Stripe's own package types them. */
export type HandledEvent =
  | Stripe.CustomerSubscriptionCreatedEvent
  | Stripe.CustomerSubscriptionUpdatedEvent
  | Stripe.CustomerSubscriptionDeletedEvent
  | Stripe.CustomerSubscriptionPausedEvent
  | Stripe.CustomerSubscriptionResumedEvent
  | Stripe.InvoicePaidEvent
  | Stripe.InvoicePaymentFailedEvent
  | Stripe.CheckoutSessionCompletedEvent
  | Stripe.CheckoutSessionAsyncPaymentSucceededEvent
  | Stripe.ChargeRefundedEvent;
type Of<T extends HandledEvent['type']> = Extract<HandledEvent, { type: T }>;
export type Changes = Partial<Stripe.Subscription>;

/** Whole seconds, as Stripe's times are. */
export const start = Date.parse('2026-03-31T10:00:00Z') / 1000;
export const day = 86_400;
/** The end of the first period, and a moment within it. */
export const end = start + 30 * day;
export const t = start + 10;
export const ms = (seconds: number) => seconds * 1000;
export const ownerId = '5d1c7a52-0f0e-4e0b-9a53-2f0c8f4b1a77';
/** Personal data, which must never be logged. */
export const personal = ['Ada Lovelace', 'ada@example.com', '+44 20 7946 0000', 'in_secret_link'];

let count = 0;
export const newId = (prefix: string) => `${prefix}_1S${String((count += 1)).padStart(10, '0')}`;
export const newSubscriptionId = () => newId('sub');

const list = <T>(url: string, data: T[]) => ({ object: 'list' as const, data, has_more: false, url });
export const itemList = (items: Stripe.SubscriptionItem[]) => list('/v1/subscription_items', items);
export const linesOf = (...lines: Stripe.InvoiceLineItem[]) => list('/v1/invoices/in_first/lines', lines);

/** Of Stripe's objects these have what is read, and some of what must be ignored. */
export function item(priceId: string, periodEnd: number, quantity?: number): Stripe.SubscriptionItem {
  const members: Partial<Stripe.SubscriptionItem> = {
    id: newId('si'),
    created: start,
    current_period_end: periodEnd,
    current_period_start: start,
    price: { id: priceId, object: 'price', unit_amount: 4900 } as Stripe.Price,
    ...(quantity === undefined ? {} : { quantity }),
  };
  return members as Stripe.SubscriptionItem;
}

/** One unit of a price. */
export const items = (priceId: string, periodEnd = end) => itemList([item(priceId, periodEnd, 1)]);

/** An active monthly subscription to `price_pro`. */
export function subscription(changes: Changes = {}): Stripe.Subscription {
  const members: Changes = {
    id: 'sub_1SAda',
    object: 'subscription',
    billing_cycle_anchor: start,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    created: start,
    customer: 'cus_ada',
    description: personal[0]!,
    ended_at: null,
    items: items('price_pro'),
    metadata: { ownerId, note: personal[1]! },
    status: 'active',
    ...changes,
  };
  return members as Stripe.Subscription;
}

export function line(
  periodEnd: number,
  changes: Partial<Stripe.InvoiceLineItem> = {},
): Stripe.InvoiceLineItem {
  const members: Partial<Stripe.InvoiceLineItem> = {
    id: newId('il'),
    amount: 4900,
    description: personal[0]!,
    parent: { subscription_item_details: { proration: false } } as Stripe.InvoiceLineItem.Parent,
    period: { start, end: periodEnd },
    pricing: pricing('price_pro'),
    quantity: 1,
    ...changes,
  };
  return members as Stripe.InvoiceLineItem;
}

export function pricing(price: string): Stripe.InvoiceLineItem.Pricing {
  return { price_details: { price, product: 'prod_1' }, type: 'price_details', unit_amount_decimal: null };
}

/** Something charged once beside the plan, or the difference when a plan changed. */
export const extraLine = (periodEnd: number, amount: number, proration: boolean) =>
  line(periodEnd, {
    amount,
    parent: { invoice_item_details: { proration } } as Stripe.InvoiceLineItem.Parent,
  });

export function parentOf(subscriptionId: string): Stripe.Invoice.Parent {
  return {
    quote_details: null,
    subscription_details: { metadata: { ownerId }, subscription: subscriptionId },
    type: 'subscription_details',
  };
}

/** An invoice for a period of `sub_1SAda` that ends after 30 days. */
export function invoice(changes: Partial<Stripe.Invoice> = {}): Stripe.Invoice {
  const members: Partial<Stripe.Invoice> = {
    id: newId('in'),
    object: 'invoice',
    customer: 'cus_ada',
    customer_email: personal[1]!,
    customer_name: personal[0]!,
    customer_phone: personal[2]!,
    hosted_invoice_url: `https://invoice.stripe.com/i/${personal[3]}`,
    lines: linesOf(line(end)),
    parent: parentOf('sub_1SAda'),
    ...changes,
  };
  return members as Stripe.Invoice;
}

/** A checkout of a payment link that the dashboard opened for an account. */
function checkout(changes: Partial<Stripe.Checkout.Session> = {}): Stripe.Checkout.Session {
  const members: Partial<Stripe.Checkout.Session> = {
    id: newId('cs_test'),
    object: 'checkout.session',
    client_reference_id: ownerId,
    customer: 'cus_ada',
    customer_details: { email: personal[1]!, name: personal[0]! } as Stripe.Checkout.Session.CustomerDetails,
    metadata: { plan: 'pro' },
    mode: 'subscription',
    payment_intent: null,
    payment_status: 'paid',
    subscription: 'sub_1SAda',
    ...changes,
  };
  return members as Stripe.Checkout.Session;
}

interface EventOptions {
  id?: string;
  created?: number;
  previous?: object | undefined;
}

export function stripeEvent<T extends HandledEvent['type']>(
  type: T,
  object: Of<T>['data']['object'],
  { id = newId('evt'), created = start, previous }: EventOptions = {},
): Of<T> {
  const base: Partial<Stripe.EventBase> = {
    id,
    object: 'event',
    api_version: '2026-10-28.endive',
    created,
    data: { object, ...(previous === undefined ? {} : { previous_attributes: previous }) } as Of<T>['data'],
    livemode: false,
    type,
  };
  return base as Of<T>;
}

/** Events of one subscription, each at a moment. */
export function eventsOf(id: string) {
  const bill = (until: number) => invoice({ parent: parentOf(id), lines: linesOf(line(until)) });
  return {
    created: (at: number, changes: Changes = {}) =>
      stripeEvent('customer.subscription.created', subscription({ id, ...changes }), { created: at }),
    updated: (at: number, changes: Changes = {}, previous?: Changes, eventId = newId('evt')) =>
      stripeEvent('customer.subscription.updated', subscription({ id, ...changes }), {
        id: eventId,
        created: at,
        ...(previous === undefined ? {} : { previous }),
      }),
    deleted: (at: number, changes: Changes = {}) =>
      stripeEvent('customer.subscription.deleted', subscription({ id, status: 'canceled', ...changes }), {
        created: at,
      }),
    paid: (at: number, until = end) => stripeEvent('invoice.paid', bill(until), { created: at }),
    failed: (at: number, until = end) => stripeEvent('invoice.payment_failed', bill(until), { created: at }),
    bought: (at: number, changes: Partial<Stripe.Checkout.Session> = {}) =>
      stripeEvent('checkout.session.completed', checkout({ subscription: id, ...changes }), { created: at }),
  };
}

/** The events of one purchase of a pack of credits for 39 euros. */
export function packOf(licenseId: string, plan: string, changes: Partial<Stripe.Checkout.Session> = {}) {
  const paymentIntent = newId('pi');
  const session = checkout({
    mode: 'payment',
    subscription: null,
    payment_intent: paymentIntent,
    client_reference_id: licenseId,
    metadata: { plan },
    ...changes,
  });
  return {
    bought: (
      what: 'completed' | 'async_payment_succeeded' = 'completed',
      status: Stripe.Checkout.Session.PaymentStatus = 'paid',
      created = t,
    ) => stripeEvent(`checkout.session.${what}`, { ...session, payment_status: status }, { created }),
    refunded(cents: number, more: object = {}) {
      const charge = { id: newId('ch'), amount: 3900, amount_refunded: cents, payment_intent: paymentIntent };
      const object = { ...charge, billing_details: { email: personal[1] }, ...more } as Stripe.Charge;
      return stripeEvent('charge.refunded', object, { created: t + 1 });
    },
  };
}
