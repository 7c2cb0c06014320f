import type { BillingEvidence } from '../../../shared/billing/evidence.ts';
import { monthAfter } from '../../../shared/licenses/billing-period.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
import { catalogLifetimeMs } from '../../../shared/identities/store.ts';
import { callFaults, type CallFault } from './faults.ts';
import { runJob } from './functions.ts';
import type { Cast } from './judge.ts';
import { seededRandom, type Random } from './random.ts';
import { currentRun, newRun } from './runs.ts';
import { apply, payment, snapshot, type Tenant, type Key, type Setup } from './setup.ts';

/** What happens to licenses, keys and identities meanwhile. */
export async function runOperator(cast: Cast): Promise<void> {
  const { world, setup } = cast;
  const { random, scheduler, history } = world;
  const times = random.int(0, 8);
  for (let i = 0; i < times; i++) {
    await scheduler.pause(random.int(1000, 40_000));
    const change = random.pick(changes);
    const tenant = random.pick(setup.tenants);
    const run = newRun('operator', scheduler.now());
    history.note(run.name, `${change.name} ${tenant.license.licenseId}`);
    await currentRun.run(run, () => change(cast, tenant));
    history.note(run.name, `${change.name}: done`);
  }
}

const changes = [
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

async function changeLimit({ world, setup }: Cast, { license }: Tenant): Promise<void> {
  await setup.stores.licenses.update(license.licenseId, { creditsLimit: world.random.int(1, 80) });
}

async function changeTier({ world, setup }: Cast, { license }: Tenant): Promise<void> {
  await setup.stores.licenses.update(license.licenseId, {
    tier: world.random.pick(['starter', 'standard', 'pro', 'pro']),
  });
}

async function changeMaxInFlight({ world, setup }: Cast, { license }: Tenant): Promise<void> {
  await setup.stores.licenses.update(license.licenseId, {
    maxInFlight: world.random.pick([null, world.random.int(1, 4)]),
  });
}

async function suspendForAWhile({ world, setup }: Cast, tenant: Tenant): Promise<void> {
  const { license, access, subscription } = tenant;
  // Its next event would say that it is active.
  if (subscription !== null) return;
  const { licenses } = setup.stores;
  const status = world.random.pick(['past_due', 'ended'] as const);
  await access.change(false, () => licenses.update(license.licenseId, { status }));
  await world.scheduler.pause(world.random.int(100, 15_000));
  await access.change(true, () => licenses.update(license.licenseId, { status: 'active' }));
}

async function revokeKey({ world, setup }: Cast): Promise<void> {
  const key = world.random.pick(setup.keys);
  if (!key.access.isOpen()) return;
  await key.access.change(false, () => setup.stores.apiKeys.revoke(key.stored, world.scheduler.now()));
}

/** Nobody can know which of the two holds until every function's memory of the catalog has run out. */
async function takeModelAway({ world, setup }: Cast): Promise<void> {
  const { identity, identityAccess, stores } = setup;
  const { random, scheduler, checker } = world;
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
async function importUsage({ world, setup }: Cast, tenant: Tenant): Promise<void> {
  const { license, imported } = tenant;
  const stored = (await setup.stores.licenses.get(license.licenseId))!;
  const { startMs } = creditPeriod(stored, world.scheduler.now());
  const credits = world.random.int(1, 5);
  const run = newRun('operator (import)', world.scheduler.now(), { mayFail: true });
  const importing = currentRun.run(run, () =>
    setup.stores.periods.importUsage(license.licenseId, startMs, credits),
  );
  await importing.then(
    () => (imported.sure += credits),
    () => (imported.unsure += credits),
  );
}

const modelOutages = ['refused', 'no capacity', 'never answers', 'answers 500', 'throttled'] as const;
const callOutages = callFaults.filter((name) => !/killed|stalled|slow|unprocessed|stale|missing/.test(name));

/** Now and then something is away for everybody. */
export async function runWeather({ world }: Cast): Promise<void> {
  const { random, scheduler, history, outage } = world;
  for (let i = 0; i < 2; i++) {
    await scheduler.pause(random.int(5000, 120_000));
    const model = random.chance(0.6);
    const calls: CallFault = random.pick(callOutages);
    if (model) outage.model = random.pick(modelOutages);
    else outage.calls = calls;
    history.note('weather', `outage: ${outage.model ?? calls}`);
    world.counts.add(`outage: ${model ? 'model' : 'calls'}`);
    await scheduler.pause(random.int(2000, 60_000));
    outage.model = null;
    outage.calls = null;
    history.note('weather', 'the outage is over');
  }
}

const minuteMs = 60_000;

/** Each minute, as its schedule has it; sometimes twice at once. Nothing stays held for two minutes after its lease. */
export async function runSweeps({ world, functions, skewsMs }: Cast, isOver: () => boolean): Promise<void> {
  const { random, scheduler, checker, counts, profile, history } = world;
  const skewMs = Math.max(...skewsMs.map(Math.abs));
  while (!isOver()) {
    await scheduler.pause(minuteMs);
    const fails = profile.sweeperFails && !world.isCalm();
    if (!fails) reportOverdue(2 * minuteMs + 2 * skewMs);
    const isIdle = checker.open().length === 0 && !checker.hasDeletions();
    if (isIdle && !random.chance(0.002)) continue;
    const sweeps = random.chance(0.3) ? functions.sweep : functions.sweep.slice(0, 1);
    for (const [i, job] of sweeps.entries()) {
      const run = newRun(`sweep ${i + 1}`, scheduler.now(), {
        kind: 'sweep',
        mayFail: fails,
        mayDie: fails,
        skewMs: skewsMs[0]!,
      });
      counts.add('sweeps');
      history.note(run.name, 'begins');
      void runJob(run, job).then((good) => {
        run.ended = good !== null;
        return history.note(run.name, good === null ? '† died' : good ? 'done' : 'failed');
      });
    }
  }

  function reportOverdue(afterMs: number): void {
    // A sweep that failed leaves its work to the next one, so in such a world late is not wrong.
    if (profile.sweeperFails) return;
    for (const { requestId } of checker.overdue(afterMs)) {
      const sentence = `request ${requestId} still holds credits two minutes after its lease`;
      if (!world.violations.includes(sentence)) world.violations.push(sentence);
    }
  }
}

/** A customer moves the day of their bill to today, paid or not. The events come in any order, seconds later. */
async function moveAnchor({ world, setup }: Cast, { license, subscription }: Tenant): Promise<void> {
  if (subscription === null) return;
  const { random, scheduler } = world;
  const atMs = Math.floor(scheduler.now() / 1000) * 1000;
  const { anchorMs, periodEndMs } = subscription.state;
  if (atMs === anchorMs) return;
  subscription.state = { ...subscription.state, anchorMs: atMs, periodEndMs: monthAfter(atMs) };
  subscription.isMoved = true;
  const events: BillingEvidence[] = [
    snapshot(subscription, license.ownerId, atMs, { anchorMs, periodEndMs }),
  ];
  if (random.chance(0.4)) {
    events.push(payment(subscription, atMs));
    subscription.paidAnchorsMs.push(atMs);
  }
  world.counts.add(`moved anchors: ${events.length === 1 ? 'unpaid' : 'paid'}`);
  if (random.chance(0.5)) events.reverse();
  for (const event of events) {
    // Longer than clocks differ.
    await scheduler.pause(random.int(4500, 12_000));
    await deliver(event);
  }

  /** As the queue does: again until it is applied. */
  async function deliver(event: BillingEvidence): Promise<void> {
    for (;;) {
      const run = newRun('billing', scheduler.now(), { mayFail: true });
      const applied = await currentRun
        .run(run, () => apply(setup.subscriptions, subscription!, event))
        .catch(() => null);
      if (applied !== null) return;
      await scheduler.pause(2000);
    }
  }
}

/** Only some worlds have budgets, so that the others stay as they were. */
const everySoManyWorlds = 4;

const hasBudgets = (seed: number): boolean => seed % everySoManyWorlds === 0;

/** A stream of its own, for the same reason. */
const randomOf = (seed: number): Random => seededRandom(seed + 0xb0d6e7);

/** Often too little for all that a key asks for, sometimes less than one request costs. */
const drawBudget = (random: Random): number => random.pick([random.int(1, 10), random.int(10, 60)]);

/** Most keys begin with a budget. */
export function drawBudgets(seed: number, { keys }: Setup): void {
  if (!hasBudgets(seed)) return;
  const random = randomOf(seed);
  for (const { stored } of keys) stored.monthlyCredits = random.chance(0.7) ? drawBudget(random) : null;
}

/** Budgets are set, raised, lowered and taken away meanwhile, sometimes twice at once. */
export async function changeBudgets(cast: Cast): Promise<void> {
  const { seed, scheduler } = cast.world;
  if (!hasBudgets(seed)) return;
  const random = randomOf(-seed);
  const times = random.int(0, 6);
  for (let i = 0; i < times; i++) {
    await scheduler.pause(random.int(1000, 40_000));
    const key = random.pick(cast.setup.keys);
    const drawn = Array.from({ length: random.chance(0.2) ? 2 : 1 }, () =>
      random.chance(0.25) ? null : drawBudget(random),
    );
    await Promise.all(drawn.map((budget) => changeBudget(cast, key, budget)));
  }
}

/** As PATCH does it. Whatever fails on the way, what the table says holds. */
async function changeBudget(cast: Cast, key: Key, monthlyCredits: number | null): Promise<void> {
  const { scheduler, history, counts } = cast.world;
  const run = newRun('owner', scheduler.now(), { mayFail: true });
  history.note(run.name, `${key.name} gets a budget of ${monthlyCredits ?? 'any size'}`);
  const isDone = await currentRun
    .run(run, () => patch(cast, key, monthlyCredits))
    .then(
      () => true,
      () => false,
    );
  history.note(run.name, isDone ? 'the budget: done' : 'the budget: failed');
  counts.add(`budget changes: ${isDone ? 'done' : 'failed'}`);
}

async function patch({ world, setup }: Cast, { stored }: Key, monthlyCredits: number | null): Promise<void> {
  const { apiKeys } = setup.stores;
  const read = await apiKeys.get(stored.keyId);
  await apiKeys.change(read!, { monthlyCredits }, world.scheduler.now());
}

/** Once all is well, a key may use what its license may. */
export async function endBudget(cast: Cast, key: Key): Promise<void> {
  if (hasBudgets(cast.world.seed)) await patch(cast, key, null);
}
