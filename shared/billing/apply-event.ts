import type { BillingEvidence } from './evidence.ts';
import { applyEvidence, licenseIdOf, type BillingRules } from './subscription-license.ts';
import { untilDecided } from '../table/backoff.ts';
import type { SubscriptionStore } from './subscription-store.ts';

export interface BillingDeps {
  subscriptions: SubscriptionStore;
  rules: BillingRules;
}

/** A write is refused only when another one was accepted in between, which hardly happens this often in a row. */
const maxAttempts = 30;

/**
 * Applies an event to the license of its subscription. Events may come in any order, several times and at once. It is
 * harmless to apply one again, so nobody needs to know whether a write that broke off was stored.
 * @throws BillingFailure `owner_changed`, `unknown_price`; SERVICE_UNAVAILABLE; what the SDK throws.
 */
export async function applyBillingEvidence(
  evidence: BillingEvidence,
  { subscriptions, rules }: BillingDeps,
): Promise<'applied' | 'unchanged'> {
  const licenseId = licenseIdOf(evidence.subscriptionId);
  return untilDecided(maxAttempts, async () => {
    const stored = await subscriptions.get(licenseId);
    const next = applyEvidence(stored, evidence, rules);
    if (next === null) return 'unchanged';
    const isStored = await subscriptions.put(licenseId, stored, next, `billing:${evidence.eventId}`);
    return isStored ? 'applied' : undefined;
  });
}
