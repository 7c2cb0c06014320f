import type { AuditedMembers } from '../accounts/audit.ts';
import type { LicenseAnswer, LicenseStatus } from './contract.ts';
import { isoTime } from '../base/clock.ts';
import { creditPeriod, type CreditPeriod } from './credit-period.ts';
import { tiers, type TierName } from './tiers.ts';

export interface License {
  licenseId: string;
  /** Cognito's `sub` of the account. */
  ownerId: string;
  /** The operator's name for it. It wins over the plan's, and billing never writes it. */
  givenName: string | null;
  /** What the prices call the plan that is paid for. */
  planName: string | null;
  tier: TierName;
  /** Credits of a month, where `carried` does not say otherwise. */
  creditsLimit: number;
  foundingCatalog: boolean;
  identityIds: string[];
  apiAccess: boolean;
  /** `past_due`: a payment is due, and after its grace it is suspended until it is paid; `ended` is for good unless an operator grants it again. */
  status: LicenseStatus;
  /** While it is `past_due` it stays usable until then; null: not at all. */
  graceUntilMs: number | null;
  /** Since when and why an operator lets it do nothing, whatever its status; only an operator lifts it, and billing never writes it. */
  suspended: Suspension | null;
  periodAnchorMs: number;
  /** A count of credits that goes on although the anchor moved, or that has other credits; null: the anchor's period. */
  carried: CreditPeriod | null;
  activeUntilMs: number | null;
  /** When the last of its extra credits expires. Before that there may be some; null: it never had any. */
  extraUntilMs: number | null;
  /** Requests that may be in flight at a time; null for what its tier allows. */
  maxInFlight: number | null;
  /** What an operator set for its content alone, and why; null: it is checked as everybody's. Its owner is not told. */
  moderation: { rule: ModerationRule; reason: string } | null;
  createdAtMs: number;
}

/**
 * How the content of one license is checked other than everybody's: not at all, or with these thresholds for pictures, by category.
 * They leave the check of prompts as it is, which knows no thresholds.
 */
export type ModerationRule = 'exempt' | Readonly<Record<string, number>>;

export interface Suspension {
  atMs: number;
  /** In the operator's words, for its owner. */
  reason: string;
}

/** Whether the license's keys are accepted now. */
export function isActive(license: License, nowMs: number): boolean {
  return whyInactive(license, nowMs) === null;
}

/** How many of its requests may be QUEUED or PROCESSING at a time. */
export function maxInFlight(license: Pick<License, 'tier' | 'maxInFlight'>): number {
  return license.maxInFlight ?? tiers[license.tier].maxInFlight;
}

/** Why a license is not active, as the end of a sentence; null when it is. */
export function whyInactive(license: License, nowMs: number): string | null {
  if (license.status === 'ended') return 'it has ended';
  if (license.suspended !== null) return 'it is suspended';
  if (license.status === 'past_due') {
    const { graceUntilMs } = license;
    if (graceUntilMs === null) return 'it is past due';
    if (nowMs >= graceUntilMs) return `it is past due, and was usable until ${isoTime(graceUntilMs)}`;
  }
  if (!license.apiAccess) return 'it has no API access';
  if (license.activeUntilMs === null || nowMs < license.activeUntilMs) return null;
  return `it was active until ${isoTime(license.activeUntilMs)}`;
}

/** A license as its owner sees it. @param name see `licenseNames` */
export function licenseAnswer(license: License, name: string, nowMs: number): LicenseAnswer {
  const { label, maxOutputs, maxSidePx } = tiers[license.tier];
  const { startMs, endMs, creditsLimit } = creditPeriod(license, nowMs);
  const { suspended } = license;
  return {
    licenseId: license.licenseId,
    name,
    tier: label,
    status: license.status,
    usable: isActive(license, nowMs),
    ...(suspended && { suspended: { at: isoTime(suspended.atMs), reason: suspended.reason } }),
    apiAccess: license.apiAccess,
    foundingCatalog: license.foundingCatalog,
    identityIds: license.identityIds,
    creditsLimit,
    maxOutputs,
    maxSidePx,
    maxInFlight: maxInFlight(license),
    billingPeriodStart: isoTime(startMs),
    billingPeriodEnd: isoTime(endMs),
    activeUntil: isoTime(license.activeUntilMs),
    createdAt: isoTime(license.createdAtMs),
  };
}

/** As the audit log and operators have it. */
export function ruleInWords(rule: ModerationRule): string {
  if (rule === 'exempt') return rule;
  return Object.entries(rule)
    .map(([category, threshold]) => `${category}=${threshold}`)
    .join(' ');
}

/** The members that may change, as the audit log compares them. */
export function licenseMembers(license: License): AuditedMembers {
  const {
    licenseId: _id,
    ownerId: _owner,
    createdAtMs: _created,
    extraUntilMs: _extra,
    ...members
  } = license;
  const {
    givenName,
    periodAnchorMs,
    activeUntilMs,
    graceUntilMs,
    carried,
    suspended,
    moderation,
    ...others
  } = members;
  return {
    name: givenName,
    ...others,
    periodAnchor: isoTime(periodAnchorMs),
    activeUntil: isoTime(activeUntilMs),
    graceUntil: isoTime(graceUntilMs),
    suspendedBecause: suspended && suspended.reason,
    moderation: moderation && ruleInWords(moderation.rule),
    moderatedBecause: moderation && moderation.reason,
    carriedFrom: isoTime(carried && carried.startMs),
    carriedUntil: isoTime(carried && carried.endMs),
    carriedCredits: carried && carried.creditsLimit,
  };
}
