import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SimulationResult } from './simulation/simulate.ts';

/** Seeds to be played one after another, until an invariant breaks. */
export interface Game {
  from: number;
  count: number;
  mutant: string | null;
}

/** What came of one seed. */
export interface SeedReport extends Omit<SimulationResult, 'history'> {
  mutant: string | null;
  /** How many lines its history has. */
  lines: number;
}

const worker = fileURLToPath(new URL('worker.ts', import.meta.url));

/**
 * Plays games in processes side by side, several in each: what a process needs to begin is most of a short game. A process
 * keeps what its cold starts and its mutants left in memory until it ends.
 * @param games those that wait; whoever empties it meanwhile ends the play
 */
export async function playGames(
  games: Game[],
  { workers, gamesPerProcess }: { workers: number; gamesPerProcess: number },
  onSeed: (report: SeedReport) => void,
): Promise<void> {
  const work = async (): Promise<void> => {
    while (games.length > 0) await playInProcess(games.splice(0, gamesPerProcess), onSeed);
  };
  await Promise.all(Array.from({ length: workers }, work));
}

function playInProcess(games: Game[], onSeed: (report: SeedReport) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = 'nothing';
    let said = '';
    const child = fork(worker, [JSON.stringify(games)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.on('message', (report: SeedReport) => {
      last = `seed ${report.seed} (mutant: ${report.mutant ?? 'none'})`;
      onSeed(report);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`what comes after ${last} could not be played: ${said.slice(-3000)}`));
    });
  });
}
