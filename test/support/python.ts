import { existsSync } from 'node:fs';
import { join } from 'node:path';

const programs = ['cfn-lint', 'python'];
const repository = new URL('../..', import.meta.url).pathname;

/**
 * Where the Python programs that judge the template are: the activated virtual environment, or `.venv` of the repository,
 * whichever has what `test/long/requirements.txt` names. Empty when none has.
 */
export const pythonPath =
  [process.env.VIRTUAL_ENV, join(repository, '.venv')]
    .map((folder) => (folder ? join(folder, 'bin') : ''))
    .find((folder) => folder && programs.every((program) => existsSync(join(folder, program)))) ?? '';

const clientsPython = join(repository, '.venv-clients', 'bin', 'python');

/** The Python that has what the Python client imports, and where that client is; null where either is missing. */
export const pythonClient =
  existsSync(clientsPython) && existsSync(join(repository, 'clients/python/src'))
    ? { python: clientsPython, env: { PYTHONPATH: join(repository, 'clients/python/src') } }
    : null;

const openAiFolder = join(repository, '.venv-openai', 'bin');

/** Where OpenAI's SDK for Python and LiteLLM's proxy are, as `test/long/openai/requirements.txt` names; empty where they are not. */
export const openAiPythonPath = existsSync(join(openAiFolder, 'litellm')) ? openAiFolder : '';

const emulatorFolder = join(repository, '.venv-emulator', 'bin');

/** Where MiniStack is, with what `test/emulated/requirements.txt` names; empty where it is not installed. */
export const emulatorPath = existsSync(join(emulatorFolder, 'ministack')) ? emulatorFolder : '';
