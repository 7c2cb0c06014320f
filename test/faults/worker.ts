import { plantedBugs } from './all-planted-bugs.ts';
import { plant } from './plant.ts';

/** What a worker is told to do. */
export interface WorkerTask {
  from: number;
  count: number;
  bug: string | null;
  databaseUrl: string | null;
}

const task = JSON.parse(process.argv[2]!) as WorkerTask;
const bug = plantedBugs.find(({ name }) => name === task.bug);
if (bug !== undefined) plant(bug);
const { installSimulation, simulate } = await import('./simulation/simulate.ts');

await installSimulation();
for (let seed = task.from; seed < task.from + task.count; seed++) {
  const { violations, counts, fingerprint } = await simulate(seed, {
    databaseUrl: task.databaseUrl ?? undefined,
  });
  process.send!({ seed, violations, counts, fingerprint });
  if (violations.length > 0) break;
}
// What the SDK's clients keep would let the process linger.
process.exit(0);
