import type { BillingEvidence } from '../../../shared/billing/evidence.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
import { plainVersion } from '../../../shared/identities/version.ts';
import { catalogLifetimeMs } from '../../../shared/identities/store.ts';
import { monthAfter } from '../../../shared/licenses/billing-period.ts';
import type { KeyChanges } from '../../../shared/keys/store.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { callOutages, modelOutages } from './faults.ts';
import { runJob } from './functions.ts';
import { seededRandom } from './random.ts';
import { currentRun, Run } from './runs.ts';
import { drawBudget, type Key, type Tenant } from './setup.ts';
import type { Simulation } from './simulation.ts';

type Change = (simulation: Simulation, tenant: Tenant) => Promise<unknown>;

/** What happens to licenses, keys and identities meanwhile. */
export async function runOperator(simulation: Simulation): Promise<void> {
  const { random, scheduler, note, tenants } = simulation;
  const times = random.int(0, 8);
  for (let i = 0; i < times; i++) {
    await scheduler.pause(random.int(1000, 40_000));
    const change = random.pick(changes);
    const tenant = random.pick(tenants);
    const run = new Run('operator', scheduler.now());
    note(run.name, `${change.name} ${tenant.license.licenseId}`);
    await currentRun.run(run, () => change(simulation, tenant));
    note(run.name, `${change.name}: done`);
  }
}

function changeLicense({ stores }: Simulation, { license }: Tenant, changed: Partial<License>) {
  return stores.licenses.update(license.licenseId, changed);
}

const changeLimit: Change = (simulation, tenant) =>
  changeLicense(simulation, tenant, { creditsLimit: simulation.random.int(1, 80) });

const changeTier: Change = (simulation, tenant) =>
  changeLicense(simulation, tenant, { tier: simulation.random.pick(['starter', 'standard', 'pro', 'pro']) });

const changeMaxInFlight: Change = (simulation, tenant) =>
  changeLicense(simulation, tenant, {
    maxInFlight: simulation.random.pick([null, simulation.random.int(1, 4)]),
  });

const changes: Change[] = [
  changeLimit,
  changeLimit,
  changeTier,
  changeMaxInFlight,
  moveAnchor,
  moveAnchor,
  suspendForAWhile,
  revokeKey,
  takeModelAway,
  importUsage,
];

async function suspendForAWhile(simulation: Simulation, tenant: Tenant): Promise<void> {
  const { random, scheduler } = simulation;
  // Its next event would say that it is active.
  if (tenant.subscription !== null) return;
  const status = random.pick(['past_due', 'ended'] as const);
  await tenant.access.change(false, () => changeLicense(simulation, tenant, { status }));
  await scheduler.pause(random.int(100, 15_000));
  await tenant.access.change(true, () => changeLicense(simulation, tenant, { status: 'active' }));
}

async function revokeKey({ random, keys, stores, scheduler }: Simulation): Promise<void> {
  const { access, stored } = random.pick(keys);
  if (access.isOpen()) await access.change(false, () => stores.apiKeys.revoke(stored, scheduler.now()));
}

/** Nobody can know which of the two holds until every function's memory of the catalog has run out. */
async function takeModelAway(simulation: Simulation): Promise<void> {
  const { random, scheduler, checker, identity, identityAccess, stores } = simulation;
  checker.runs.excuseAll();
  const put = async (changed: Identity) => {
    await stores.identities.put(changed);
    await scheduler.pause(catalogLifetimeMs);
  };
  await identityAccess.change(false, () => put({ ...identity, model: null }));
  await scheduler.pause(random.int(100, 15_000));
  await identityAccess.change(true, () => put(identity));
}

/** Usage from elsewhere may exceed what is left, as it did elsewhere. Whatever fails on the way, it counts once. */
async function importUsage({ random, scheduler, stores }: Simulation, tenant: Tenant): Promise<void> {
  const { licenseId } = tenant.license;
  const { startMs } = creditPeriod((await stores.licenses.get(licenseId))!, scheduler.now());
  const credits = random.int(1, 5);
  const run = new Run('operator (import)', scheduler.now(), { mayFail: true });
  const importing = currentRun.run(run, () => stores.periods.importUsage(licenseId, startMs, credits));
  await importing.then(
    () => (tenant.imported.sure += credits),
    () => (tenant.imported.unsure += credits),
  );
}

/** A customer moves the day of their bill to today, paid or not. The events come in any order, seconds later. */
async function moveAnchor({ random, scheduler }: Simulation, { subscription }: Tenant): Promise<void> {
  if (subscription === null) return;
  const atMs = Math.floor(scheduler.now() / 1000) * 1000;
  const { anchorMs, periodEndMs } = subscription.state;
  if (atMs === anchorMs) return;
  Object.assign(subscription.state, { anchorMs: atMs, periodEndMs: monthAfter(atMs) });
  subscription.isMoved = true;
  const events: BillingEvidence[] = [subscription.snapshot(atMs, { anchorMs, periodEndMs })];
  if (random.chance(0.4)) {
    events.push(subscription.payment(atMs));
    subscription.paidAnchorsMs.push(atMs);
  }
  if (random.chance(0.5)) events.reverse();
  for (const event of events) {
    // Longer than clocks differ.
    await scheduler.pause(random.int(4500, 12_000));
    // As the queue delivers it: again until it is applied.
    for (let isApplied = false; !isApplied;) {
      const run = new Run('billing', scheduler.now(), { mayFail: true });
      const applied = await currentRun.run(run, () => subscription.apply(event)).catch(() => null);
      isApplied = applied !== null;
      if (!isApplied) await scheduler.pause(2000);
    }
  }
}

