import type { Identity } from './identity.ts';
import type { TierName } from './tiers.ts';

/** A subscription access record. */
export interface License {
  licenseId: string;
  /** Cognito's `sub` of the account. */
  ownerId: string;
  tier: TierName;
  creditsLimit: number;
  foundingCatalog: boolean;
  identityIds: string[];
  apiAccess: boolean;
  /** `past_due` suspends the record until it is paid; `ended` is for good unless it is granted again. */
  status: 'active' | 'past_due' | 'ended';
  periodAnchorMs: number;
  activeUntilMs: number | null;
  createdAtMs: number;
}

/** Whether the record's keys are accepted now. */
export function isActive(license: License, nowMs: number): boolean {
  return (
    license.status === 'active' &&
    license.apiAccess &&
    (license.activeUntilMs === null || nowMs < license.activeUntilMs)
  );
}

/** A record may call the founding catalog, or the identities it lists, or both. */
export function mayUse(license: License, identity: Identity): boolean {
  return (
    (license.foundingCatalog && identity.catalog === 'founding') ||
    license.identityIds.includes(identity.identityId)
  );
}
