import * as z from 'zod/mini';
import {
  BillingFailure,
  CutOff,
  subscriptionStatuses,
  type BillingEvidence,
  type InvoiceEvidence,
  type Proration,
  type SubscriptionItem,
  type SubscriptionSnapshot,
  type SubscriptionState,
} from './evidence.ts';
import { describeIssues } from '../base/fields.ts';
import { eventKinds } from './event-types.ts';

/** Stripe's times are whole seconds. Years after 9999 are refused. */
const seconds = z.pipe(
  z.int().check(z.gte(0), z.lt(253_402_300_800)),
  z.transform((value: number) => value * 1000),
);
/** A member that one of the two versions of the API leaves out. */
const maybe = <T extends z.core.SomeType>(schema: T) => z.optional(z.nullable(schema));
const idOf = (prefix: string) => z.string().check(z.regex(new RegExp(`^${prefix}_[A-Za-z0-9_]{1,200}$`)));
/** Short enough that a license's id can be made of it. */
const subscriptionId = z.string().check(z.regex(/^sub_[A-Za-z0-9_]{1,56}$/));

const rawEvent = z.object({
  detail: z.object({
    id: idOf('evt'),
    type: z.string().check(z.regex(/^[a-z0-9_.]{1,100}$/)),
    created: seconds,
    livemode: z.boolean(),
    api_version: z.optional(z.unknown()),
    data: z.object({ object: z.optional(z.unknown()), previous_attributes: z.optional(z.unknown()) }),
  }),
});

/** A Stripe event as EventBridge brings it. Its object is not read yet. */
export type RawEvent = z.infer<typeof rawEvent>['detail'];

/** An event shows only the first entries of a list. What is read needs all of them: see `readWholeEvent`. */
const hasMore = maybe(z.boolean());

const items = z.object({
  data: z.array(
    z.object({
      id: z.optional(z.string()),
      created: maybe(seconds),
      price: z.object({ id: z.string().check(z.minLength(1), z.maxLength(255)) }),
      quantity: maybe(z.int().check(z.gte(0), z.lte(100_000))),
      current_period_end: maybe(seconds),
    }),
  ),
  has_more: hasMore,
});

/**
 * Stripe's Subscription object. Since the API's version 2025-03-31 ("basil") each item has its period; before, the
 * subscription had it.
 */
const subscriptionMembers = z.object({
  status: z.enum(subscriptionStatuses),
  items,
  current_period_end: maybe(seconds),
  billing_cycle_anchor: seconds,
  cancel_at: maybe(seconds),
  cancel_at_period_end: maybe(z.boolean()),
  ended_at: maybe(seconds),
});
type SubscriptionMembers = z.infer<typeof subscriptionMembers>;

const subscription = z
  .extend(subscriptionMembers, {
    id: subscriptionId,
    created: seconds,
    metadata: maybe(z.object({ ownerId: z.optional(z.unknown()) })),
  })
  .check(z.refine((value) => periodEndOf(value) !== null, 'has no current_period_end'));

const previousAttributes = z.partial(subscriptionMembers);
type Previous = z.infer<typeof previousAttributes>;

/** Stripe's Invoice object. Since "basil" a line's parent says what it bills; before, its type did. */
const invoice = z.object({
  id: z.optional(idOf('in')),
  subscription: maybe(subscriptionId),
  parent: maybe(z.object({ subscription_details: maybe(z.object({ subscription: subscriptionId })) })),
  lines: z.object({
    has_more: hasMore,
    data: z.array(
      z.object({
        amount: z.int(),
        period: z.object({ start: seconds, end: seconds }),
        quantity: maybe(z.int()),
        price: maybe(z.object({ id: z.string() })),
        pricing: maybe(z.object({ price_details: maybe(z.object({ price: z.string() })) })),
        type: maybe(z.string()),
        proration: maybe(z.boolean()),
        parent: maybe(
          z.object({
            subscription_item_details: maybe(z.object({ proration: maybe(z.boolean()) })),
            invoice_item_details: maybe(z.object({ proration: maybe(z.boolean()) })),
          }),
        ),
      }),
    ),
  }),
});
type InvoiceLine = z.infer<typeof invoice>['lines']['data'][number];

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
 * @throws BillingFailure `unreadable`, `cut_off`, `owner_missing`
 */
export function readBillingEvent(event: RawEvent): BillingEvidence | null {
  const kind = kinds.get(event.type);
  if (kind === undefined) return null;
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
  return {
    kind,
    eventId: id,
    occurredAtMs: created,
    subscriptionId: ofSubscription,
    periodStartMs: startMs < 0 || startMs > created ? null : startMs,
    isFree: whole.every(({ amount }) => amount === 0),
    periodEndMs: endOf(billed),
    prorations: bills.filter(isProration).map(toProration),
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
    createdAtMs: object.created,
    state: stateOf(object),
    before: beforeOf(previous),
  };
}

/** Whoever made the subscription named the account in its metadata. */
function ownerOf(ownerId: unknown): string {
  if (typeof ownerId === 'string' && /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(ownerId)) return ownerId;
  throw new BillingFailure(
    'owner_missing',
    "The subscription's metadata.ownerId is not the id of an account.",
  );
}

/** The entries that an event shows, and of the others those that it does not show. */
export function joined<T extends { id?: unknown }>(shown: T[], others: T[]): T[] {
  const ids = new Set(shown.map(({ id }) => id));
  return [...shown, ...others.filter(({ id }) => !ids.has(id))];
}

function read<T extends z.ZodMiniType>(schema: T, value: unknown): z.infer<T> {
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

/** The latest end of the subscription and its items; null when there is none. */
function periodEndOf({ current_period_end, items: list }: Previous): number | null {
  const ends = [current_period_end, ...(list?.data ?? []).map((item) => item.current_period_end)];
  const latestMs = Math.max(...ends.map((endMs) => endMs ?? 0));
  return latestMs === 0 ? null : latestMs;
}

/** A metered price has no quantity: it counts once. */
function toItems({ data }: SubscriptionMembers['items']): SubscriptionItem[] {
  const all = data.map(({ price, quantity }) => ({ priceId: price.id, quantity: quantity ?? 1 }));
  return all.sort((a, b) =>
    a.priceId === b.priceId ? a.quantity - b.quantity : a.priceId < b.priceId ? -1 : 1,
  );
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

function toProration({ amount, quantity, price, pricing, period }: InvoiceLine): Proration {
  const units = Math.abs(quantity ?? 1);
  return {
    priceId: price?.id ?? pricing?.price_details?.price ?? null,
    quantity: amount < 0 ? -units : units,
    startMs: period.start,
    endMs: period.end,
  };
}
