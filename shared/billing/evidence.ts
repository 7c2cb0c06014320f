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
  /** The account that owns it. */
  ownerId: string;
  createdAtMs: number;
  state: SubscriptionState;
  /** Those members of `state` that the event changed, as they were before. */
  before: Partial<SubscriptionState>;
}

/** An invoice of a subscription whose payment succeeded or failed. */
export interface InvoiceEvidence extends Evidence {
  kind: 'paid' | 'failed';
  /** The end of the period that it bills. */
  periodEndMs: number;
}

export type BillingEvidence = SubscriptionSnapshot | InvoiceEvidence;

/** Why an event can't be applied. Its message is a sentence for the operator's log and holds no personal data. */
export class BillingFailure extends Error {
  readonly reason: 'unreadable' | 'owner_missing' | 'owner_changed' | 'unknown_price';

  constructor(reason: BillingFailure['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}
