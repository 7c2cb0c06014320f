import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Game, SeedReport } from './worker.ts';

export type { Game, SeedReport };

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
    let last: SeedReport | null = null;
    const child = fork(worker, [JSON.stringify(games)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.on('message', (message) => onSeed((last = message as SeedReport)));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) return resolve();
      const before = last === null ? 'nothing' : `seed ${last.seed} (mutant: ${last.mutant ?? 'none'})`;
      reject(new Error(`what comes after ${before} could not be played: ${said.slice(-3000)}`));
    });
  });
}
