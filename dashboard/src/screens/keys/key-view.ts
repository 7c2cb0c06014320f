import type { KeyAnswer, KeyStatus, LicenseAnswer } from '../../lib/types.ts';
import { formatCredits, formatNumber } from '../../lib/format.ts';

/** How many active keys one license may have; the service says so too. */
export const maxActiveKeys = 25;

export const keyFilters = { all: 'All', active: 'Active', inactive: 'Revoked or expired' } as const;
export type KeyFilter = keyof typeof keyFilters;

const dayMs = 24 * 3600 * 1000;
const expirySoonMs = 7 * dayMs;
const relativeMs = 14 * dayMs;

/** A key may have expired since the list was fetched. */
export function statusAt(key: KeyAnswer, nowMs: number): KeyStatus {
  if (key.status !== 'active') return key.status;
  return key.expiresAt !== null && Date.parse(key.expiresAt) <= nowMs ? 'expired' : 'active';
}

/** Why a key that is itself active is refused: its license is of no use. Null for keys that work, or ended themselves. */
export function refusalAt(
  key: KeyAnswer,
  license: Pick<LicenseAnswer, 'status' | 'usable' | 'apiAccess'> | undefined,
  nowMs: number,
): string | null {
  if (license === undefined || license.usable || statusAt(key, nowMs) !== 'active') return null;
  if (license.status === 'past_due') return 'Refused until its license is paid.';
  if (license.status === 'active' && !license.apiAccess) return 'Refused: its license has no API access.';
  return 'Refused for good: its license has ended.';
}

export function filterKeys(keys: readonly KeyAnswer[], filter: KeyFilter, nowMs: number): KeyAnswer[] {
  return keys
    .filter((key) => filter === 'all' || (statusAt(key, nowMs) === 'active') === (filter === 'active'))
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
}

export function countKeys(keys: readonly KeyAnswer[], nowMs: number): Record<KeyFilter, number> {
  const active = filterKeys(keys, 'active', nowMs).length;
  return { all: keys.length, active, inactive: keys.length - active };
}

export function activeKeysOf(keys: readonly KeyAnswer[], licenseId: string, nowMs: number): number {
  return keys.filter((key) => key.licenseId === licenseId && statusAt(key, nowMs) === 'active').length;
}

export interface ExpiryView {
  /** Whether an active key ends within seven days. */
  soon: boolean;
  /** Whether "in 3 days" says more than the date alone. */
  near: boolean;
}

export function expiryAt(key: KeyAnswer, nowMs: number): ExpiryView {
  if (key.expiresAt === null) return { soon: false, near: false };
  const leftMs = Date.parse(key.expiresAt) - nowMs;
  const ahead = leftMs > 0 && key.status !== 'revoked';
  return { soon: ahead && leftMs < expirySoonMs, near: ahead && leftMs < relativeMs };
}

export interface BudgetView {
  /** `120 of 500 credits`, or what a key without a budget has used. */
  text: string;
  /** For the bar, 0 to 100; at least 1 when anything was used, so that it can be seen. Null for a key without a budget. */
  barPercent: number | null;
  isUsedUp: boolean;
}

/** A key's budget and what it used of it in the period that runs. */
export function budgetOf({
  monthlyCredits,
  creditsUsed,
}: Pick<KeyAnswer, 'monthlyCredits' | 'creditsUsed'>): BudgetView {
  if (monthlyCredits === null) {
    return { text: `${formatCredits(creditsUsed)} used`, barPercent: null, isUsedUp: false };
  }
  const percent = Math.floor((100 * creditsUsed) / monthlyCredits);
  return {
    text: `${formatNumber(creditsUsed)} of ${formatCredits(monthlyCredits)}`,
    barPercent: Math.min(100, Math.max(creditsUsed > 0 ? 1 : 0, percent)),
    isUsedUp: creditsUsed >= monthlyCredits,
  };
}
