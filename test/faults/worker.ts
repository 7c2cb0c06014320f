import { openSimulation } from './open-simulation.ts';
import type { SimulationResult } from './simulation/simulate.ts';

/** Seeds to be played one after another, until an invariant breaks. */
export interface Game {
  from: number;
  count: number;
  mutant: string | null;
}

/** One seed's world. */
export interface SeedReport extends Omit<SimulationResult, 'history'> {
  mutant: string | null;
  /** How many lines its history has. */
  lines: number;
}

// Errors are part of every world, and nobody reads where they came from.
Error.stackTraceLimit = 0;
const simulationWith = await openSimulation();
for (const game of JSON.parse(process.argv[2]!) as Game[]) await play(game);
// What the SDK's clients keep would let the process linger.
process.exit(0);

async function play({ from, count, mutant }: Game): Promise<void> {
  const { simulate } = await simulationWith(mutant);
  for (let seed = from; seed < from + count; seed++) {
    const { history, ...result } = await simulate(seed);
    const report: SeedReport = { ...result, mutant, lines: history.length };
    process.send!(report);
    if (report.violations.length > 0) return;
  }
}
