import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '../../support/until.ts';

/**
 * Stands in for Vite: it copies the page, the public files and the sources. It writes down each build's process, and
 * waits while there is a file `hold-start` or `hold-written`. (What the real one makes is tested in a browser.)
 */
const vite = `
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
const waitWhile = async (name) => {
  while (existsSync('../' + name)) await pause(20);
};
appendFileSync('../builds', process.pid + ' ');
await waitWhile('hold-start');
if (readFileSync('src/main.js', 'utf8').includes('missing.js')) throw new Error('missing.js is missing');
const target = process.argv[process.argv.indexOf('--outDir') + 1];
mkdirSync(target);
cpSync('public', target, { recursive: true });
cpSync('src', target + '/assets', { recursive: true });
cpSync('index.html', target + '/index.html');
await waitWhile('hold-written');`;

const beside: Record<string, string> = {
  'dashboard/node_modules/vite/package.json': '{ "type": "module" }',
  'dashboard/node_modules/vite/bin/vite.js': vite,
  'dashboard/secret.txt': 'secret',
};

/** Everything that a build is made of. */
export const sources: Record<string, string> = {
  'dashboard/package.json': '{ "type": "module" }',
  'dashboard/index.html': '<!doctype html><title>The app</title>',
  'dashboard/src/main.js': "console.log('one');",
  'dashboard/src/deeper/part.js': "console.log('part');",
  ...empty(
    'dashboard',
    'public/robots.txt tsconfig.json vite.config.ts scalar-build.ts client-packages.ts api-pages.ts',
  ),
  ...empty('clients/typescript', 'src/index.ts build.ts generate-types.ts package.json README.md'),
  ...empty('clients/python', 'src/a.py pyproject.toml README.md'),
  ...empty('docs', 'openapi.json errors.md api/README.md'),
  ...empty('shared', 'base/search.ts openapi/error-advice.ts'),
};

function empty(folder: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [`${folder}/${name}`, '']));
}

export interface Project {
  root: string;
  /** The dashboard's folder in it. */
  folder: string;
  /** Writes a file below the root. */
  write(path: string, content: string): void;
  remove(path: string): void;
  /** The processes of all builds so far, those that ended as well. */
  builds(): number[];
  /** Waits until no build runs and removes everything. */
  clear(): Promise<void>;
}

/** A dashboard that is built within milliseconds, in a folder of its own, whose path has what paths seldom have. */
export function createProject(more: Record<string, string> = {}): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "the dashboard's ü %20 [1]-")));
  const project: Project = {
    root,
    folder: join(root, 'dashboard'),
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    remove: (path) => rmSync(join(root, path), { recursive: true, force: true }),
    builds() {
      const path = join(root, 'builds');
      return existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ').map(Number) : [];
    },
    async clear() {
      // A build that lost its owner ends by itself once nothing holds it.
      for (const name of ['hold-start', 'hold-written']) project.remove(name);
      await until('every build ended', () => !project.builds().some(isRunning));
      rmSync(root, { recursive: true, force: true });
    },
  };
  for (const [path, content] of Object.entries({ ...beside, ...sources, ...more })) {
    project.write(path, content);
  }
  return project;
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
