import type { LicenseAnswer, LicenseStatus } from '../contracts/license.ts';
import { isoTime } from './clock.ts';
import { billingPeriod } from './billing-period.ts';
import type { Identity } from './identity.ts';
import { tiers, type TierName } from './tiers.ts';

export interface License {
  licenseId: string;
  /** Cognito's `sub` of the account. */
  ownerId: string;
  tier: TierName;
  creditsLimit: number;
  foundingCatalog: boolean;
  identityIds: string[];
  apiAccess: boolean;
  /** `past_due` suspends the license until it is paid; `ended` is for good unless an operator grants it again. */
  status: LicenseStatus;
  periodAnchorMs: number;
  activeUntilMs: number | null;
  createdAtMs: number;
}

/** Whether the license's keys are accepted now. */
export function isActive(license: License, nowMs: number): boolean {
  return whyInactive(license, nowMs) === null;
}

/** A license covers the founding catalog, or the identities that it lists, or both. */
export function mayUse(license: License, identity: Identity): boolean {
  return (
    (license.foundingCatalog && identity.catalog === 'founding') ||
    license.identityIds.includes(identity.identityId)
  );
}

/** Why a license is not active, as the end of a sentence; null when it is. */
export function whyInactive(license: License, nowMs: number): string | null {
  if (license.status === 'ended') return 'it has ended';
  if (license.status === 'past_due') return 'it is past due';
  if (!license.apiAccess) return 'it has no API access';
  if (license.activeUntilMs === null || nowMs < license.activeUntilMs) return null;
  return `it was active until ${isoTime(license.activeUntilMs)}`;
}

/** A license as its owner sees it. */
export function licenseAnswer(license: License, nowMs: number): LicenseAnswer {
  const { label, maxOutputs, maxSidePx } = tiers[license.tier];
  const { startMs, endMs } = billingPeriod(license.periodAnchorMs, nowMs);
  return {
    licenseId: license.licenseId,
    tier: label,
    status: license.status,
    usable: isActive(license, nowMs),
    apiAccess: license.apiAccess,
    foundingCatalog: license.foundingCatalog,
    identityIds: license.identityIds,
    creditsLimit: license.creditsLimit,
    maxOutputs,
    maxSidePx,
    billingPeriodStart: isoTime(startMs),
    billingPeriodEnd: isoTime(endMs),
    activeUntil: isoTime(license.activeUntilMs),
    createdAt: isoTime(license.createdAtMs),
  };
}
