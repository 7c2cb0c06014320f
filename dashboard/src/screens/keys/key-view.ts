import type { KeyAnswer, KeyStatus } from '../../lib/types.ts';
import { formatCredits, formatNumber } from '../../lib/format.ts';
import { problemOf, type LicenseProblem, type LicenseState } from '../../license/license-message.ts';

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
export function refusalAt(key: KeyAnswer, license: LicenseState | undefined, nowMs: number): string | null {
  if (license === undefined || license.usable || statusAt(key, nowMs) !== 'active') return null;
  return refusals[problemOf(license)!];
}

const refusals: Record<LicenseProblem, string> = {
  ended: 'Refused for good: its license has ended.',
  suspended: 'Refused while its license is suspended.',
  past_due: 'Refused until its license is paid.',
  no_api_access: 'Refused: its license has no API access.',
};

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

/** `soon`: an active key ends within seven days. `near`: "in 3 days" says more than the date alone. */
export function expiryAt({ expiresAt, status }: KeyAnswer, nowMs: number) {
  const leftMs = expiresAt === null ? Infinity : Date.parse(expiresAt) - nowMs;
  const ahead = leftMs > 0 && status !== 'revoked';
  return { soon: ahead && leftMs < expirySoonMs, near: ahead && leftMs < relativeMs };
}

/** What a key may less than others; nothing where it has all of its license's. */
export function limitsOf({ access, maxInFlight }: Pick<KeyAnswer, 'access' | 'maxInFlight'>): string[] {
  return [
    ...(access === 'own' ? ['Sees only its own requests'] : []),
    ...(maxInFlight === null ? [] : [`${formatNumber(maxInFlight)} at a time`]),
  ];
}

/**
 * What a key used of its budget in the period that runs. `barPercent` is null without a budget, and at least 1 when
 * anything was used, so that it can be seen.
 */
export function budgetOf({ monthlyCredits, creditsUsed }: Pick<KeyAnswer, 'monthlyCredits' | 'creditsUsed'>) {
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
