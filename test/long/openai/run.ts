import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { pythonPath } from '../../support/python.ts';
import type { Case, Outcome } from './cases.ts';

const here = (name: string) => join(import.meta.dirname, name);

const commands = {
  JavaScript: [process.execPath, here('sdk.mjs')],
  Python: [join(pythonPath, 'python'), here('sdk.py')],
} as const;
export type Sdk = keyof typeof commands;

/** Has an SDK do all of it, one after another, in a process of its own. */
export async function runSdk(sdk: Sdk, cases: Case[]): Promise<Record<string, Outcome>> {
  return JSON.parse(await outputOf(commands[sdk], cases)) as Record<string, Outcome>;
}

/** What is wrong with answers, by the schemas of OpenAI's published document that they should have. */
export async function faultsOf(answers: (readonly [schema: string, answer: unknown])[]): Promise<string[]> {
  return JSON.parse(await outputOf([commands.Python[0], here('schema.py')], answers)) as string[];
}

/** What OpenAI's SDK for Java makes of our answers: see java/Judge.java. */
export function runJava(baseUrl: string, key: string): Promise<string> {
  return outputOf(['java', '-cp', here('java/libraries/*'), here('java/Judge.java'), baseUrl, key], null);
}

async function outputOf([command, ...args]: readonly string[], input: unknown): Promise<string> {
  const child = spawn(command!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(input));
  return text(child.stdout);
}

const samples = {
  js: { command: process.execPath, args: ['--input-type=module'], cwd: here('../judges') },
  python: { command: join(pythonPath, 'python'), args: ['-'], cwd: null },
} as const;

/**
 * Runs a sample of the documentation, as it is shown.
 * @param folder with the files that it opens
 * @returns what it printed, its errors too.
 */
export async function runSample(
  language: keyof typeof samples,
  sample: string,
  env: Record<string, string>,
  folder: string,
): Promise<string> {
  const { command, args, cwd } = samples[language];
  const child = spawn(command, args, { cwd: cwd ?? folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(sample);
  const [printed, failed] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return (printed + failed).trim();
}
