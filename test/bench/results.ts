import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import type { ColdStart } from './cold/cold-start.ts';
import type { CostFigures } from './cost.ts';
import type { Overhead } from './overhead/overhead.ts';
import { versions } from './overhead/peers.ts';
import type { TableUse } from './table-use.ts';

export interface Machine {
  measuredOn: string;
  commit: string;
  processor: string;
  cores: number;
  memoryGb: number;
  kernel: string;
  node: string;
  portkey: string;
  litellm: string;
}

/** What a run found; a part that was not asked for is absent. */
export interface Results {
  machine: Machine;
  overhead?: Overhead;
  cold?: ColdStart;
  dynamodb?: TableUse;
  cost?: CostFigures;
}

export function readMachine(now: Date): Machine {
  return {
    measuredOn: now.toISOString().slice(0, 10),
    commit: commit(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
    ...versions,
  };
}

function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] })
        .toString()
        .trim();
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short=10', 'HEAD')}${changed ? ', with changes' : ''}`;
  } catch {
    return 'unknown';
  }
}
