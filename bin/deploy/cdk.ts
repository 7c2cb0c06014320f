import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { signals } from '../common/command-line.ts';
import { Failure } from '../common/failure.ts';
import type { Outputs } from './next-steps.ts';

export interface CdkDeployment {
  cdk: readonly string[];
  /** The repository, where the CDK runs. */
  root: string;
  /** The stacks to deploy. The CDK orders them by what depends on what, and skips what did not change. */
  stacks: string[];
  options: string[];
}

export interface CdkResult {
  /** 0 if all stacks are deployed. */
  exitCode: number;
  /** By the stacks' names. */
  outputs: Record<string, Outputs>;
}

/** Runs `cdk deploy` on this terminal. @throws Failure when it leaves no outputs. */
export async function deployStacks({ cdk, root, stacks, options }: CdkDeployment): Promise<CdkResult> {
  const folder = mkdtempSync(join(tmpdir(), 'image-generation-deploy-'));
  try {
    const outputsFile = join(folder, 'outputs.json');
    const command = [...cdk, 'deploy', ...stacks, '--outputs-file', outputsFile, ...options];
    const exitCode = await runOnTerminal(command, root);
    return { exitCode, outputs: exitCode === 0 ? readOutputs(outputsFile) : {} };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readOutputs(path: string): Record<string, Outputs> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, Outputs>;
  } catch (cause) {
    throw new Failure('The CDK left no outputs: see them in the CloudFormation console.', 1, { cause });
  }
}

/**
 * Runs a program on this terminal. Signals are passed on to it; this process waits for its end.
 * @returns its exit code; 128 plus the signal's number when a signal ended it, as in shells.
 */
export function runOnTerminal(command: readonly string[], cwd: string): Promise<number> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { cwd, stdio: 'inherit' });
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of signals) process.on(signal, pass);
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  }).finally(() => {
    for (const signal of signals) process.off(signal, pass);
  });
}
