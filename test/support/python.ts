import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from './repository.ts';

const programs = ['cfn-lint', 'python'];

/**
 * Where the Python programs that judge the template and the API are: the activated virtual environment, or `.venv` of the repository,
 * whichever has what `test/long/requirements.txt` names. Empty when none has.
 */
export const pythonPath =
  [process.env.VIRTUAL_ENV, inRepository('.venv')]
    .map((folder) => (folder ? join(folder, 'bin') : ''))
    .find((folder) => folder && programs.every((program) => existsSync(join(folder, program)))) ?? '';

const clientsPython = inRepository('.venv-clients/bin/python');

/** The Python that has what the Python client imports, and where that client is; null where either is missing. */
export const pythonClient =
  existsSync(clientsPython) && existsSync(inRepository('clients/python/src'))
    ? { python: clientsPython, env: { PYTHONPATH: inRepository('clients/python/src') } }
    : null;

const emulatorFolder = inRepository('.venv-emulator/bin');

/** Where MiniStack is, with what `test/emulated/requirements.txt` names; empty where it is not installed. */
export const emulatorPath = existsSync(join(emulatorFolder, 'ministack')) ? emulatorFolder : '';
