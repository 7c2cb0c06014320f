import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { emulatorPath } from '../support/python.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { inRepository } from '../support/repository.ts';

export const region = 'eu-west-1';
export const accountId = '123456789012';

/** With these keys a caller is the account's root. */
export const rootCredentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

/** Who calls, and where, as Python's SDK names it. */
export interface Credentials {
  aws_access_key_id: string;
  aws_secret_access_key: string;
  endpoint_url?: string;
}

/**
 * Calls an operation with AWS's Python SDK, which checks parameters against AWS's API models.
 * @param operation the SDK's name, such as `describe_table`.
 * @param credentials the account's own by default.
 * @throws Error with the message of the SDK or of the emulator.
 */
export type Ask = (
  service: string,
  operation: string,
  parameters?: object,
  credentials?: Credentials,
) => Promise<any>;

export type MiniStack = Awaited<ReturnType<typeof startMiniStack>>;

/**
 * Starts an empty MiniStack on a free port, which checks signatures and policies. It runs functions as processes, with its
 * own environment.
 * @param folder for its temporary files.
 */
export async function startMiniStack(environment: Record<string, string>, folder: string) {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const child = spawn(join(emulatorPath, 'ministack'), {
    env: {
      ...environment,
      // Functions run on the Node.js of this project.
      PATH: `${inRepository('node_modules/.bin')}:${process.env.PATH}`,
      NODE_OPTIONS: `--import=${new URL('lambda-streaming.ts', import.meta.url).href} --disable-warning=ExperimentalWarning`,
      // Lambda's Node.js has AWS's SDK beside it, and the CDK's own functions use it.
      NODE_PATH: inRepository('node_modules'),
      AUTH: 'true',
      // It would take a fixed port for devices.
      IOT_MTLS_ENABLED: 'false',
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      MINISTACK_HOST: '127.0.0.1',
      MINISTACK_ACCOUNT_ID: accountId,
      MINISTACK_REGION: region,
      // It must not find Docker: it would fetch images.
      DOCKER_HOST: 'unix:///nowhere',
      TMPDIR: folder,
      PYTHONUNBUFFERED: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which is ended with its functions.
    detached: true,
  });
  let log = '';
  child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;
  await until('MiniStack answers', async () => {
    if (child.exitCode !== null) throw new Error(`MiniStack ended with ${child.exitCode}: ${log}`);
    const answer = await fetch(`${url}/_ministack/health`).catch(() => null);
    return answer?.ok ?? false;
  });
  return {
    url,
    /** What it and its functions wrote. */
    log: () => log,
    close: () => stopGroup(child),
  };
}

/** Python answers one question after the other. */
export function startPython(environment: Record<string, string>): { ask: Ask; close(): Promise<void> } {
  const script = inRepository('test/emulated/ask.py');
  const child = spawn(join(emulatorPath, 'python'), [script], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const waiting: ((line: string) => void)[] = [];
  createInterface(child.stdout).on('line', (line) => waiting.shift()!(line));
  const ask: Ask = async (service, operation, parameters = {}, credentials) => {
    child.stdin.write(`${JSON.stringify([service, operation, parameters, credentials ?? {}])}\n`);
    const { value, error } = JSON.parse(await new Promise<string>((resolve) => waiting.push(resolve)));
    if (error) throw new Error(error);
    return value;
  };
  return { ask, close: () => stopGroup(child) };
}

/** Ends a process and all that it started. */
async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await exit;
}
