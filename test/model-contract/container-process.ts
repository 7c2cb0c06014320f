import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import { freePort } from '../support/free-port.ts';

export interface RunningContainer {
  url: string;
  /** Everything that it wrote to its two streams. */
  log(): string;
  /** Ends it as SageMaker does: politely, and after a while by force. */
  close(): Promise<void>;
}

export interface ContainerCommand {
  file: string;
  args: string[];
  /** The folder that it runs in. */
  folder: string;
  /** All that it gets of an environment, apart from the search path, the home folder, `PORT` and `TMPDIR`. */
  environment?: Record<string, string>;
}

// Generous, because the machine may be busy with other things.
const startMs = 600_000;
const endMs = 60_000;

/**
 * Runs a model container as a process of its own and waits until it answers /ping with 200.
 * @param commandFor is told the port that it must listen on.
 * @throws when it ends before that, with what it wrote.
 */
export async function startContainerProcess(
  commandFor: (port: number) => ContainerCommand,
): Promise<RunningContainer> {
  const [port, temporary] = await Promise.all([freePort(), mkdtemp(join(tmpdir(), 'model-container-'))]);
  const { file, args, folder, environment } = commandFor(port);
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(file, args, {
    cwd: folder,
    // No credentials: a container has none.
    env: { PATH, HOME, PORT: String(port), TMPDIR: temporary, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  let ended = false;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (log += piece));
  const end = new Promise<void>((resolve) => {
    const onEnd = (): void => {
      ended = true;
      resolve();
    };
    child.once('close', onEnd);
    child.once('error', (error) => {
      log += error.message;
      onEnd();
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const close = async (): Promise<void> => {
    const force = setTimeout(() => child.kill('SIGKILL'), endMs);
    child.kill('SIGTERM');
    await end;
    clearTimeout(force);
    await rm(temporary, { recursive: true });
  };
  try {
    await until('the container answers /ping', async () => ended || (await answersPing(url)), startMs, 100);
    if (ended) throw new Error('the container ended before it answered /ping');
  } catch (error) {
    await close();
    throw new Error(log, { cause: error });
  }
  return { url, log: () => log, close };
}

async function answersPing(url: string): Promise<boolean> {
  return fetch(`${url}/ping`).then(
    ({ status }) => status === 200,
    () => false,
  );
}
