import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alsoCleanUp } from '../children.ts';

/** Lambda gives a function one processor at this much memory, and of less memory its share (AWS Lambda Developer Guide). */
export const memoryMbOfOneCpu = 1769;

/** Short, as Lambda's are: with the kernel's 100 ms a small quota would be spent at once and then waited for. */
const periodUs = 20_000;
/** Less than this the kernel refuses. */
const leastQuotaUs = 1000;

export function quotaUs(memoryMb: number): number {
  return Math.max(leastQuotaUs, Math.round((periodUs * memoryMb) / memoryMbOfOneCpu));
}

export interface CpuGroup {
  /** A shell command in front of another: what it starts has the quota. */
  prefix: string;
  remove(): void;
}

/**
 * A control group with as much of a processor as a Lambda function of this memory.
 * @throws in one sentence where control groups can't be written.
 */
export function makeCpuGroup(memoryMb: number): CpuGroup {
  const name = `image-generation-bench-${process.pid}-${memoryMb}`;
  const second = '/sys/fs/cgroup/cgroup.controllers';
  const isSecond = existsSync(second) && readFileSync(second, 'utf8').includes('cpu');
  const folder = join(isSecond ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu', name);
  try {
    mkdirSync(folder);
    if (isSecond) {
      writeFileSync(join(folder, 'cpu.max'), `${quotaUs(memoryMb)} ${periodUs}`);
    } else {
      writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(quotaUs(memoryMb)));
    }
  } catch (cause) {
    removeGroup(folder);
    throw new Error(
      `The runs with less processor are left out: control groups can't be written here (${(cause as Error).message}).`,
      { cause },
    );
  }
  const remove = () => removeGroup(folder);
  alsoCleanUp(remove);
  return { prefix: `echo $$ > '${folder}/cgroup.procs' && exec`, remove };
}

/** A process that was just ended is in its group a little longer. */
function removeGroup(folder: string): void {
  for (let attempt = 0; attempt < 50 && existsSync(folder); attempt++) {
    try {
      rmdirSync(folder);
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}
