import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from './repository.ts';

const programs = ['cfn-lint', 'python'];

/**
 * Where the Python programs that judge the template are: the activated virtual environment, or `.venv` of the repository,
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

const openAiFolder = inRepository('.venv-openai/bin');

/** Where OpenAI's SDK for Python and LiteLLM's proxy are, as `test/long/openai/requirements.txt` names; empty where they are not. */
export const openAiPythonPath = existsSync(join(openAiFolder, 'litellm')) ? openAiFolder : '';

const emulatorFolder = inRepository('.venv-emulator/bin');

/** Where MiniStack is, with what `test/emulated/requirements.txt` names; empty where it is not installed. */
export const emulatorPath = existsSync(join(emulatorFolder, 'ministack')) ? emulatorFolder : '';
