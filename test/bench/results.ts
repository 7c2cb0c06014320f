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

const describe = ['describe', '--always', '--abbrev=10', '--exclude=*', '--dirty=, with changes'];

export function readMachine(now: Date): Machine {
  return {
    measuredOn: now.toISOString().slice(0, 10),
    commit: execFileSync('git', describe, { encoding: 'utf8' }).trim(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
    ...versions,
  };
}
