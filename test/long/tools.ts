import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from '../support/chromium.ts';
import { emulatorPath, pythonPath } from '../support/python.ts';

/** Where `install.sh` puts the model server's environment: once for all clones, since PyTorch is a download of 3 GB. */
const modelServerFolder = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'image-generation-service/model-server',
);

/** The Python that has the model server's packages. */
export const modelServerPython = join(modelServerFolder, 'bin/python');

/** The Python that tests and builds the Python client. */
export const clientsPython = new URL('../../.venv-clients/bin/python', import.meta.url).pathname;

/** A simulator of IAM, which `install.sh` installs: https://github.com/cloud-copilot/iam-simulate. */
export const iamSimulatorPath = new URL(
  'judges/node_modules/@cloud-copilot/iam-simulate/dist/esm/index.js',
  import.meta.url,
).pathname;

/** What `npm run test:long` needs and this machine lacks. */
export const missingTools = [
  ...(chromiumPath ? [] : ['Chromium']),
  ...(spawnSync('exiftool', ['-ver']).status === 0 ? [] : ['ExifTool']),
  ...(pythonPath ? [] : ['the Python judges (test/long/requirements.txt)']),
  ...(emulatorPath ? [] : ['MiniStack (test/emulated/requirements.txt)']),
  ...(existsSync(iamSimulatorPath) ? [] : ['the simulator of IAM (test/long/judges)']),
  ...(existsSync(clientsPython)
    ? []
    : ["the Python client's packages (clients/python/requirements-dev.txt)"]),
  ...(existsSync(modelServerPython) ? [] : ["the model server's Python packages"]),
];
