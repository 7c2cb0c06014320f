import { readdirSync, readFileSync } from 'node:fs';

/** One process as Linux tells of it (proc_pid_stat(5)). Times are in clock ticks. */
export interface ProcessStat {
  pid: number;
  parentPid: number;
  /** In user and kernel mode, its own; with what its ended and awaited children used. */
  ticks: number;
  rssPages: number;
}

/** Linux counts 100 to a second for programs, whatever the kernel's own clock does. */
const ticksPerSecond = 100;
const pageBytes = 4096;

/** @param text of `/proc/PID/stat`. The name of a program may hold spaces and parentheses. */
export function parseStat(text: string): ProcessStat {
  const end = text.lastIndexOf(')');
  const fields = text
    .slice(end + 2)
    .split(' ')
    .map(Number);
  const [utime, stime, cutime, cstime] = fields.slice(11, 15);
  const pid = Number.parseInt(text, 10);
  const [parentPid, rssPages] = [fields[1]!, fields[21]!];
  const ticks = utime! + stime! + cutime! + cstime!;
  if (end === -1 || ![pid, parentPid, ticks, rssPages].every(Number.isInteger)) {
    throw new Error('That is not what /proc/PID/stat holds.');
  }
  return { pid, parentPid, ticks, rssPages };
}

/** A process and all that descend from it. */
export function treeOf(rootPid: number, all: readonly ProcessStat[]): ProcessStat[] {
  const members = all.filter(({ pid }) => pid === rootPid);
  for (const { pid } of members) members.push(...all.filter(({ parentPid }) => parentPid === pid));
  return members;
}

export interface TreeUse {
  /** Since the processes began. */
  cpuUs: number;
  rssBytes: number;
}

export function useOf(members: readonly ProcessStat[]): TreeUse {
  const ticks = members.reduce((sum, member) => sum + member.ticks, 0);
  const pages = members.reduce((sum, member) => sum + member.rssPages, 0);
  return { cpuUs: (ticks * 1_000_000) / ticksPerSecond, rssBytes: pages * pageBytes };
}

/** What a process and its descendants use now. Linux only. */
export function readTree(rootPid: number): TreeUse {
  return useOf(treeOf(rootPid, readAll()));
}

function readAll(): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))];
      } catch {
        // It ended between the two reads.
        return [];
      }
    });
}
