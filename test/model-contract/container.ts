import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelRequest } from '../../shared/model/contract.ts';
import { freePort } from '../support/free-port.ts';
import { inRepository, repository } from '../support/repository.ts';
import { until } from '../support/until.ts';
import { plainIdentity } from './sample-request.ts';

export interface RunningContainer {
  url: string;
  /** Everything that it wrote to its two streams. */
  log(): string;
  /** Ends it as SageMaker does: politely, and after a while by force. */
  close(): Promise<void>;
}

/** A model container that must keep the contract, and where it may differ from another. */
export interface ModelContainer {
  name: string;
  start(): Promise<RunningContainer>;
  /** What a request must hold for a picture that is ready within two seconds. */
  quick: Partial<ModelRequest>;
  /** What it must hold for one that takes seconds, its first step far less than a tenth of that. */
  slow: Partial<ModelRequest>;
  /** How many pictures it makes at once. */
  threads: number;
  /** Without weights that could be adapted, an adapter is not even fetched. */
  loadsAdapters: boolean;
}

interface ContainerCommand {
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
 * @param commandFor gets the port that it must listen on.
 * @throws when it ends before that, with what it wrote.
 */
async function startContainer(commandFor: (port: number) => ContainerCommand): Promise<RunningContainer> {
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
    child.once('error', (error) => (log += error.message));
    child.once('close', () => {
      ended = true;
      resolve();
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
  const answersPing = (): Promise<boolean> =>
    fetch(`${url}/ping`).then(
      ({ status }) => status === 200,
      () => ended,
    );
  try {
    await until('the container answers /ping', answersPing, startMs, 100);
    if (ended) throw new Error('the container ended before it answered /ping');
  } catch (error) {
    await close();
    throw new Error(log, { cause: error });
  }
  return { url, log: () => log, close };
}

const painter: ModelContainer = {
  name: 'the painter',
  start: () =>
    startContainer((port) => ({
      file: process.execPath,
      args: ['painter/src/main.ts', '--port', String(port)],
      folder: repository,
    })),
  quick: { identity: { ...plainIdentity, settings: { style: 'harbor' } } },
  slow: { width: 2048, height: 2048, identity: { ...plainIdentity, settings: { style: 'citrine' } } },
  threads: 2,
  loadsAdapters: false,
};

/**
 * The Python that has the packages of `inference/`, and the folder of the model that it is to serve: one that is small
 * enough for this machine.
 */
const { MODEL_SERVER_PYTHON: python, MODEL_SERVER_MODEL_DIR: modelFolder } = process.env;

const modelServer = (file: string, MODEL_DIR: string): ModelContainer => ({
  name: 'the model server',
  start: () =>
    startContainer(() => ({
      file,
      args: ['-m', 'model_server'],
      folder: inRepository('inference'),
      // Small, and on one core: the tests have the other.
      environment: { HOST: '127.0.0.1', MODEL_DIR, OMP_NUM_THREADS: '1' },
    })),
  quick: {},
  slow: { numInferenceSteps: 50, width: 768, height: 768 },
  threads: 1,
  loadsAdapters: true,
});

/** What every case of this folder runs against. */
export const container = python && modelFolder ? modelServer(python, modelFolder) : painter;
