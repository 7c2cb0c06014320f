import { createHash } from 'node:crypto';
import { installCancellations } from './cancellations.ts';
import { runClient, serveAgain } from './clients.ts';
import { changeExtraCredits } from './extra-credits.ts';
import { createNetwork } from './network.ts';
import { changeKeys, changeVersions, runOperator, runOutages, runSweeps } from './operators.ts';
import { installProcess, turn, useNetwork, useScheduler } from './process.ts';
import { currentRun, Run } from './runs.ts';
import { storeSetup } from './setup.ts';
import { createSimulation, type Simulation } from './simulation.ts';

export type SimulationResult = Awaited<ReturnType<typeof simulate>>;

/** Once a process: a first seed is played for what happens only when the service and the SDK are first used. */
export async function installSimulation(): Promise<void> {
  installProcess();
  await simulate(0);
}

/** Plays one seed to its end. */
export async function simulate(seed: number) {
  const simulation = await createSimulation(seed);
  const { violations, history, counts, checker, database, startMs } = simulation;
  try {
    useNetwork(createNetwork(simulation));
    const run = new Run('set-up', startMs);
    await drive(
      simulation,
      currentRun.run(run, () => storeSetup(simulation, startMs)),
    );
    await play(simulation);
  } finally {
    useScheduler(null);
    useNetwork(null);
    await database.close();
  }
  for (const status of ['COMPLETED', 'FAILED', 'TIMEOUT'])
    counts[`generations: ${status}`] = checker.numberOf(status);
  /** The same seed, the same history. */
  const fingerprint = createHash('sha256').update(history.join('\n')).digest('hex').slice(0, 16);
  return { seed, violations, history, fingerprint, counts };
}

async function play(simulation: Simulation): Promise<void> {
  const { random, scheduler, checker, judge, keys, profile, calmDown } = simulation;
  installCancellations(simulation);
  const clients = Array.from({ length: random.int(2, 5) }, () => runClient(simulation, random.pick(keys)));
  const actors = Promise.all([
    ...clients,
    runOperator(simulation),
    changeKeys(simulation),
    changeVersions(simulation),
    changeExtraCredits(simulation),
    random.chance(0.4) ? runOutages(simulation) : null,
  ]);
  let over = false;
  const sweeping = runSweeps(simulation, () => over);
  if (!(await drive(simulation, actors))) return;
  calmDown();
  // The longest lease, which also what was stored late has, and time for the sweep.
  const restMs = (profile.asyncDeadlineSeconds + 10 * 60) * 1000;
  const rest = scheduler.pause(restMs).then(() => (over = true));
  if (!(await drive(simulation, Promise.all([rest, sweeping])))) return;
  if (!(await drive(simulation, serveAgain(simulation)))) return;
  await checker.atRest();
  judge.atRest();
}

/** Far more than any simulation needs that comes to an end. */
const maxSteps = 100_000;

/** Lets time pass until something is done. @returns false when an invariant broke on the way. */
async function drive(
  { scheduler, violations, history }: Simulation,
  work: Promise<unknown>,
): Promise<boolean> {
  const isGood = () => violations.length === 0;
  const ending = { isDone: false };
  const end = () => (ending.isDone = true);
  work.then(end, end);
  await turn();
  let idleTurns = 0;
  for (let steps = 0; !ending.isDone && isGood(); steps++) {
    if (steps > maxSteps) throw new Error(`no end in sight:\n${history.slice(-30).join('\n')}`);
    if (await scheduler.step()) idleTurns = 0;
    else {
      if ((idleTurns += 1) > 1000) throw new Error('somebody waits for what will never happen');
      await turn();
    }
  }
  if (ending.isDone) await work;
  return isGood();
}
