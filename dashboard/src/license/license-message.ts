import type { LicenseAnswer } from '../lib/types.ts';
import { isolated } from '../lib/text.ts';
import { formatCount, formatNumber, formatUtcDate } from '../lib/format.ts';

export type LicenseState = Pick<LicenseAnswer, 'status' | 'usable' | 'suspended' | 'apiAccess'>;

/** What keeps a license from generating, or will soon. */
export type LicenseProblem = 'ended' | 'suspended' | 'past_due' | 'no_api_access';

/** Null for a license that generates as it should. */
export function problemOf({ status, usable, suspended, apiAccess }: LicenseState): LicenseProblem | null {
  if (status === 'ended') return 'ended';
  if (suspended) return 'suspended';
  if (status === 'past_due') return 'past_due';
  if (usable) return null;
  return apiAccess ? 'ended' : 'no_api_access';
}

const manager = 'whoever manages your subscription';
const kept = 'Your history and your images stay here';

/**
 * Why a license can't generate and what to do, or when it will end. Null when there is nothing to say.
 * @param retention how long requests are kept: `90 days`
 * @param hasPlans whether the dashboard sells the account another license
 */
export function licenseMessage(
  license: LicenseState & Pick<LicenseAnswer, 'activeUntil' | 'billingPeriodEnd'>,
  retention: string,
  hasPlans = false,
): { title: string; text: string } | null {
  const { usable, suspended, activeUntil, billingPeriodEnd } = license;
  const problem = problemOf(license);
  if (problem === 'suspended') {
    const { at, reason } = suspended!;
    return {
      title: 'This license is suspended',
      text: `Whoever operates the service suspended it on ${formatUtcDate(at)}: “${isolated(reason.replace(/\.$/, ''))}”. Its keys are refused and nothing is generated. ${kept}. Ask them what to do: once they resume it, it works with the same keys.`,
    };
  }
  if (problem === 'past_due' && usable) {
    return {
      title: 'This license is past due',
      text: `It works for a few more days, and is suspended then until it is paid. Settle the payment with ${manager} now.`,
    };
  }
  if (problem === 'past_due') {
    return {
      title: 'This license is past due',
      text: `It is suspended until it is paid: its keys are refused and nothing is generated. ${kept}. Settle the payment with ${manager}; it then works again with the same keys.`,
    };
  }
  if (problem === 'no_api_access') {
    return {
      title: 'This license has no API access',
      text: `Its keys are refused and nothing is generated. ${kept}. Ask ${manager} to add API access.`,
    };
  }
  if (problem === 'ended') {
    const since = activeUntil === null ? '' : ` It was active until ${formatUtcDate(activeUntil)}.`;
    return {
      title: 'This license has ended',
      text: `Its keys are refused and nothing is generated.${since} ${kept} for the ${retention} that requests are kept. To go on, ${hasPlans ? 'choose a plan' : `renew it with ${manager} or choose another license`}.`,
    };
  }
  // The end of a subscription that goes on is later than its period's, and moves with each payment.
  if (activeUntil === null || activeUntil > billingPeriodEnd) return null;
  return {
    title: `This license is active until ${formatUtcDate(activeUntil)}`,
    text: `After that its keys are refused. To go on, renew it with ${manager}.`,
  };
}

/** Why a license that can't generate has no credits to spend, in a few words. */
export const unusableHints: Record<LicenseProblem, string> = {
  ended: 'The license has ended',
  suspended: 'The license is suspended',
  past_due: 'The license is suspended',
  no_api_access: 'The license has no API access',
};

/** `Up to 4 images of 2,048 × 2,048 px a request` */
export function planLimits(tier: Pick<LicenseAnswer, 'maxOutputs' | 'maxSidePx'>): string {
  const { maxOutputs, maxSidePx } = tier;
  const side = formatNumber(maxSidePx);
  return `Up to ${formatCount(maxOutputs, 'image')} of ${side}\u00a0×\u00a0${side}\u00a0px a request`;
}
