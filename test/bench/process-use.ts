import { readdirSync, readFileSync } from 'node:fs';

/** What processes used since they began. */
export interface ProcessUse {
  cpuUs: number;
  rssBytes: number;
}

/** Linux counts 100 to a second for programs, whatever the kernel's own clock does. */
const ticksPerSecond = 100;
const pageBytes = 4096;

/**
 * One process as Linux describes it (proc_pid_stat(5)): in user and kernel mode, with what its ended and awaited children used.
 * @param text of `/proc/PID/stat`. The name of a program may hold spaces and parentheses.
 */
export function parseStat(text: string): ProcessUse & { groupId: number } {
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = fields.slice(11, 15).reduce((sum, some) => sum + some, 0);
  const [groupId, pages] = [fields[2]!, fields[21]!];
  if (![groupId, pages, ticks].every(Number.isInteger))
    throw new Error('That is not what /proc/PID/stat holds.');
  return { groupId, cpuUs: (ticks * 1_000_000) / ticksPerSecond, rssBytes: pages * pageBytes };
}

/** What a process group uses now. Linux only. */
export function useOfGroup(groupId: number): ProcessUse {
  const members = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))];
      } catch {
        // It ended between the two reads.
        return [];
      }
    })
    .filter((one) => one.groupId === groupId);
  const sum = (of: keyof ProcessUse) => members.reduce((total, one) => total + one[of], 0);
  return { cpuUs: sum('cpuUs'), rssBytes: sum('rssBytes') };
}
