import { monthAfter } from './billing-period.ts';
import type { License } from './license.ts';

/*
 * Extra credits of a license: gifts, and packs that were paid for once. One item has what is left of each, as numbers at its
 * top level, because ADD creates such a number when it is missing: so a release finds its balance even after it was
 * removed. A balance is named by when it expires and by its payment: sorted, the first to expire comes first. It may be
 * below 0, when credits were refunded that are used: what a release gives back fills that up first.
 */
export type ExtraBalances = Record<string, unknown>;

/** What is left of a license's extra credits. There is at least one. */
export interface ExtraLeft {
  remaining: number;
  /** When the first of them expire. */
  expiresAtMs: number;
}

/** How long a gift lasts, where nothing else is said. */
export const usualExtraMonths = 12;

export function extraCreditsExpireAtMs(addedAtMs: number, months: number): number {
  return monthAfter(addedAtMs, months);
}

const balanceShape = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)#(.+)$/;

export function balanceName(expiresAtMs: number, paymentId: string): string {
  return `${new Date(expiresAtMs).toISOString()}#${paymentId}`;
}

/** All balances, those that expire first first. */
export function listBalances(balances: ExtraBalances | null) {
  return Object.keys(balances ?? {})
    .sort()
    .flatMap((name) => {
      const [, expires, paymentId] = balanceShape.exec(name) ?? [];
      if (expires === undefined) return [];
      return {
        name,
        paymentId: paymentId!,
        expiresAtMs: Date.parse(expires),
        left: balances![name] as number,
      };
    });
}

const usable = (balances: ExtraBalances | null, nowMs: number) =>
  listBalances(balances).filter(({ expiresAtMs, left }) => expiresAtMs > nowMs && left > 0);

/** Null where there are none. */
export function extraLeft(balances: ExtraBalances | null, nowMs: number): ExtraLeft | null {
  const [first, ...others] = usable(balances, nowMs);
  if (first === undefined) return null;
  const remaining = others.reduce((sum, { left }) => sum + left, first.left);
  return { remaining, expiresAtMs: first.expiresAtMs };
}

/** Which balances pay for so many credits, those that expire first; null where they do not suffice. */
export function chooseExtra(
  balances: ExtraBalances | null,
  credits: number,
  nowMs: number,
): Record<string, number> | null {
  const chosen: Record<string, number> = {};
  let missing = credits;
  for (const { name, left } of usable(balances, nowMs)) {
    if (missing === 0) break;
    chosen[name] = Math.min(left, missing);
    missing -= chosen[name];
  }
  return missing === 0 ? chosen : null;
}

/** How many credits extra ones must pay for, as a period's own do not suffice. */
export function neededExtra(
  credits: number,
  { committed, fromExtra }: { committed: number; fromExtra: number },
  creditsLimit: number,
): number {
  const ownLeft = Math.max(0, creditsLimit - (committed - fromExtra));
  return Math.max(0, credits - ownLeft);
}

/** Whether a look at its balances is worth a read. */
export function mayHaveExtra({ extraUntilMs }: Pick<License, 'extraUntilMs'>, nowMs: number): boolean {
  return extraUntilMs !== null && nowMs < extraUntilMs;
}
