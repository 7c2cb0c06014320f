import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

export interface BuildOptions {
  /** `dashboard/`; its build is `dist` in it. */
  folder: string;
  /** Stops a running build. */
  signal: AbortSignal;
}

/** A build that failed. */
export class BuildError extends Error {
  /** What the build tool said last. */
  readonly output: string;

  constructor(output: string) {
    super('The dashboard could not be built.');
    this.output = output;
  }
}

/** What a build is made of, relative to the dashboard's folder. */
const inputs = [
  'src',
  'public',
  'index.html',
  'vite.config.ts',
  'scalar-build.ts',
  'client-packages.ts',
  'api-pages.ts',
  'tsconfig.json',
  'package.json',
  ...['src', 'build.ts', 'generate-types.ts', 'package.json', 'README.md'].map(
    (name) => `../clients/typescript/${name}`,
  ),
  ...['src', 'pyproject.toml', 'README.md'].map((name) => `../clients/python/${name}`),
  '../docs/openapi.json',
  '../docs/errors.md',
  '../docs/api',
  // The files of the service that are code here: of all others it takes types.
  '../shared/base/search.ts',
  '../shared/openapi/error-advice.ts',
];
/** What lies among these and is made of them: the client's types, and what Python compiled. */
const made = /[/\\](openapi\.ts|__pycache__[/\\].*)$/;
const buildLimitMs = 180_000;

/**
 * Makes `dist` what the sources say. Several services may start at once: one builds, the others wait for it.
 * @returns whether it had to be built.
 * @throws BuildError, and the signal's reason.
 */
export async function ensureBuilt({ folder, signal }: BuildOptions): Promise<boolean> {
  if (isCurrent(folder)) return false;
  const work = join(folder, '.local');
  mkdirSync(work, { recursive: true });
  const release = await takeLock(join(work, 'build.lock'), signal);
  try {
    // The process that held the lock has built it.
    if (isCurrent(folder)) return false;
    await build(folder, join(work, `build-${process.pid}`), signal);
    return true;
  } finally {
    release();
  }
}

/** SQLite's code for a lock that another connection holds: sqlite.org/rescode.html#busy. */
const busy = 5;

/**
 * Waits until this process holds the exclusive lock of an empty SQLite database at `path`. The operating system
 * releases it when the process ends, even if it is killed. The file itself stays.
 * @returns a function that gives the lock back.
 * @throws the signal's reason.
 */
async function takeLock(path: string, signal: AbortSignal): Promise<() => void> {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    while (!isTaken(database)) await pause(200, undefined, { signal });
  } catch (error) {
    database.close();
    throw error;
  }
  return () => database.close();
}

function isTaken(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false;
    throw error;
  }
}

function isCurrent(folder: string): boolean {
  try {
    return readFileSync(join(folder, 'dist', 'build-id'), 'utf8') === buildId(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** A hash of everything that goes into a build, names and contents. */
export function buildId(folder: string): string {
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const path of filesBelow(join(folder, input))) {
      const content = readFileSync(path);
      hash.update(`${relative(folder, path)}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex');
}

function filesBelow(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true, recursive: true });
    const files = entries.filter((entry) => entry.isFile());
    const paths = files.map((entry) => join(entry.parentPath, entry.name));
    return paths.filter((file) => !made.test(file)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [path];
    throw error;
  }
}

async function build(folder: string, target: string, signal: AbortSignal): Promise<void> {
  if (/[#?]/.test(folder)) {
    throw new BuildError('Vite builds in no folder whose path has "#" or "?": rename the folder.');
  }
  const id = buildId(folder);
  // Only the holder of the lock builds: other folders were left by builds that were killed.
  for (const left of readdirSync(join(target, '..')).filter((name) => name.startsWith('build-'))) {
    rmSync(join(target, '..', left), { recursive: true, force: true });
  }
  try {
    await runVite(folder, target, signal);
    writeFileSync(join(target, 'build-id'), id);
    const dist = join(folder, 'dist');
    rmSync(dist, { recursive: true, force: true });
    renameSync(target, dist);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

function runVite(folder: string, target: string, signal: AbortSignal): Promise<void> {
  const packageFile = createRequire(join(folder, 'package.json')).resolve('vite/package.json');
  const script = join(packageFile, '..', 'bin', 'vite.js');
  const child = spawn(process.execPath, [script, 'build', '--outDir', target, '--emptyOutDir'], {
    cwd: folder,
    // Not the environment of this process: a test runner's NODE_ENV would make it a development build.
    env: { NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    timeout: buildLimitMs,
  });
  const killWithUs = (): void => void child.kill();
  process.once('exit', killWithUs);
  return ended(child).finally(() => process.removeListener('exit', killWithUs));
}

async function ended(child: ChildProcess): Promise<void> {
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = `${output}${chunk.toString()}`.slice(-4000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new BuildError(output);
}
