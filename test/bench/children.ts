import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Child {
  pid: number;
  /** Ends it and all that it started. */
  end(): Promise<void>;
  ended(): boolean;
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** Ctrl-C leaves neither processes nor folders behind. */
export function cleanUpOnSignals(): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => process.exit(code));
  }
  process.once('exit', cleanUp);
}

const stopping = new AbortController();
/** For programs that are waited for: they end when the bench does. */
export const stopSignal = stopping.signal;

export function cleanUp(): void {
  stopping.abort();
  for (const child of running) killGroup(child);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'image-generation-bench-'));
  folders.add(folder);
  return folder;
}

export interface ServerOptions {
  env: Record<string, string>;
  cwd: string;
  /** Its output, for when it does not start. A server's log is written as it would be: to a file. */
  logFile: string;
}

/** Starts a program in a process group of its own, with these variables and nothing of this process's. */
export function startChild(command: string, args: string[], { env, cwd, logFile }: ServerOptions): Child {
  const log = openSync(logFile, 'w');
  const child = spawn(command, args, { env, cwd, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  running.add(child);
  let isEnded = false;
  const exited = new Promise<void>((resolve) => {
    const done = () => {
      isEnded = true;
      running.delete(child);
      resolve();
    };
    child.once('exit', done);
    child.once('error', done);
  });
  return {
    pid: child.pid ?? 0,
    ended: () => isEnded,
    async end() {
      killGroup(child);
      await exited;
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** Asks until a server answers anything. @throws with the end of its log when it ended or took too long. */
export async function answering(url: string, child: Child, logFile: string): Promise<void> {
  for (const endMs = Date.now() + 120_000; Date.now() < endMs && !child.ended(); await sleep(100)) {
    const answered = await fetch(url, { signal: AbortSignal.timeout(2000) }).then(
      async (answer) => (await answer.body?.cancel(), true),
      () => false,
    );
    if (answered) return;
  }
  throw new Error(`${url} did not answer. Its log ends:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
}
