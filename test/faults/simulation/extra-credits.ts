import { addExtraCredits, takeBackExtraCredits } from '../../../shared/licenses/extra-credits-store.ts';
import { openTable } from '../../../shared/table/table.ts';
import { seededRandom } from './random.ts';
import { currentRun, Run } from './runs.ts';
import type { Simulation } from './simulation.ts';

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
