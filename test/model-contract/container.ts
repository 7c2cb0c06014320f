import type { ModelRequest } from '../../shared/model/contract.ts';
import { startContainerProcess } from './container-process.ts';
import type { RunningContainer } from './container-process.ts';
import { plainIdentity } from './sample-request.ts';
import { inRepository, repository } from '../support/repository.ts';

/** A model container that must keep the contract, and where it may differ from another. */
export interface ModelContainer {
  name: string;
  start(): Promise<RunningContainer>;
  /** What a request must hold for a picture that is ready within two seconds. */
  quick: Partial<ModelRequest>;
  /** What it must hold for one that takes seconds, its first step far less than a tenth of that. */
  slow: Partial<ModelRequest>;
  /** How many pictures it paints at once. */
  threads: number;
  /** Without weights that could be adapted, an adapter is not even fetched. */
  loadsAdapters: boolean;
}

const painter: ModelContainer = {
  name: 'the painter',
  start: () =>
    startContainerProcess((port) => ({
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
    startContainerProcess(() => ({
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