/** Now and then something is away for everybody. */
export async function runOutages({ random, scheduler, note, outage }: Simulation): Promise<void> {
  for (let i = 0; i < 2; i++) {
    await scheduler.pause(random.int(5000, 120_000));
    const isOfModel = random.chance(0.6);
    const calls = random.pick(callOutages);
    if (isOfModel) outage.model = random.pick(modelOutages);
    else outage.calls = calls;
    note('outages', `${outage.model ?? calls}`);
    await scheduler.pause(random.int(2000, 60_000));
    Object.assign(outage, { model: null, calls: null });
    note('outages', 'over');
  }
}

const minuteMs = 60_000;

/** Each minute, as its schedule has it; sometimes twice at once. Nothing stays held for two minutes after its lease. */
export async function runSweeps(simulation: Simulation, isOver: () => boolean): Promise<void> {
  const { random, scheduler, checker, note, profile, functions, skewsMs, violations } = simulation;
  const skewMs = Math.max(...skewsMs.map(Math.abs));
  let openBefore = new Set<string>();
  while (!isOver()) {
    await scheduler.pause(minuteMs);
    // A sweep that failed leaves its work to the next one, so where sweeps fail late is not wrong.
    if (!profile.sweeperFails) reportOverdue();
    const isIdle = checker.open().length === 0 && !checker.hasDeletions();
    if (isIdle && !random.chance(0.002)) continue;
    const fails = profile.sweeperFails && !simulation.isCalm();
    const sweeps = random.chance(0.3) ? functions.sweep : functions.sweep.slice(0, 1);
    for (const [i, job] of sweeps.entries()) {
      const faults = { mayFail: fails, mayDie: fails };
      const run = new Run(`sweep ${i + 1}`, scheduler.now(), {
        kind: 'sweep',
        skewMs: skewsMs[0]!,
        ...faults,
      });
      note(run.name, 'begins');
      void runJob(run, job).then((good) =>
        note(run.name, good === null ? '† died' : good ? 'done' : 'failed'),
      );
    }
  }

  function reportOverdue(): void {
    const beforeMs = scheduler.now() - 2 * minuteMs - 2 * skewMs;
    for (const { requestId, item } of checker.open()) {
      const sentence = `request ${requestId} still holds credits two minutes after its lease`;
      // A reservation whose machine stood still may be stored long after its lease. No sweep could see it before.
      const isOverdue = item.leaseUntilMs < beforeMs && openBefore.has(requestId);
      if (isOverdue && !violations.includes(sentence)) violations.push(sentence);
    }
    openBefore = new Set(checker.open().map(({ requestId }) => requestId));
  }
}

/** Budgets and places of keys are set, raised, lowered and taken away meanwhile, sometimes twice at once. */
export async function changeKeys(simulation: Simulation): Promise<void> {
  const { seed, scheduler, keys, profile } = simulation;
  if (!profile.hasBudgets && !profile.hasWeakKeys) return;
  const random = seededRandom(0xb0d6e7 - seed);
  const times = random.int(0, 6);
  for (let i = 0; i < times; i++) {
    await scheduler.pause(random.int(1000, 40_000));
    const key = random.pick(keys);
    const ofBudget = profile.hasBudgets && (!profile.hasWeakKeys || random.chance(0.5));
    const drawn = Array.from({ length: random.chance(0.2) ? 2 : 1 }, (): KeyChanges => {
      const isNone = random.chance(0.25);
      if (ofBudget) return { monthlyCredits: isNone ? null : drawBudget(random) };
      return { maxInFlight: isNone ? null : random.int(1, 2) };
    });
    await Promise.all(drawn.map((wanted) => changeKey(simulation, key, wanted)));
  }
}

/** Whatever fails on the way, what the table says holds. */
async function changeKey(simulation: Simulation, key: Key, wanted: KeyChanges): Promise<void> {
  const { scheduler, note } = simulation;
  const run = new Run('owner', scheduler.now(), { mayFail: true });
  note(run.name, `${key.name} gets ${JSON.stringify(wanted)}`);
  const result = await currentRun
    .run(run, () => patchKey(simulation, key, wanted))
    .then(
      () => 'done',
      () => 'failed',
    );
  note(run.name, `the key: ${result}`);
}

/** As PATCH does it. */
async function patchKey(
  { stores, scheduler }: Simulation,
  { stored }: Key,
  wanted: KeyChanges,
): Promise<void> {
  const read = await stores.apiKeys.get(stored.keyId);
  await stores.apiKeys.change(read!, wanted, scheduler.now());
}

/** Once all is well, a key may use what its license may. */
export async function endBudget(simulation: Simulation, key: Key): Promise<void> {
  if (simulation.profile.hasBudgets) await patchKey(simulation, key, { monthlyCredits: null });
}

/** Another version becomes active meanwhile, forwards and back. Each makes other pictures, so it matters which one a request gets. */
export async function changeVersions(simulation: Simulation): Promise<void> {
  const { seed, scheduler, profile, stores, identity, note } = simulation;
  if (!profile.hasVersions) return;
  const random = seededRandom(0x5e4510 - seed);
  for (let i = random.int(2, 8); i > 0; i--) {
    await scheduler.pause(random.int(1000, 30_000));
    const number = random.int(1, 3);
    const run = new Run('operator (versions)', scheduler.now(), { mayFail: true });
    note(run.name, `activates version ${number}`);
    const activate = stores.identities.change(identity.identityId, (before) => ({
      // Where another operator has taken the model away, it stays away.
      identity: { ...before!, model: before!.model && { ...plainVersion, number } },
    }));
    await currentRun.run(run, () => activate).catch(() => note(run.name, 'failed'));
  }
}
