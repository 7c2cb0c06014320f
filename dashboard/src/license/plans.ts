import type { LicenseAnswer, PlanCard } from '../lib/types.ts';

/** What an account may subscribe to. */
export const subscriptionsOf = (plans: PlanCard[]): PlanCard[] => plans.filter(({ once }) => !once);

/** What a license may buy once: credits are of no use to one that generates nothing. */
export function packsFor(
  plans: PlanCard[],
  license: Pick<LicenseAnswer, 'status' | 'usable' | 'tier'>,
): PlanCard[] {
  if (license.status !== 'active' || !license.usable) return [];
  return plans.filter(({ once, tier }) => once && (tier === null || tier.label === license.tier));
}

/**
 * Where a plan is bought, for an account or, where it is a pack, for a license. Of a reference Stripe takes letters, digits,
 * dashes and underscores, 200 at most, and drops others without a word (docs.stripe.com/payment-links/url-parameters).
 */
export function checkoutLink({ link }: PlanCard, reference: string): string {
  const url = new URL(link);
  url.searchParams.set('client_reference_id', reference);
  return url.href;
}
