/** Statuses of a Stripe subscription. */
export const subscriptionStatuses = [
  'incomplete',
  'incomplete_expired',
  'trialing',
  'active',
  'past_due',
  'canceled',
  'unpaid',
  'paused',
] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

/** One item of a subscription: a number of units of a price. */
export interface SubscriptionItem {
  priceId: string;
  quantity: number;
}

/** The part of a subscription that decides its license, at one moment. Times are milliseconds since 1970. */
export interface SubscriptionState {
  status: SubscriptionStatus;
  /** Sorted, so that equal lists compare as equal. */
  items: SubscriptionItem[];
  /** The latest of its items. */
  periodEndMs: number;
  anchorMs: number;
  cancelAtMs: number | null;
  cancelsAtPeriodEnd: boolean;
  endedAtMs: number | null;
}

interface Evidence {
  eventId: string;
  /** When it happened, in whole seconds. */
  occurredAtMs: number;
  subscriptionId: string;
}

/** A subscription as an event shows it. */
export interface SubscriptionSnapshot extends Evidence {
  kind: 'subscription';
  change: 'created' | 'changed' | 'deleted';
  /** The account that its metadata names as its owner; null where it names none. */
  ownerId: string | null;
  /** Stripe's id of who pays; null where the event names none, undefined where it came before this was read. */
  customerId?: string | null;
  createdAtMs: number;
  state: SubscriptionState;
  /** Those members of `state` that the event changed, as they were before. */
  before: Partial<SubscriptionState>;
}

/** What an invoice bills, or gives back, for the part of a period that was left when the subscription changed. */
export interface Proration {
  /** Null where the invoice does not say. */
  priceId: string | null;
  /** Negative: given back. */
  quantity: number;
  startMs: number;
  endMs: number;
}

/** An invoice of a subscription whose payment succeeded or failed. */
export interface InvoiceEvidence extends Evidence {
  kind: 'paid' | 'failed';
  /** The start of the whole period that it bills; null when it bills none, or one that has not begun. */
  periodStartMs: number | null;
  /** Whether that period costs nothing, as in a trial. */
  isFree: boolean;
  /** What that period bills, sorted by price; empty where the invoice does not say. Metered prices are billed afterwards. */
  items: SubscriptionItem[];
  /** The end of what it bills; 0 when it only gives back. */
  periodEndMs: number;
  prorations: Proration[];
}

/** A checkout that began a subscription, and was opened from the dashboard of an account. */
export interface CheckoutEvidence extends Evidence {
  kind: 'checkout';
  ownerId: string;
}

export type BillingEvidence = SubscriptionSnapshot | InvoiceEvidence | CheckoutEvidence;

/** Whether it bills time that was still to come. If not, it says nothing of the present: it may only give back. */
export function billsAhead({ periodEndMs, occurredAtMs }: InvoiceEvidence): boolean {
  return periodEndMs > occurredAtMs;
}

/** Why an event can't be applied. Its message is a sentence for the operator's log and holds no personal data. */
export class BillingFailure extends Error {
  readonly reason:
    | 'unreadable'
    | 'cut_off'
    | 'not_fetched'
    | 'owner_changed'
    | 'unknown_price'
    | 'unknown_plan'
    | 'unknown_license'
    | 'ended_license';

  constructor(reason: BillingFailure['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A list of Stripe's API of which an event shows only the first entries. */
export interface StripeList {
  /** In words, as the beginning of a sentence. */
  what: string;
  /** The member of the event's object. */
  member: 'lines' | 'items';
  path: string;
  query: Record<string, string>;
}

/** What an event says can't be read without the whole of a list. */
export class CutOff extends BillingFailure {
  readonly list: StripeList;

  constructor(list: StripeList) {
    super(
      'cut_off',
      `${list.what} are cut off in the event, and there is no key of Stripe's to fetch them all.`,
    );
    this.list = list;
  }
}
