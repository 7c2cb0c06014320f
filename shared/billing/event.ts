import type * as z from 'zod/mini';
import {
  BillingFailure,
  CutOff,
  type BillingEvidence,
  type CheckoutEvidence,
  type InvoiceEvidence,
  type Proration,
  type SubscriptionItem,
  type SubscriptionSnapshot,
  type SubscriptionState,
} from './evidence.ts';
import { describeIssues } from '../base/fields.ts';
import { eventKinds } from './event-types.ts';
import {
  checkoutSession,
  invoice,
  isCustomerId,
  periodEndOf,
  previousAttributes,
  rawEvent,
  subscription,
  type InvoiceLine,
  type Previous,
  type RawEvent,
  type SubscriptionMembers,
} from './stripe-objects.ts';

/** @throws BillingFailure `unreadable` */
export function parseRawEvent(body: string): RawEvent {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new BillingFailure('unreadable', 'The message is not JSON.');
  }
  return read(rawEvent, value).detail;
}

const kinds = new Map<string, (typeof eventKinds)[keyof typeof eventKinds]>(Object.entries(eventKinds));

/**
 * What an event says of a subscription; null when it says nothing.
 * @throws BillingFailure `unreadable`, `cut_off`
 */
export function readBillingEvent(event: RawEvent): BillingEvidence | null {
  const kind = kinds.get(event.type);
  // Of refunds only packs of credits know.
  if (kind === undefined || kind === 'refunded') return null;
  if (kind === 'checkout') return readCheckout(event);
  return kind === 'paid' || kind === 'failed' ? readInvoice(event, kind) : readSubscription(event, kind);
}

function readInvoice({ id, created, data }: RawEvent, kind: 'paid' | 'failed'): InvoiceEvidence | null {
  const { id: invoiceId, subscription: topId, parent, lines } = read(invoice, data.object);
  const ofSubscription = topId ?? parent?.subscription_details?.subscription;
  if (ofSubscription === undefined) return null;
  if (lines.has_more) {
    const what = `The lines of invoice ${invoiceId} of ${ofSubscription}`;
    throw new CutOff({ what, member: 'lines', path: `/v1/invoices/${invoiceId}/lines`, query: {} });
  }
  const bills = lines.data.filter((line) => isProration(line) || isOfPlan(line));
  const endOf = (some: InvoiceLine[]) => Math.max(0, ...some.map(({ period }) => period.end));
  // An invoice for a period that is over says nothing of the present one. Stripe does not change the status for it either.
  if (endOf(bills) <= created) return null;
  const billed = bills.filter(({ amount }) => amount >= 0);
  const whole = billed.filter((line) => !isProration(line));
  const startMs = Math.max(-1, ...whole.map(({ period }) => period.start));
  const ofPeriod = whole.filter(({ period }) => period.start === startMs);
  return {
    kind,
    eventId: id,
    occurredAtMs: created,
    subscriptionId: ofSubscription,
    periodStartMs: startMs < 0 || startMs > created ? null : startMs,
    isFree: whole.every(({ amount }) => amount === 0),
    items: billedItems(ofPeriod),
    periodEndMs: endOf(billed),
    prorations: bills.filter((line) => isProration(line) && !isLeftFor(line, whole)).map(toProration),
  };
}

function readSubscription(
  { id, created, data }: RawEvent,
  change: SubscriptionSnapshot['change'],
): SubscriptionSnapshot {
  const object = read(subscription, data.object);
  if (object.items.has_more) {
    const what = `The items of subscription ${object.id}`;
    const query = { subscription: object.id };
    throw new CutOff({ what, member: 'items', path: '/v1/subscription_items', query });
  }
  // It only helps to order two events, so one that can't be read is left out.
  const previous = previousAttributes.safeParse(data.previous_attributes).data ?? {};
  if (previous.items?.has_more) {
    // What the event added was made in the moments before it.
    const others = object.items.data.filter((one) => (one.created ?? 0) <= created - 2000);
    previous.items = { data: joined(previous.items.data, others) };
  }
  return {
    kind: 'subscription',
    change,
    eventId: id,
    occurredAtMs: created,
    subscriptionId: object.id,
    ownerId: ownerOf(object.metadata?.ownerId),
    customerId: customerOf(object.customer),
    createdAtMs: object.created,
    state: stateOf(object),
    before: beforeOf(previous),
  };
}

/** Whoever made the subscription may have named the account in its metadata. */
function ownerOf(ownerId: unknown): string | null {
  return typeof ownerId === 'string' && /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(ownerId) ? ownerId : null;
}

/** An event has its customer's id, never the customer. It is only there to be found by, so nothing fails for it. */
function customerOf(customer: unknown): string | null {
  return typeof customer === 'string' && isCustomerId(customer) ? customer : null;
}

