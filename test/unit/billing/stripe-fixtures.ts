import type Stripe from 'stripe';

/** The events that are read, as Stripe's own package types them. */
export type HandledEvent =
  | Stripe.CustomerSubscriptionCreatedEvent
  | Stripe.CustomerSubscriptionUpdatedEvent
  | Stripe.CustomerSubscriptionDeletedEvent
  | Stripe.CustomerSubscriptionPausedEvent
  | Stripe.CustomerSubscriptionResumedEvent
  | Stripe.InvoicePaidEvent
  | Stripe.InvoicePaymentFailedEvent;
type Of<T extends HandledEvent['type']> = Extract<HandledEvent, { type: T }>;

/** Whole seconds, as Stripe tells them. */
const seconds = (iso: string) => Date.parse(iso) / 1000;
export const start = seconds('2026-03-31T10:00:00Z');
export const day = 86_400;
export const ownerId = '5d1c7a52-0f0e-4e0b-9a53-2f0c8f4b1a77';
/** Personal data, which must never be logged. */
export const personal = ['Ada Lovelace', 'ada@example.com', '+44 20 7946 0000', 'in_secret_link'];

let count = 0;
export const newId = (prefix: string) => `${prefix}_1S${String((count += 1)).padStart(10, '0')}`;
export const newSubscriptionId = () => newId('sub');

export const list = <T>(url: string, data: T[]) => ({ object: 'list' as const, data, has_more: false, url });

/** Of Stripe's objects these have what is read, and some of what must be ignored. */
export function item(priceId: string, periodEnd: number, quantity?: number): Stripe.SubscriptionItem {
  const members: Partial<Stripe.SubscriptionItem> = {
    id: newId('si'),
    object: 'subscription_item',
    created: start,
    current_period_end: periodEnd,
    current_period_start: start,
    metadata: {},
    price: { id: priceId, object: 'price', nickname: null, unit_amount: 4900 } as Stripe.Price,
    ...(quantity === undefined ? {} : { quantity }),
    subscription: 'sub_of_item',
  };
  return members as Stripe.SubscriptionItem;
}

export const itemList = (items: Stripe.SubscriptionItem[]) => list('/v1/subscription_items', items);

/** An active monthly subscription to `price_pro`. */
export function subscription(changes: Partial<Stripe.Subscription> = {}): Stripe.Subscription {
  const members: Partial<Stripe.Subscription> = {
    id: 'sub_1SAda',
    object: 'subscription',
    billing_cycle_anchor: start,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    created: start,
    currency: 'eur',
    customer: 'cus_ada',
    description: personal[0]!,
    ended_at: null,
    items: itemList([item('price_pro', start + 30 * day, 1)]),
    latest_invoice: 'in_first',
    metadata: { ownerId, note: personal[1]! },
    pause_collection: null,
    status: 'active',
    trial_end: null,
    ...changes,
  };
  return members as Stripe.Subscription;
}

export interface EventOptions<T extends HandledEvent['type']> {
  id?: string;
  created?: number;
  previous?: Of<T>['data']['previous_attributes'];
}

export function stripeEvent<T extends HandledEvent['type']>(
  type: T,
  object: Of<T>['data']['object'],
  { id = newId('evt'), created = start, previous }: EventOptions<T> = {},
): Of<T> {
  const base: Stripe.EventBase = {
    id,
    object: 'event',
    api_version: '2026-10-28.endive',
    created,
    data: { object, ...(previous === undefined ? {} : { previous_attributes: previous }) },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  };
  return base as Of<T>;
}
