import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a program on this terminal. Signals are passed on to it; this process waits for its end.
 * @returns its exit code; 128 plus the signal's number when a signal ended it, as in shells.
 */
export function runOnTerminal(command: readonly string[], cwd: string): Promise<number> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { cwd, stdio: 'inherit' });
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of passedOn) process.on(signal, pass);
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  }).finally(() => {
    for (const signal of passedOn) process.off(signal, pass);
  });
}
