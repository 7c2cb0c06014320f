import type { BillingEvidence } from '../contracts/billing-evidence.ts';
import type { BillingPrices } from '../contracts/billing-prices.ts';
import { applyEvidence, licenseIdOf } from '../domain/subscription-license.ts';
import { serviceBusy } from '../errors.ts';
import { pause } from '../store/backoff.ts';
import type { SubscriptionStore } from '../store/subscription-store.ts';

export interface BillingDeps {
  subscriptions: SubscriptionStore;
  prices: BillingPrices;
}

/** A refused write means that another was accepted, so this many would have to come in between. */
const maxAttempts = 30;

/**
 * Brings what an event says into the license of its subscription. Events may come in any order, several times and at
 * once. Whether a write that broke off was done need not be known: applying the event again is harmless.
 * @throws BillingFailure `owner_changed`, `unknown_price`; SERVICE_UNAVAILABLE; what the SDK throws.
 */
export async function applyBillingEvidence(
  evidence: BillingEvidence,
  { subscriptions, prices }: BillingDeps,
): Promise<'applied' | 'unchanged'> {
  const licenseId = licenseIdOf(evidence.subscriptionId);
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const stored = await subscriptions.get(licenseId);
    const next = applyEvidence(stored, evidence, prices);
    if (next === null) return 'unchanged';
    if (await subscriptions.put(licenseId, stored, next)) return 'applied';
    await pause(attempt);
  }
  throw serviceBusy();
}
