import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { addCounts } from './simulation/counts.ts';
import type { WorkerTask } from './worker.ts';

export interface SeedReport {
  seed: number;
  violations: string[];
  counts: Record<string, number>;
  /** Of everything that happened. */
  fingerprint: string;
}

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
  const { from, count, workers } = options;
  const result: PoolResult = { seeds: 0, counts: {}, broken: null };
  let next = from;
  const step = Math.min(seedsPerProcess, Math.ceil(count / workers));
  const take = (): WorkerTask | null => {
    if (result.broken !== null || next >= from + count) return null;
    const task = { from: next, count: Math.min(step, from + count - next) };
    next += task.count;
    return { ...task, bug: options.bug ?? null, databaseUrl: options.databaseUrl ?? null };
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

function playInProcess(task: WorkerTask, onReport: (report: SeedReport) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = task.from - 1;
    const child = fork(worker, [JSON.stringify(task)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.on('message', (message) => {
      const report = message as SeedReport;
      last = report.seed;
      onReport(report);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`seed ${last + 1} could not be played: ${said.slice(-3000)}`));
    });
  });
}
