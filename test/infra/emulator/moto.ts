import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pythonPath } from '../../support/python.ts';

export const region = 'eu-west-1';
/** The one that moto gives to everybody. */
export const accountId = '123456789012';

export interface Moto {
  url: string;
  /** What points any AWS SDK at it, and nowhere else. */
  environment: Record<string, string>;
  /**
   * An operation of AWS by its Python SDK, which comes with moto and checks parameters against AWS's own API models.
   * @param operation as that SDK names it: `create_user_pool`.
   * @throws Error with the SDK's or the emulator's sentence.
   */
  ask(service: string, operation: string, parameters?: object): Promise<any>;
  /** What it printed: faults of its own are told there. */
  printed(): string;
  close(): Promise<void>;
}

/** Starts moto on a free port, with nothing in it. */
export async function startMoto(): Promise<Moto> {
  const server = spawn(join(pythonPath, 'moto_server'), ['-H', '127.0.0.1', '-p', '0'], {
    // It runs functions in Docker, where there is one, and would fetch their images.
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
    printed: () => printed,
    close: async () => void (await Promise.all([stop(python.child), stop(server)])),
  };
}

function startPython(environment: Record<string, string>) {
  const script = new URL('ask.py', import.meta.url).pathname;
  const child = spawn(join(pythonPath, 'python'), [script], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const askNow = async (question: unknown) => {
    child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value: line } = await answers.next();
    if (line === undefined) throw new Error('Python ended.');
    const { value, error } = JSON.parse(line) as { value?: unknown; error?: string };
    if (error) throw new Error(error);
    return value;
  };
  const ask: Moto['ask'] = (service, operation, parameters = {}) => {
    const answer = last.then(() => askNow([service, operation, parameters]));
    last = answer.catch(() => undefined);
    return answer;
  };
  return { child, ask };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
