import type {
  BillingEvidence,
  InvoiceEvidence,
  SubscriptionSnapshot,
  SubscriptionState,
} from '../../../shared/billing/evidence.ts';
import { licenseIdOf } from '../../../shared/billing/subscription-license.ts';
import { billingPeriod, monthAfter } from '../../../shared/licenses/billing-period.ts';
import type { License } from '../../../shared/licenses/license.ts';
import type { SubscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { applyBillingEvidence } from '../../../shared/billing/apply-event.ts';

/** What Stripe knows of a tenant. */
export interface Subscription {
  subscriptionId: string;
  createdAtMs: number;
  state: SubscriptionState;
  /** The anchors whose periods were paid: only their periods may hold credits. */
  paidAnchorsMs: number[];
  isMoved: boolean;
  /** What its price grants. */
  grant: Pick<License, 'tier' | 'creditsLimit'>;
  events: number;
}

export function newSubscription(number: number, anchorMs: number, license: License): Subscription {
  const { tier, creditsLimit } = license;
  return {
    subscriptionId: `sub_${number}`,
    createdAtMs: anchorMs,
    state: {
      status: 'active',
      items: [{ priceId: 'price_1', quantity: 1 }],
      periodEndMs: monthAfter(anchorMs),
      anchorMs,
      cancelAtMs: null,
      cancelsAtPeriodEnd: false,
      endedAtMs: null,
    },
    paidAnchorsMs: [anchorMs],
    isMoved: false,
    grant: { tier, creditsLimit },
    events: 0,
  };
}

export const licenseOf = ({ subscriptionId }: Subscription) => licenseIdOf(subscriptionId);

function nextEvent(subscription: Subscription, occurredAtMs: number) {
  subscription.events += 1;
  const eventId = `evt_${subscription.events}`;
  return { eventId, occurredAtMs, subscriptionId: subscription.subscriptionId };
}

export function snapshot(
  subscription: Subscription,
  ownerId: string,
  occurredAtMs: number,
  before?: Partial<SubscriptionState>,
): SubscriptionSnapshot {
  return {
    ...nextEvent(subscription, occurredAtMs),
    kind: 'subscription',
    change: before ? 'changed' : 'created',
    ownerId,
    createdAtMs: subscription.createdAtMs,
    state: subscription.state,
    before: before ?? {},
  };
}

export function payment(subscription: Subscription, periodStartMs: number): InvoiceEvidence {
  return {
    ...nextEvent(subscription, periodStartMs),
    kind: 'paid',
    periodStartMs,
    isFree: false,
    periodEndMs: monthAfter(periodStartMs),
    prorations: [],
  };
}

/** Makes the license of a subscription whose present period is paid. */
export async function beginSubscription(
  subscriptions: SubscriptionStore,
  subscription: Subscription,
  { ownerId }: License,
  nowMs: number,
): Promise<void> {
  const { anchorMs } = subscription.state;
  const { startMs, endMs } = billingPeriod(anchorMs, nowMs);
  // No world lasts longer than the month after the present one.
  subscription.state.periodEndMs = monthAfter(endMs);
  await apply(subscriptions, subscription, snapshot(subscription, ownerId, anchorMs));
  await apply(subscriptions, subscription, payment(subscription, startMs));
}

export function apply(
  subscriptions: SubscriptionStore,
  { grant: { tier, creditsLimit } }: Subscription,
  evidence: BillingEvidence,
) {
  const prices = { price_1: { tier, creditsPerMonth: creditsLimit, foundingCatalog: true } };
  return applyBillingEvidence(evidence, { subscriptions, rules: { prices, pastDueGraceDays: 7 } });
}
