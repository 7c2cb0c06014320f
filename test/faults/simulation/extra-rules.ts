import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import { extraLeft, listBalances } from '../../../shared/licenses/extra-credits.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { extraCreditsOf, type StoredRecord } from './invariants.ts';
import type { createLimits } from './limits.ts';
import type { Outside } from './outside.ts';
import type { Run } from './runs.ts';
import type { Json, TableCall } from './table-calls.ts';

/** The rules of extra credits: each is used once, by a request that found no room in its period, and none after its end. */
export function createExtraRules(
  { must, note, scheduler: { now } }: Outside,
  items: ReadonlyMap<string, Json>,
  limits: ReturnType<typeof createLimits>,
) {
  /** When each balance changed last, by the license and its name. */
  const changedAtMs = new Map<string, number>();
  /** By the license: when any credits that it ever had expire. What has expired leaves the table. */
  const expiries = new Map<string, Set<number>>();
  const balancesOf = (licenseId: string): Json => items.get(`PERIOD#${licenseId} EXTRA`) ?? {};

  return {
    /** What a license's credits are in all, as far as they can be used now. */
    look(licenseId: string): void {
      const license = items.get(`LICENSE#${licenseId} LICENSE`) as License | undefined;
      if (license === undefined) return;
      const { remaining = 0 } = extraLeft(balancesOf(licenseId), now()) ?? {};
      const name = `all credits of ${licenseId}`;
      limits.limitIs(name, creditPeriod(license, now()).creditsLimit);
      limits.spareIs(name, remaining);
    },
    /** Whether some may have expired while a run was under way, by a clock that differs. */
    someExpired: (licenseId: string, { startedMs }: Run): boolean =>
      [...(expiries.get(licenseId) ?? [])].some((endMs) => endMs > startedMs - 4000 && endMs < now() + 4000),
    written(call: TableCall, run: Run, before: Json, item: Json): void {
      const licenseId = String(item.PK).slice('PERIOD#'.length);
      const ends = expiries.get(licenseId) ?? new Set();
      expiries.set(licenseId, ends);
      for (const { name, left, expiresAtMs } of listBalances(item)) {
        ends.add(expiresAtMs);
        if (before[name] === left) continue;
        const isTaken = call.purpose === 'reserve';
        must(!isTaken || left >= 0, `${run.name}: takes extra credits that are not there (${name}: ${left})`);
        changedAtMs.set(`${item.PK} ${name}`, now());
      }
      this.look(licenseId);
    },
    /** A request was stored. */
    reserved({ PK, SK, fromExtra = {}, createdAtMs }: Json, run: Run): void {
      const names = Object.keys(fromExtra).sort();
      if (names.length === 0) return;
      note('extra', `credits of ${names.length} balances pay`);
      const licenseId = String(PK).slice('GEN#'.length);
      must(
        limits.wasTight(run, `credits of ${licenseId}`),
        `request ${SK}: extra credits before the period's own`,
      );
      for (const { name, left, expiresAtMs } of listBalances(balancesOf(licenseId))) {
        const isUsable = expiresAtMs > createdAtMs;
        must(isUsable || !names.includes(name), `request ${SK}: ${name} had expired`);
        const isOlder = (changedAtMs.get(`PERIOD#${licenseId} ${name}`) ?? 0) < run.startedMs;
        const isSkipped = isUsable && left > 0 && isOlder && name < names.at(-1)! && !names.includes(name);
        must(!isSkipped, `request ${SK}: ${names.at(-1)} is used before ${name}`);
      }
    },
    /** What is left of each purchase is what no request has and no refund took. */
    check(licenseId: string, records: StoredRecord[]): void {
      const taken = extraCreditsOf(records);
      const balances = balancesOf(licenseId);
      for (const { SK, purchase, refunded = 0, amount = 1 } of items.values()) {
        if (SK !== 'PURCHASE' || purchase?.licenseId !== licenseId) continue;
        const name = `${new Date(purchase.expiresAtMs).toISOString()}#${purchase.paymentId}`;
        // What has expired may be forgotten.
        if (purchase.expiresAtMs <= now()) continue;
        const left = purchase.amount - Math.floor((purchase.amount * refunded) / amount) - (taken[name] ?? 0);
        must((balances[name] ?? 0) === left, `${name}: ${balances[name]} are left, not ${left}`);
      }
    },
  };
}
