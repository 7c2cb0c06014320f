import { addExtraCredits, takeBackExtraCredits } from '../../../shared/licenses/extra-credits-store.ts';
import { extraLeft, listBalances } from '../../../shared/licenses/extra-credits.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { openTable, type Item } from '../../../shared/table/table.ts';
import { extraCreditsOf, type StoredRecord } from './invariants.ts';
import type { createLimits } from './limits.ts';
import type { Outside } from './outside.ts';
import { seededRandom } from './random.ts';
import { currentRun, Run } from './runs.ts';
import type { Simulation } from './simulation.ts';
import type { Json, TableCall } from './table-calls.ts';

const minuteMs = 60_000;

/** Packs are bought and refunded, at once, twice and in any order, and some expire meanwhile. */
export async function changeExtraCredits(simulation: Simulation): Promise<void> {
  const { seed, scheduler, tenants, profile, database } = simulation;
  if (!profile.hasExtraCredits) return;
  const random = seededRandom(0xec7a + seed);
  const table = openTable(database.tableName);
  const times = random.int(3, 8);
  for (let i = 0; i < times; i++) {
    if (i > 0 || random.chance(0.3)) await scheduler.pause(random.int(100, 30_000));
    const { licenseId } = random.pick(tenants).license;
    const paymentId = `pi_${i}`;
    const lastsMs = random.pick([
      random.int(5000, 90_000),
      random.int(1, 20) * minuteMs,
      400 * 24 * 60 * minuteMs,
    ]);
    const expiresAtMs = scheduler.now() + lastsMs;
    const pack = { licenseId, amount: random.int(1, 12), source: 'pack', paymentId, reason: null } as const;
    const events = [() => addExtraCredits(table, { ...pack, expiresAtMs }, 'billing:evt_1', scheduler.now())];
    if (random.chance(0.3)) events.push(events[0]!);
    const refunds = random.chance(0.4) ? random.int(1, 3) : 0;
    for (let part = 1; part <= refunds; part++) {
      const refund = { paymentId, refunded: part * random.int(1, 100), amount: 300 };
      events.push(() => takeBackExtraCredits(table, refund, 'billing:evt_2', scheduler.now()) as never);
    }
    for (const event of events.toSorted(() => random.int(0, 1) - 0.5)) {
      const done = delivered(simulation, `${pack.amount} credits for ${licenseId}`, event);
      if (random.chance(0.6)) await done;
      if (random.chance(0.5)) await scheduler.pause(random.int(100, 15_000));
    }
  }
}

/** As the queue delivers it: again until it is applied. */
async function delivered(
  { scheduler, note }: Simulation,
  what: string,
  event: () => Promise<unknown>,
): Promise<void> {
  for (let isApplied = false; !isApplied;) {
    const run = new Run('extra', scheduler.now(), { mayFail: true });
    const outcome = await currentRun.run(run, event).catch(() => null);
    isApplied = outcome !== null;
    note(run.name, `${what}: ${outcome ?? 'failed'}`);
    if (!isApplied) await scheduler.pause(2000);
  }
}

/** The rules of extra credits: each is used once, by a request that found no room in its period, and none after its end. */
export function createExtraRules(
  { must, note, scheduler: { now } }: Outside,
  items: ReadonlyMap<string, Json>,
  limits: ReturnType<typeof createLimits>,
) {
  /** When each balance changed last, by the license and its name. */
  const changedAtMs = new Map<string, number>();
  const balancesOf = (licenseId: string): Json => items.get(`PERIOD#${licenseId} EXTRA`) ?? {};

  return {
    /** What a license's credits are in all, as far as they can be used now. */
    look(licenseId: string): void {
      const license = items.get(`LICENSE#${licenseId} LICENSE`) as License | undefined;
      if (license === undefined) return;
      const { remaining = 0 } = extraLeft(balancesOf(licenseId), now()) ?? {};
      limits.limitIs(`all credits of ${licenseId}`, creditPeriod(license, now()).creditsLimit + remaining);
    },
    /** Whether some may have expired while a run was under way, by a clock that differs. */
    someExpired: (licenseId: string, { startedMs }: Run): boolean =>
      listBalances(balancesOf(licenseId)).some(
        ({ expiresAtMs }) => expiresAtMs > startedMs - 4000 && expiresAtMs < now() + 4000,
      ),
    written(call: TableCall, run: Run, before: Json, item: Json): void {
      for (const { name, left } of listBalances(item as Item)) {
        if (before[name] === left) continue;
        const isTaken = call.purpose === 'reserve';
        must(!isTaken || left >= 0, `${run.name}: takes extra credits that are not there (${name}: ${left})`);
        changedAtMs.set(`${item.PK} ${name}`, now());
      }
      this.look(String(item.PK).slice('PERIOD#'.length));
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
