import { openSimulation } from './open-simulation.ts';
import type { SimulationResult } from './simulation/simulate.ts';

/** Seeds to be played one after another, until an invariant breaks. */
export interface Game {
  from: number;
  count: number;
  bug: string | null;
  /** Looks for the world that shows a bug soonest: it goes on after a find, and stops each world that is longer. */
  seeksShortest?: boolean;
}

/** What a worker is told to do. */
export interface WorkerTask {
  games: Game[];
  databaseUrl: string | null;
}

/** One seed's world. */
export interface SeedReport extends Pick<SimulationResult, 'seed' | 'violations' | 'counts' | 'fingerprint'> {
  bug: string | null;
  /** How many lines its history has. */
  lines: number;
}

/** Among so many the shortest is looked for; after them the first one counts. */
const seedsCompared = 20;

// Errors are part of every world, and nobody reads where they came from.
Error.stackTraceLimit = 0;
const { games, databaseUrl } = JSON.parse(process.argv[2]!) as WorkerTask;
const simulationWith = await openSimulation();
for (const game of games) await play(game);
// What the SDK's clients keep would let the process linger.
process.exit(0);

async function play({ from, count, bug, seeksShortest = false }: Game): Promise<void> {
  const { simulate } = await simulationWith(bug);
  let mostLines = Infinity;
  for (let seed = from; seed < from + count; seed++) {
    const isFound = mostLines < Infinity;
    if (isFound && (!seeksShortest || seed >= from + seedsCompared)) return;
    const { history, ...result } = await simulate(seed, { databaseUrl: databaseUrl ?? undefined, mostLines });
    const report: SeedReport = { ...result, bug, lines: history.length };
    process.send!(report);
    if (report.violations.length > 0) mostLines = report.lines;
  }
}
