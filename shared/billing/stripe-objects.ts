import * as z from 'zod/mini';
import { subscriptionStatuses } from './evidence.ts';

/** Stripe's times are whole seconds. Years after 9999 are refused. */
const seconds = z.pipe(
  z.int().check(z.gte(0), z.lt(253_402_300_800)),
  z.transform((value: number) => value * 1000),
);
/** A member that one of the two versions of the API leaves out. */
const maybe = <T extends z.core.SomeType>(schema: T) => z.optional(z.nullable(schema));
const idOf = (prefix: string) => z.string().check(z.regex(new RegExp(`^${prefix}_[A-Za-z0-9_]{1,200}$`)));
export const isCustomerId = (text: string) => /^cus_[A-Za-z0-9_]{1,200}$/.test(text);
/** Short enough for an id of ours. */
const paymentIntentId = z.string().check(z.regex(/^pi_[A-Za-z0-9_]{1,61}$/));
/** Short enough that a license's id can be made of it. */
const subscriptionId = z.string().check(z.regex(/^sub_[A-Za-z0-9_]{1,56}$/));

export const rawEvent = z.object({
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
export type SubscriptionMembers = z.infer<typeof subscriptionMembers>;

export const subscription = z
  .extend(subscriptionMembers, {
    id: subscriptionId,
    created: seconds,
    customer: z.optional(z.unknown()),
    metadata: maybe(z.object({ ownerId: z.optional(z.unknown()) })),
  })
  .check(z.refine((value) => periodEndOf(value) !== null, 'has no current_period_end'));

export const previousAttributes = z.partial(subscriptionMembers);
export type Previous = z.infer<typeof previousAttributes>;

/** What a line says that gives back what other lines billed. */
const prorationDetails = maybe(z.object({ credited_items: z.optional(z.unknown()) }));
const lineDetails = maybe(z.object({ proration: maybe(z.boolean()), proration_details: prorationDetails }));

/** Stripe's Invoice object. Since "basil" a line's parent says what it bills; before, its type did. */
export const invoice = z.object({
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
        proration_details: prorationDetails,
        parent: maybe(
          z.object({ subscription_item_details: lineDetails, invoice_item_details: lineDetails }),
        ),
      }),
    ),
  }),
});
export type InvoiceLine = z.infer<typeof invoice>['lines']['data'][number];

/** Stripe's Checkout Session object. A payment link's metadata are copied to it (Stripe API, "Create a payment link"). */
export const checkoutSession = z.object({
  id: idOf('cs'),
  /** Null where it began none. */
  subscription: maybe(subscriptionId),
  /** The link's URL parameter of this name: whatever the browser sent. */
  client_reference_id: z.optional(z.unknown()),
  mode: z.string(),
  payment_status: z.string(),
  payment_intent: maybe(paymentIntentId),
  metadata: maybe(z.object({ plan: z.optional(z.unknown()) })),
});

const amount = z.int().check(z.gte(0));
/** Stripe's Charge object. What was paid before payment intents has none. */
export const charge = z
  .object({ amount, amount_refunded: amount, payment_intent: maybe(paymentIntentId) })
  .check(z.refine((one) => one.amount_refunded <= one.amount, 'has more refunded than was paid'));

/** The latest end of the subscription and its items; null when there is none. */
export function periodEndOf({ current_period_end, items: list }: Previous): number | null {
  const ends = [current_period_end, ...(list?.data ?? []).map((item) => item.current_period_end)];
  const latestMs = Math.max(...ends.map((endMs) => endMs ?? 0));
  return latestMs === 0 ? null : latestMs;
}
