import { plantedBugs } from './planted-bugs.ts';
import { plant } from './plant.ts';

/** What a worker is told to do. */
export interface WorkerOrder {
  from: number;
  count: number;
  bug: string | null;
  databaseUrl: string | null;
}

const order = JSON.parse(process.argv[2]!) as WorkerOrder;
const bug = plantedBugs.find(({ name }) => name === order.bug);
if (bug !== undefined) plant(bug);
const { installSimulation, simulate } = await import('./simulation/simulate.ts');

await installSimulation();
for (let seed = order.from; seed < order.from + order.count; seed++) {
  const { violations, counts, fingerprint } = await simulate(seed, {
    databaseUrl: order.databaseUrl ?? undefined,
  });
  process.send!({ seed, violations, counts, fingerprint });
  if (violations.length > 0) break;
}
// What the SDK's clients keep would let the process linger.
process.exit(0);
