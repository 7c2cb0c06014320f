import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const versions = { portkey: '1.15.2', litellm: '1.106.2' } as const;

const run = promisify(execFile);
const cache = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'image-generation-service',
  'bench',
);
const minutes = 60_000;

/** @returns the program that starts it. @throws in one sentence when npm can't install it. */
export async function installPortkey(): Promise<string> {
  const folder = join(cache, `portkey-${versions.portkey}`);
  await install(folder, 'Portkey', async (into) => {
    writeFileSync(join(into, 'package.json'), '{"private":true}\n');
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
    await run('npm', [...args, `@portkey-ai/gateway@${versions.portkey}`], {
      cwd: into,
      timeout: 5 * minutes,
    });
  });
  return join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
}

/** @returns the folder of its virtual environment's programs. @throws in one sentence when it can't be installed. */
export async function installLiteLlm(): Promise<string> {
  const python = ['python3', 'python'].find((name) => onPath(name));
  if (python === undefined) throw new Error('LiteLLM is left out: there is no python3 here.');
  const folder = join(cache, `litellm-${versions.litellm}`);
  // A virtual environment knows its own path, so it is made in its place.
  await install(
    folder,
    'LiteLLM',
    async (into) => {
      await run(python, ['-m', 'venv', into], { timeout: 2 * minutes });
      const pip = join(into, 'bin/pip');
      await run(pip, ['install', '--quiet', `litellm[proxy]==${versions.litellm}`], {
        timeout: 10 * minutes,
      });
    },
    { inPlace: true },
  );
  return join(folder, 'bin');
}

/** Once: the mark says that it was whole. */
async function install(
  folder: string,
  name: string,
  into: (folder: string) => Promise<void>,
  { inPlace = false } = {},
): Promise<void> {
  const mark = join(folder, '.installed');
  if (existsSync(mark)) return;
  process.stderr.write(`Installing ${name} into ${folder} ...\n`);
  const place = inPlace ? folder : `${folder}.new`;
  for (const path of [folder, place]) rmSync(path, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  try {
    await into(place);
  } catch (cause) {
    rmSync(place, { recursive: true, force: true });
    const lines = String((cause as { stderr?: string }).stderr || cause).split('\n');
    const said = lines.filter((line) => line.trim() !== '' && !line.includes('complete log')).at(-1);
    throw new Error(`${name} is left out: it could not be installed (${said}).`, { cause });
  }
  if (!inPlace) renameSync(place, folder);
  writeFileSync(mark, '');
}

function onPath(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}
