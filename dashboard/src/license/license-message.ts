import type { LicenseAnswer } from '../lib/types.ts';
import { isolated } from '../lib/text.ts';
import { formatCount, formatNumber, formatUtcDate } from '../lib/format.ts';

type LicenseState = Pick<
  LicenseAnswer,
  'status' | 'usable' | 'suspended' | 'apiAccess' | 'activeUntil' | 'billingPeriodEnd'
>;

const manager = 'whoever manages your subscription';
const kept = 'Your history and your images stay here';

/**
 * Why a license can't generate and what to do, or when it will end. Null when there is nothing to say.
 * @param retention how long requests are kept: `90 days`
 * @param hasPlans whether the dashboard sells the account another license
 */
export function licenseMessage(
  license: LicenseState,
  retention: string,
  hasPlans = false,
): { title: string; text: string } | null {
  const { status, usable, suspended, apiAccess, activeUntil, billingPeriodEnd } = license;
  if (status !== 'ended' && suspended) {
    return {
      title: 'This license is suspended',
      text: `Whoever operates the service suspended it on ${formatUtcDate(suspended.at)}: “${isolated(suspended.reason.replace(/\.$/, ''))}”. Its keys are refused and nothing is generated. ${kept}. Ask them what to do: once they resume it, it works with the same keys.`,
    };
  }
  if (status === 'past_due' && usable) {
    return {
      title: 'This license is past due',
      text: `It works for a few more days, and is suspended then until it is paid. Settle the payment with ${manager} now.`,
    };
  }
  if (status === 'past_due') {
    return {
      title: 'This license is past due',
      text: `It is suspended until it is paid: its keys are refused and nothing is generated. ${kept}. Settle the payment with ${manager}; it then works again with the same keys.`,
    };
  }
  if (status === 'active' && !apiAccess) {
    return {
      title: 'This license has no API access',
      text: `Its keys are refused and nothing is generated. ${kept}. Ask ${manager} to add API access.`,
    };
  }
  if (!usable) {
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
export function unusableHint({
  status,
  suspended,
  apiAccess,
}: Pick<LicenseState, 'status' | 'suspended' | 'apiAccess'>): string {
  if (status === 'past_due' || (suspended && status !== 'ended')) return 'The license is suspended';
  return status === 'active' && !apiAccess ? 'The license has no API access' : 'The license has ended';
}

/** `Up to 4 images of 2,048 × 2,048 px a request` */
export function planLimits({
  maxOutputs,
  maxSidePx,
}: Pick<LicenseAnswer, 'maxOutputs' | 'maxSidePx'>): string {
  const side = formatNumber(maxSidePx);
  return `Up to ${formatCount(maxOutputs, 'image')} of ${side}\u00a0×\u00a0${side}\u00a0px a request`;
}
