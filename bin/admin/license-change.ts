import type { License } from '../../shared/domain/license.ts';
import { tiers, type TierName } from '../../shared/domain/tiers.ts';
import type { LicenseChange } from '../../shared/store/license-store.ts';
import { usageFailure } from '../common/failure.ts';
import { readableTime } from '../common/output.ts';

/** The options of `license change`, as the parser leaves them. */
export interface ChangeOptions {
  tier?: TierName;
  credits?: number;
  foundingCatalog?: boolean;
  /** False: none. */
  identity?: string[] | false;
  anchor?: number;
  activeUntil?: number | 'never';
  status?: 'active' | 'past_due';
  apiAccess?: boolean;
}

/** Only the members that the options name. @throws Failure when they name none. */
export function changeOf(options: ChangeOptions): LicenseChange {
  const change: LicenseChange = {};
  if (options.tier !== undefined) change.tier = options.tier;
  if (options.credits !== undefined) change.creditsLimit = options.credits;
  if (options.foundingCatalog !== undefined) change.foundingCatalog = options.foundingCatalog;
  if (options.identity !== undefined) change.identityIds = options.identity || [];
  if (options.anchor !== undefined) change.periodAnchorMs = options.anchor;
  if (options.activeUntil !== undefined) change.activeUntilMs = endMs(options.activeUntil);
  if (options.status !== undefined) change.status = options.status;
  if (options.apiAccess !== undefined) change.apiAccess = options.apiAccess;
  if (Object.keys(change).length === 0) throw usageFailure('Nothing to change: name what, see --help.');
  return change;
}

/** `activeUntil` as it is stored. */
export function endMs(activeUntil: number | 'never'): number | null {
  return activeUntil === 'never' ? null : activeUntil;
}

/** What a license's owner loses by a change, in words for the owner; empty when they lose nothing. */
export function licenseLosses(before: License, change: LicenseChange, nowMs: number): string[] {
  const after: License = { ...before, ...change };
  const losses: string[] = [];
  if (rankOf(after.tier) < rankOf(before.tier)) {
    losses.push(`its tier goes down from ${tiers[before.tier].label} to ${tiers[after.tier].label}`);
  }
  if (after.creditsLimit < before.creditsLimit) {
    losses.push(`its credits go down from ${before.creditsLimit} to ${after.creditsLimit} a month`);
  }
  if (before.foundingCatalog && !after.foundingCatalog) losses.push('it loses the founding catalog');
  const lost = before.identityIds.filter((identityId) => !after.identityIds.includes(identityId));
  if (lost.length > 0) losses.push(`it loses the identities ${lost.join(', ')}`);
  if (before.status === 'active' && after.status === 'past_due') {
    losses.push('it is suspended: its keys are refused until it is active again');
  }
  if (before.apiAccess && !after.apiAccess) losses.push('it loses API access: its keys are refused');
  if (!isOver(before.activeUntilMs, nowMs) && isOver(after.activeUntilMs, nowMs)) {
    losses.push(`it was active until ${readableTime(after.activeUntilMs)}: its keys are refused`);
  }
  return losses;
}

/** The table of tiers goes from the smallest to the largest. */
function rankOf(tier: TierName): number {
  return Object.keys(tiers).indexOf(tier);
}

function isOver(activeUntilMs: number | null, nowMs: number): boolean {
  return activeUntilMs !== null && activeUntilMs <= nowMs;
}

/** Monthly credits of a new license. @throws Failure when its tier has no number of its own. */
export function creditsFor(tier: TierName, given: number | undefined): number {
  const credits = given ?? tiers[tier].creditsPerMonth;
  if (credits === null) throw usageFailure(`The ${tier} tier has no number of its own: give --credits.`);
  return credits;
}

/** Changing the tier does not change the credits: this note says so. */
export function creditsNote(change: LicenseChange, after: License): string {
  const { label, creditsPerMonth } = tiers[after.tier];
  const isUsual = creditsPerMonth === null || creditsPerMonth === after.creditsLimit;
  if (change.tier === undefined || change.creditsLimit !== undefined || isUsual) return '';
  return `\n\nThe credits stay ${after.creditsLimit} a month; ${label} usually has ${creditsPerMonth} (--credits ${creditsPerMonth}).`;
}
