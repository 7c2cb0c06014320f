import { billingPeriod, monthAfter, periodStartFrom } from '../../shared/licenses/billing-period.ts';
import { creditPeriod } from '../../shared/licenses/credit-period.ts';
import { maxInFlight, type License } from '../../shared/licenses/license.ts';
import { tiers, type TierName } from '../../shared/licenses/tiers.ts';
import type { LicenseChange } from '../../shared/licenses/store.ts';
import { usageFailure } from '../common/failure.ts';
import { counted, readableTime } from '../common/output.ts';

/** The options of `license change`, as the parser leaves them. */
export interface ChangeOptions {
  /** False: none, so that the plan's or the tier's holds. */
  name?: string | false;
  tier?: TierName;
  credits?: number;
  foundingCatalog?: boolean;
  /** False: none. */
  identity?: string[] | false;
  anchor?: number;
  /** With another anchor: its period has all its credits, whatever was used of the present one. */
  newCredits?: boolean;
  activeUntil?: number | 'never';
  status?: 'active' | 'past_due';
  /** False: its tier's. */
  maxInFlight?: number | false;
  apiAccess?: boolean;
}

/** Only the members that the options name. @throws Failure when they name none. */
export function changeOf(options: ChangeOptions): LicenseChange {
  const change: LicenseChange = {};
  if (options.name !== undefined) change.givenName = options.name || null;
  if (options.tier !== undefined) change.tier = options.tier;
  if (options.credits !== undefined) change.creditsLimit = options.credits;
  if (options.foundingCatalog !== undefined) change.foundingCatalog = options.foundingCatalog;
  if (options.identity !== undefined) change.identityIds = options.identity || [];
  if (options.anchor !== undefined) change.periodAnchorMs = options.anchor;
  if (options.activeUntil !== undefined) change.activeUntilMs = endMs(options.activeUntil);
  // An operator who suspends a license means now.
  if (options.status !== undefined) Object.assign(change, { status: options.status, graceUntilMs: null });
  if (options.maxInFlight !== undefined) change.maxInFlight = options.maxInFlight || null;
  if (options.apiAccess !== undefined) change.apiAccess = options.apiAccess;
  if (Object.keys(change).length === 0) throw usageFailure('Nothing to change: name what, see --help.');
  if (options.newCredits && options.anchor === undefined) throw usageFailure('--new-credits needs --anchor.');
  return change;
}

/** What a change does to the present count of credits: it goes on under another anchor, unless new credits are named. */
export function countChange(
  before: License,
  { periodAnchorMs, creditsLimit }: LicenseChange,
  newCredits: boolean,
  nowMs: number,
): Pick<LicenseChange, 'carried'> {
  if (newCredits) return { carried: null };
  const { startMs, creditsLimit: present } = creditPeriod(before, nowMs);
  const limit = creditsLimit ?? present;
  if (periodAnchorMs === undefined) {
    return before.carried === null ? {} : { carried: { ...before.carried, creditsLimit: limit } };
  }
  const untilMs = periodStartFrom(periodAnchorMs, Math.max(monthAfter(startMs), nowMs + 1));
  const isOwnPeriod =
    billingPeriod(periodAnchorMs, startMs).startMs === startMs && limit === before.creditsLimit;
  return { carried: isOwnPeriod ? null : { startMs, endMs: untilMs, creditsLimit: limit } };
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
  if (change.maxInFlight !== undefined && maxInFlight(after) < maxInFlight(before)) {
    losses.push(
      `it may have ${counted(maxInFlight(after), 'request')} in flight, not ${maxInFlight(before)}`,
    );
  }
  if (before.foundingCatalog && !after.foundingCatalog) losses.push('it loses the founding catalog');
  const lost = before.identityIds.filter((identityId) => !after.identityIds.includes(identityId));
  if (lost.length > 0) losses.push(`it loses the identities ${lost.join(', ')}`);
  if (before.status !== 'ended' && !isSuspended(before, nowMs) && isSuspended(after, nowMs)) {
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

function isSuspended({ status, graceUntilMs }: License, nowMs: number): boolean {
  return status === 'past_due' && isOver(graceUntilMs ?? 0, nowMs);
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
