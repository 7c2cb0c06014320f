import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { addCounts } from './simulation/counts.ts';
import type { Journal } from './journal.ts';
import type { WorkerOrder } from './worker.ts';

export interface SeedReport {
  seed: number;
  violations: string[];
  counts: Record<string, number>;
  /** Of everything that happened. */
  fingerprint: string;
}

export interface CrewOptions {
  from: number;
  count: number;
  workers: number;
  bug?: string | null;
  databaseUrl?: string | null;
  onSeed?: (report: SeedReport, done: number) => void;
  /** What was played before, and where what is played now is kept. */
  journal?: Journal;
}

export interface CrewResult {
  seeds: number;
  counts: Record<string, number>;
  /** Of the lowest seed that has any. */
  broken: SeedReport | null;
}

/** Each process plays so many: what a cold start leaves in memory goes with it. */
const seedsPerProcess = 100;
const worker = fileURLToPath(new URL('worker.ts', import.meta.url));

/** Plays seeds in processes side by side, until all are played or one has broken an invariant. */
export async function playSeeds(options: CrewOptions): Promise<CrewResult> {
  const { from, count, workers } = options;
  const result: CrewResult = { seeds: 0, counts: {}, broken: null };
  let next = from;
  const step = Math.min(seedsPerProcess, Math.ceil(count / workers));
  const take = (): WorkerOrder | null => {
    while (result.broken === null && next < from + count) {
      const order = { from: next, count: Math.min(step, from + count - next) };
      next += order.count;
      const known = options.journal?.find(order.from, order.count);
      if (known === undefined)
        return { ...order, bug: options.bug ?? null, databaseUrl: options.databaseUrl ?? null };
      result.seeds += order.count;
      addCounts(result.counts, known);
    }
    return null;
  };
  const work = async (): Promise<void> => {
    for (let order = take(); order !== null; order = take()) {
      const counts: Record<string, number> = {};
      await playInProcess(order, (report) => {
        result.seeds += 1;
        addCounts(counts, report.counts);
        if (report.violations.length > 0 && report.seed < (result.broken?.seed ?? Infinity))
          result.broken = report;
        options.onSeed?.(report, result.seeds);
      });
      addCounts(result.counts, counts);
      if (result.broken === null) options.journal?.write(order.from, order.count, counts);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return result;
}

function playInProcess(order: WorkerOrder, onReport: (report: SeedReport) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = order.from - 1;
    const child = fork(worker, [JSON.stringify(order)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
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
