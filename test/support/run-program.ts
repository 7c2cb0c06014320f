import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';

/** How a program ended; a null code means that a signal ended it. */
export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Sends SIGINT as soon as this is on stdout. */
  interruptAt?: string;
}

/** Runs a program as an operator does, without a terminal, and with nothing of this machine's AWS set-up. */
export function runProgram(
  path: string,
  args: string[],
  { env = {}, cwd = tmpdir(), interruptAt }: RunOptions = {},
): Promise<Run> {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [path, ...args], {
    cwd,
    env: { PATH, AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run: Run = { code: null, stdout: '', stderr: '' };
  let interrupted = false;
  child.stdout.on('data', (chunk: Buffer) => {
    run.stdout += chunk.toString();
    if (interruptAt === undefined || interrupted || !run.stdout.includes(interruptAt)) return;
    interrupted = true;
    child.kill('SIGINT');
  });
  child.stderr.on('data', (chunk: Buffer) => (run.stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...run, code }));
  });
}
