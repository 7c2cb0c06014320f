import { openSimulation } from './open-simulation.ts';
import type { Game, SeedReport } from './play-games.ts';

// Errors are part of every simulation, and nobody reads where they came from.
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
