import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  modelStackNameOf,
  networkStackNameOf,
  readConfiguration,
  stackNameOf,
} from '../../lib/configuration.ts';
import { configurations, type ConfigurationName } from './configurations.ts';
import type { Template } from './policies.ts';
import { inRepository, repository } from './repository.ts';

const cache = inRepository('node_modules/.cache/stack-templates');
const program = inRepository('test/support/synthesize-all.ts');
/** Everything that decides what is synthesized. */
const sources = [
  '{lib,shared,functions}/**/*.ts',
  'test/support/{configurations,synthesize-all}.ts',
  'cdk.json',
  'package-lock.json',
];

/** The service's stack of a configuration, from the cache of this state of the sources. */
export function templateOf(name: ConfigurationName): Template {
  return read(name, stackNameOf(readConfiguration(configurations[name], name)));
}

/** The model's stack. @throws Error if the configuration has none. */
export function modelTemplateOf(name: ConfigurationName): Template {
  return read(name, modelStackNameOf(readConfiguration(configurations[name], name))!);
}

/** The stack of the model's network. */
export function networkTemplateOf(name: ConfigurationName): Template {
  return read(name, networkStackNameOf(readConfiguration(configurations[name], name))!);
}

function read(name: ConfigurationName, stackName: string): Template {
  return JSON.parse(readFileSync(join(assemblyOf(name), `${stackName}.template.json`), 'utf8'));
}

/** The templates of all stacks of a configuration. */
export function templatePathsOf(name: ConfigurationName): string[] {
  const folder = assemblyOf(name);
  const files = readdirSync(folder).filter((file) => file.endsWith('.template.json'));
  return files.map((file) => join(folder, file));
}

/** The folder of a configuration's cloud assembly: the templates and the assets. */
export function assemblyOf(name: ConfigurationName): string {
  const folder = join(cache, sourcesHash());
  const lock = `${folder}.lock`;
  while (!existsSync(folder)) {
    if (takeLock(lock)) synthesizeInto(folder, lock);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  return join(folder, name);
}

let knownHash: string | null = null;

function sourcesHash(): string {
  if (knownHash !== null) return knownHash;
  const hash = createHash('sha256').update(process.version);
  for (const path of globSync(sources, { cwd: repository }).toSorted()) {
    hash.update(`${path}\0`).update(readFileSync(inRepository(path)));
  }
  return (knownHash = hash.digest('hex').slice(0, 16));
}

/** One process synthesizes, others wait. The lock of a process that died does not count. */
function takeLock(lock: string): boolean {
  mkdirSync(cache, { recursive: true });
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (existsSync(lock) && !isRunning(Number(readFileSync(lock, 'utf8')))) rmSync(lock, { force: true });
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function synthesizeInto(folder: string, lock: string): void {
  for (const name of readdirSync(cache)) {
    if (!folder.startsWith(join(cache, name.slice(0, 16)))) rmSync(join(cache, name), { recursive: true });
  }
  const temporary = mkdtempSync(`${folder}-`);
  try {
    if (existsSync(folder)) return;
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, temporary], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`The synthesis failed:\n${stdout}${stderr}`);
    renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    rmSync(lock, { force: true });
  }
}
