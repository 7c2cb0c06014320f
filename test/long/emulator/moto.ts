import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pythonPath } from '../../support/python.ts';

export const region = 'eu-west-1';
/** moto's only account. */
export const accountId = '123456789012';

export interface Moto {
  url: string;
  /** Variables that make an AWS SDK use moto only. */
  environment: Record<string, string>;
  /**
   * Calls an operation with AWS's Python SDK, which checks parameters against AWS's API models.
   * @param operation the SDK's name, such as `describe_table`.
   * @throws Error with the message of the SDK or of moto.
   */
  ask(service: string, operation: string, parameters?: object): Promise<any>;
  close(): Promise<void>;
}

/** Starts an empty moto on a free port. */
export async function startMoto(): Promise<Moto> {
  const server = spawn(join(pythonPath, 'moto_server'), ['-H', '127.0.0.1', '-p', '0'], {
    // moto must not find Docker: it would fetch images and run functions.
    env: { DOCKER_HOST: 'unix:///nowhere', PYTHONUNBUFFERED: '1' },
  });
  let printed = '';
  const url = await new Promise<string>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`moto ended with ${code}: ${printed}`)));
    server.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    server.stderr.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const address = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(printed)?.[1];
      if (address) resolve(address);
    });
  });
  const environment = {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: 'AKIDTEST',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const python = startPython(environment);
  return {
    url,
    environment,
    ask: python.ask,
    close: async () => void (await Promise.all([stop(python.child), stop(server)])),
  };
}

/** Python answers one question after the other. */
function startPython(environment: Record<string, string>) {
  const script = new URL('ask.py', import.meta.url).pathname;
  const child = spawn(join(pythonPath, 'python'), [script], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting: ((line: string) => void)[] = [];
  createInterface(child.stdout).on('line', (line) => waiting.shift()!(line));
  const ask: Moto['ask'] = async (service, operation, parameters = {}) => {
    child.stdin.write(`${JSON.stringify([service, operation, parameters])}\n`);
    const { value, error } = JSON.parse(await new Promise<string>((resolve) => waiting.push(resolve)));
    if (error) throw new Error(error);
    return value;
  };
  return { child, ask };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
