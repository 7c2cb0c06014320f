import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { addCounts } from './simulation/counts.ts';
import type { Game, SeedReport, WorkerTask } from './worker.ts';

export type { Game, SeedReport };

export interface PoolOptions {
  from: number;
  count: number;
  workers: number;
  bug?: string | null;
  databaseUrl?: string | null;
  onSeed?: (report: SeedReport, done: number) => void;
}

export interface PoolResult {
  seeds: number;
  counts: Record<string, number>;
  /** Of the lowest seed that has any. */
  broken: SeedReport | null;
}

/** Each process plays so many seeds and ends, which frees what its cold starts left in memory. */
const seedsPerProcess = 100;
const worker = fileURLToPath(new URL('worker.ts', import.meta.url));

/** Plays seeds in processes side by side, until all are played or one has broken an invariant. */
export async function playSeeds(options: PoolOptions): Promise<PoolResult> {
  const { from, count, workers, bug = null, databaseUrl = null } = options;
  const result: PoolResult = { seeds: 0, counts: {}, broken: null };
  let next = from;
  const step = Math.min(seedsPerProcess, Math.ceil(count / workers));
  const take = (): WorkerTask | null => {
    if (result.broken !== null || next >= from + count) return null;
    const game = { from: next, count: Math.min(step, from + count - next), bug };
    next += game.count;
    return { games: [game], databaseUrl };
  };
  const work = async (): Promise<void> => {
    for (let task = take(); task !== null; task = take()) {
      await playInProcess(task, (report) => {
        result.seeds += 1;
        addCounts(result.counts, report.counts);
        if (report.violations.length > 0 && report.seed < (result.broken?.seed ?? Infinity))
          result.broken = report;
        options.onSeed?.(report, result.seeds);
      });
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return result;
}

/** Plays games in processes side by side, several in each: what a process needs to begin is most of a short game. */
export async function playGames(
  games: Game[],
  workers: number,
  onSeed: (report: SeedReport) => void,
): Promise<void> {
  const waiting = [...games];
  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      await playInProcess({ games: waiting.splice(0, gamesPerProcess), databaseUrl: null }, onSeed);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

/** As few processes as memory allows: each keeps the copies of the service that it had bugs planted in. */
const gamesPerProcess = 35;

function playInProcess(task: WorkerTask, onReport: (report: SeedReport) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let last: SeedReport | null = null;
    const child = fork(worker, [JSON.stringify(task)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.on('message', (message) => onReport((last = message as SeedReport)));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) return resolve();
      const before =
        last === null ? 'nothing' : `seed ${last.seed}${last.bug === null ? '' : ` with ${last.bug}`}`;
      reject(new Error(`what comes after ${before} could not be played: ${said.slice(-3000)}`));
    });
  });
}
