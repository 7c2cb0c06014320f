import type { Cast } from './cast.ts';
import { seededRandom, type Random } from './random.ts';
import { currentRun, newRun } from './runs.ts';
import type { Key, Setup } from './setup.ts';

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
