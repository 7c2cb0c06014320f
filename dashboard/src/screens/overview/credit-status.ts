import { creditsLeft } from '../../lib/credits.ts';
import type { LicenseAnswer, UsageAggregates, UsageStats } from '../../lib/types.ts';
import {
  formatCredits,
  formatCount,
  formatNumber,
  formatUtcDate,
  formatUtcDateTime,
} from '../../lib/format.ts';

/** From this share of the limit on, the screen warns. */
const nearPercent = 80;

export type CreditLevel = 'ok' | 'near' | 'spent';

/** `barPercent` is at least 1 when anything was used, so that it can be seen. The text is `31%`, `under 1%` or `124%`. */
export function creditStatus({ current, limit, percentage, extraRemaining = 0 }: UsageStats) {
  const isSpent = current >= limit && extraRemaining === 0;
  const level: CreditLevel = isSpent ? 'spent' : percentage >= nearPercent ? 'near' : 'ok';
  return {
    level,
    barPercent: Math.min(100, Math.max(current > 0 ? 1 : 0, percentage)),
    percentText: percentage === 0 && current > 0 ? 'under 1%' : `${formatNumber(percentage)}%`,
  };
}

/** A warning about credits that run out. Null while there are plenty. */
export function creditWarning(
  license: Pick<LicenseAnswer, 'usable'>,
  stats: UsageStats,
): { title: string; text: string } | null {
  const { level, percentText } = creditStatus(stats);
  // That it generates nothing is said elsewhere, and credits do not change it.
  if (!license.usable || level === 'ok') return null;
  const left = creditsLeft(license, stats);
  const { current, limit, billingPeriodEnd, daysRemaining, extraRemaining = 0 } = stats;
  if (limit === 0 && extraRemaining === 0) {
    return {
      title: 'This license has no credits',
      text: 'Its limit is 0, so every request is refused. Ask whoever manages your subscription.',
    };
  }
  const reset = `${resetMoment(stats)}, in ${resetWait(daysRemaining)}`;
  if (level === 'near') {
    return {
      title: `${formatCredits(left)} ${left === 1 ? 'is' : 'are'} left`,
      text: `${percentText} of this period's credits are used.${extraRemaining > 0 ? ' Extra credits are used after those.' : ''} All ${formatNumber(limit)} come back on ${formatUtcDate(billingPeriodEnd)}.`,
    };
  }
  const lowered =
    current > limit
      ? ` ${formatCredits(current)} were used of ${formatNumber(limit)}: the limit was lowered, or extra credits paid for more.`
      : '';
  return {
    title: 'No credits are left in this period',
    text: `New requests are refused until the credits come back on ${reset}.${lowered}`,
  };
}

const dayMs = 24 * 3600_000;
const paceDays = 7;

/**
 * When the pace of the last seven days, or of the period's so far, ends the credits, extra ones too. Null where that is after the period.
 * @param byDay of the period, by UTC days
 */
export function paceEnd(stats: UsageStats, byDay: UsageAggregates['byDay'], nowMs: number): string | null {
  const { billingPeriodStart, billingPeriodEnd } = stats;
  const left = creditsLeft({ usable: true }, stats);
  const firstDay = new Date(nowMs - (paceDays - 1) * dayMs).toISOString().slice(0, 10);
  const sinceMs = Math.max(Date.parse(firstDay), Date.parse(billingPeriodStart));
  const days = byDay.filter(({ date }) => date >= firstDay);
  const used = days.reduce((sum, { credits }) => sum + credits, 0);
  if (used === 0 || left === 0) return null;
  // A first hour says little of a day.
  const endMs = nowMs + (left / used) * Math.max(dayMs, nowMs - sinceMs);
  return endMs < Date.parse(billingPeriodEnd) ? new Date(endMs).toISOString() : null;
}

/** `12 days`, and `under a day` on the last one: the service counts a started day as one. */
export function resetWait(daysRemaining: number): string {
  return daysRemaining <= 1 ? 'under a day' : formatCount(daysRemaining, 'day');
}

/** `Dec 21, 2026 UTC`, on the last day with its time: `Dec 21, 2026, 12:27 PM UTC`. */
export function resetMoment({ billingPeriodEnd, daysRemaining }: UsageStats): string {
  return daysRemaining > 1 ? formatUtcDate(billingPeriodEnd) : formatUtcDateTime(billingPeriodEnd);
}