/** What Cognito gives as a `sub`. */
const accountId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Whoever opened the payment link sent the reference, and may have changed it: all that one can do by it is to pay for
 * somebody else. What is no account's id binds nothing, because nothing binds a subscription anew.
 */
function readCheckout({ id, created, data }: RawEvent): CheckoutEvidence | null {
  const { subscription: subscriptionId, client_reference_id: reference } = read(checkoutSession, data.object);
  if (!subscriptionId || typeof reference !== 'string' || !accountId.test(reference)) return null;
  return { kind: 'checkout', eventId: id, occurredAtMs: created, subscriptionId, ownerId: reference };
}

/** The entries that an event shows, and of the others those that it does not show. */
export function joined<T extends { id?: unknown }>(shown: T[], others: T[]): T[] {
  const ids = new Set(shown.map(({ id }) => id));
  return [...shown, ...others.filter(({ id }) => !ids.has(id))];
}

/** @throws BillingFailure `unreadable` */
export function read<T extends z.ZodMiniType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new BillingFailure(
    'unreadable',
    `The event has another shape: ${describeIssues(parsed.error.issues)}`,
  );
}

function stateOf(object: SubscriptionMembers): SubscriptionState {
  return {
    status: object.status,
    items: toItems(object.items),
    periodEndMs: periodEndOf(object)!,
    anchorMs: object.billing_cycle_anchor,
    cancelAtMs: object.cancel_at ?? null,
    cancelsAtPeriodEnd: object.cancel_at_period_end ?? false,
    endedAtMs: object.ended_at ?? null,
  };
}

function beforeOf(previous: Previous): Partial<SubscriptionState> {
  const members: { [Member in keyof SubscriptionState]: SubscriptionState[Member] | undefined } = {
    status: previous.status,
    items: previous.items && toItems(previous.items),
    periodEndMs: periodEndOf(previous) ?? undefined,
    anchorMs: previous.billing_cycle_anchor,
    cancelAtMs: previous.cancel_at,
    cancelsAtPeriodEnd: previous.cancel_at_period_end ?? undefined,
    endedAtMs: previous.ended_at,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** A metered price has no quantity: it counts once. */
function toItems({ data }: SubscriptionMembers['items']): SubscriptionItem[] {
  const all = data.map(({ price, quantity }) => ({ priceId: price.id, quantity: quantity ?? 1 }));
  return sorted(all);
}

function sorted(all: SubscriptionItem[]): SubscriptionItem[] {
  return all.sort((a, b) =>
    a.priceId === b.priceId ? a.quantity - b.quantity : a.priceId < b.priceId ? -1 : 1,
  );
}

/** A price with tiers has a line for each tier that is reached. */
function billedItems(lines: InvoiceLine[]): SubscriptionItem[] {
  const units = new Map<string, number>();
  for (const line of lines) {
    const priceId = priceIdOf(line);
    if (priceId === null) return [];
    units.set(priceId, (units.get(priceId) ?? 0) + (line.quantity ?? 1));
  }
  return sorted([...units].map(([priceId, quantity]) => ({ priceId, quantity })));
}

/** One-off items bill no period of the subscription: they are neither of the plan nor a proration. */
function isOfPlan({ type, parent }: InvoiceLine): boolean {
  return type === 'subscription' || Boolean(parent?.subscription_item_details);
}

function isProration({ proration, parent }: InvoiceLine): boolean {
  return Boolean(
    proration ?? parent?.subscription_item_details?.proration ?? parent?.invoice_item_details?.proration,
  );
}

function priceIdOf({ price, pricing }: InvoiceLine): string | null {
  return price?.id ?? pricing?.price_details?.price ?? null;
}

function toProration(line: InvoiceLine): Proration {
  const { quantity, period } = line;
  const units = Math.abs(quantity ?? 1);
  return {
    priceId: priceIdOf(line),
    quantity: givesBack(line) ? -units : units,
    startMs: period.start,
    endMs: period.end,
  };
}

/** What is given back of a plan that cost nothing has no sign. Older invoices do not say what they give back. */
function givesBack({ amount, parent, proration_details: details }: InvoiceLine): boolean {
  if (amount !== 0) return amount < 0;
  const { subscription_item_details: plan, invoice_item_details: extra } = parent ?? {};
  const credited = [details, plan?.proration_details, extra?.proration_details];
  return credited.some((each) => Boolean(each?.credited_items));
}

/** Whether a plan that cost nothing is left for one that is paid for a whole period: nothing is taken off that. */
function isLeftFor(line: InvoiceLine, whole: InvoiceLine[]): boolean {
  return line.amount === 0 && givesBack(line) && whole.some(({ amount }) => amount > 0);
}
