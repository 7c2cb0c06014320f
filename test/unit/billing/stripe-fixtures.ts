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
export const seconds = (iso: string) => Date.parse(iso) / 1000;
export const start = seconds('2026-03-31T10:00:00Z');
export const day = 86_400;
export const ownerId = '5d1c7a52-0f0e-4e0b-9a53-2f0c8f4b1a77';
/** What must never reach a log. */
export const personal = ['Ada Lovelace', 'ada@example.com', '+44 20 7946 0000', 'in_secret_link'];

let count = 0;
export const newId = (prefix: string) => `${prefix}_1S${String((count += 1)).padStart(10, '0')}`;
export const newSubscriptionId = () => newId('sub');

export const list = <T>(url: string, data: T[]) => ({ object: 'list' as const, data, has_more: false, url });

function price(id: string): Stripe.Price {
  return {
    id,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    created: start,
    currency: 'eur',
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: null,
    product: 'prod_plan',
    recurring: {
      interval: 'month',
      interval_count: 1,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    tax_behavior: 'exclusive',
    tiers_mode: null,
    transform_quantity: null,
    type: 'recurring',
    unit_amount: 4900,
    unit_amount_decimal: null,
  };
}

function plan(id: string): Stripe.Plan {
  return {
    id,
    object: 'plan',
    active: true,
    amount: 4900,
    amount_decimal: null,
    billing_scheme: 'per_unit',
    created: start,
    currency: 'eur',
    interval: 'month',
    interval_count: 1,
    livemode: false,
    metadata: {},
    meter: null,
    nickname: null,
    product: 'prod_plan',
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  };
}

export function item(priceId: string, periodEnd: number, quantity?: number): Stripe.SubscriptionItem {
  return {
    id: newId('si'),
    object: 'subscription_item',
    billing_thresholds: null,
    created: start,
    current_period_end: periodEnd,
    current_period_start: start,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: plan(priceId),
    price: price(priceId),
    ...(quantity === undefined ? {} : { quantity }),
    subscription: 'sub_of_item',
    tax_rates: [],
  };
}

export const itemList = (items: Stripe.SubscriptionItem[]) => list('/v1/subscription_items', items);

/** An active monthly subscription to `price_pro`. */
export function subscription(changes: Partial<Stripe.Subscription> = {}): Stripe.Subscription {
  return {
    id: 'sub_1SAda',
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: start,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: null, type: 'classic' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    created: start,
    currency: 'eur',
    customer: 'cus_ada',
    customer_account: null,
    days_until_due: null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: personal[0]!,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: itemList([item('price_pro', start + 30 * day, 1)]),
    latest_invoice: 'in_first',
    livemode: false,
    managed_payments: null,
    metadata: { ownerId, note: personal[1]! },
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: null,
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: start,
    status: 'active',
    test_clock: null,
    transfer_data: null,
    trial_end: null,
    trial_settings: null,
    trial_start: null,
    ...changes,
  };
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
