import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import type { StubFixture } from './fixture.ts';

/** A program of this folder that listens on a port. */
export interface Program {
  args: (port: string) => string[];
  env: Record<string, string>;
  folder: string;
}

export interface Server {
  url: string;
  /** Of its process and all that it started. */
  groupId: number;
  close(): Promise<void>;
}

const here = import.meta.dirname;
const running = new Set<ChildProcess>();
const folders = new Set<string>();
const stopping = new AbortController();
/** For programs that are waited for: they end when the bench does. */
export const stopSignal = stopping.signal;

/** Ctrl-C leaves neither processes nor folders behind. */
export function cleanUpAtExit(): void {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  process.once('exit', () => {
    stopping.abort();
    for (const child of running) killGroup(child);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'image-generation-bench-'));
  folders.add(folder);
  return folder;
}

/**
 * Starts a server on a free port, in a process group of its own and with these variables alone. Its log is written as it would
 * be: to a file.
 * @throws with the end of its log when it does not answer
 */
export async function startServer({ args, env, folder }: Program): Promise<Server> {
  const port = await freePort();
  const [file, ...rest] = args(String(port));
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(folder, 'server.log');
  const log = openSync(logFile, 'w');
  const stdio = ['ignore', log, log] as const;
  const child = spawn(process.execPath, [join(here, file!), ...rest], {
    env,
    cwd: folder,
    detached: true,
    stdio: [...stdio],
  });
  closeSync(log);
  running.add(child);
  const exited = once(child, 'exit').finally(() => running.delete(child));
  const answers = () =>
    fetch(url, { signal: AbortSignal.timeout(2000) }).then(
      (answer) => answer.text().then(() => true),
      () => child.exitCode !== null,
    );
  await Promise.race([exited, until('the server answers', answers, 120_000, 100)]);
  if (child.exitCode !== null)
    throw new Error(`${file} ended. Its log ends:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
  return {
    url,
    groupId: child.pid!,
    async close() {
      killGroup(child);
      await exited;
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** DynamoDB, S3 and the model, all answering at once. */
export function startStub(fixture: StubFixture): Promise<Server> {
  const folder = temporaryFolder();
  const file = join(folder, 'fixture.json');
  writeFileSync(file, JSON.stringify(fixture));
  return startServer({ args: (port) => ['stub.ts', port, file], env: {}, folder });
}
