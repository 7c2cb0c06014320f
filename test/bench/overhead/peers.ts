import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
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
  await install('Portkey', folder, async () => {
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
    const options = { cwd: folder, timeout: 5 * minutes };
    await run('npm', [...args, `@portkey-ai/gateway@${versions.portkey}`], options);
  });
  return join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
}

/** @returns the folder of its virtual environment's programs. @throws in one sentence when it can't be installed. */
export async function installLiteLlm(): Promise<string> {
  const folder = join(cache, `litellm-${versions.litellm}`);
  await install('LiteLLM', folder, async () => {
    await run('python3', ['-m', 'venv', folder], { timeout: 2 * minutes });
    const args = ['install', '--quiet', `litellm[proxy]==${versions.litellm}`];
    await run(join(folder, 'bin/pip'), args, { timeout: 10 * minutes });
  });
  return join(folder, 'bin');
}

/** Once: the mark says that it was whole. */
async function install(name: string, folder: string, make: () => Promise<void>): Promise<void> {
  const mark = join(folder, '.installed');
  if (existsSync(mark)) return;
  process.stderr.write(`Installing ${name} into ${folder} ...\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    await make();
  } catch (cause) {
    const lines = String((cause as { stderr?: string }).stderr || cause).split('\n');
    const said = lines.filter((line) => line.trim() !== '' && !line.includes('complete log')).at(-1);
    throw new Error(`${name} is left out: it could not be installed (${said}).`, { cause });
  }
  writeFileSync(mark, '');
}
