import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BuildError, ensureBuilt } from '../../../local/dashboard/build.ts';
import { pause, until } from '../../support/until.ts';

const vite = fileURLToPath(new URL('../../../node_modules/vite', import.meta.url));
const buildModule = new URL('../../../local/dashboard/build.ts', import.meta.url).href;

/** Writes down each build's process, and waits in it while there is a file `hold-start` or `hold-written`. */
const viteConfig = `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
const waitWhile = async (name) => {
  while (existsSync('../' + name)) await pause(20);
};
const watched = {
  name: 'watched',
  buildStart: () => {
    appendFileSync('../builds', process.pid + ' ');
    return waitWhile('hold-start');
  },
  writeBundle: () => waitWhile('hold-written'),
};
export default { logLevel: 'error', plugins: [watched] };`;

const sources: Record<string, string> = {
  'dashboard/package.json': '{ "type": "module" }',
  'dashboard/tsconfig.json': '{}',
  'dashboard/vite.config.ts': viteConfig,
  'dashboard/scalar-build.ts': 'export {};',
  'dashboard/index.html': '<!doctype html><script type="module" src="/src/main.js"></script>',
  'dashboard/src/main.js': "import './deeper/part.js';\nconsole.log('one');",
  'dashboard/src/deeper/part.js': "console.log('part');",
  'dashboard/public/robots.txt': 'User-agent: *',
  'client/src/index.ts': 'export {};',
  'shared/contracts/dashboard.ts': 'export {};',
};

let root: string;
let folder: string;
let stopping: AbortController;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'dashboard-')));
  folder = join(root, 'dashboard');
  for (const [path, content] of Object.entries(sources)) write(path, content);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(vite, join(folder, 'node_modules', 'vite'));
  stopping = new AbortController();
});

afterEach(async () => {
  stopping.abort();
  // A build that lost its owner ends by itself once nothing holds it.
  for (const name of ['hold-start', 'hold-written']) rmSync(join(root, name), { force: true });
  await until('every build ended', () => !buildProcesses().some(isRunning));
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

const build = (): Promise<boolean> => ensureBuilt({ folder, signal: stopping.signal });

/** The processes of all builds so far, those that ended as well. */
function buildProcesses(): number[] {
  const path = join(root, 'builds');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ').map(Number) : [];
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Everything below a folder with its content; empty when there is no folder. */
function contents(path: string): Record<string, string> {
  if (!existsSync(path)) return {};
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), 'utf8'),
    ]),
  );
}

const leftOfWork = (): string[] => readdirSync(join(folder, '.local'));
const dist = (): Record<string, string> => contents(join(folder, 'dist'));
const app = (): string => Object.values(dist()).join('\n');

/** `ensureBuilt` in a process of its own; `answer` is what it returned. */
function buildElsewhere() {
  const script = `
    import { ensureBuilt } from ${JSON.stringify(buildModule)};
    const signal = new AbortController().signal;
    process.stdout.write(String(await ensureBuilt({ folder: ${JSON.stringify(folder)}, signal })));`;
  const args = ['--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return { answer: text(child.stdout), kill: () => child.kill('SIGKILL'), ended };
}

describe('a build', () => {
  test('is made at first, and not again while nothing changes', async () => {
    expect(await build()).toBe(true);
    expect(app()).toContain('one');
    const before = dist();
    expect(await build()).toBe(false);
    write('dashboard/README.md', 'no part of it');
    write('dashboard/node_modules/.vite/cache.json', '{}');
    expect(await build()).toBe(false);
    expect(dist()).toEqual(before);
    expect(buildProcesses()).toHaveLength(1);
    expect(leftOfWork()).toEqual(['build.lock']);
  });

  test('is made again when anything changes that it is made of', async () => {
    const changes: [string, () => void][] = [
      ['a file', () => write('dashboard/src/deeper/part.js', "console.log('other');")],
      ['a new file', () => write('dashboard/src/new.js', '')],
      ['a name', () => renameSync(join(folder, 'src/new.js'), join(folder, 'src/renamed.js'))],
      ['a removed file', () => rmSync(join(folder, 'src/renamed.js'))],
      ['a public file', () => write('dashboard/public/robots.txt', 'User-agent: none')],
      ['the page', () => write('dashboard/index.html', `${sources['dashboard/index.html']}<p>`)],
      ['the build’s settings', () => write('dashboard/vite.config.ts', `${viteConfig}\n`)],
      ['the build’s own plugin', () => write('dashboard/scalar-build.ts', 'export default 1;')],
      ['the compiler’s settings', () => write('dashboard/tsconfig.json', '{ }')],
      ['the packages', () => write('dashboard/package.json', '{ "type": "module", "version": "2" }')],
      ['the contracts', () => write('shared/contracts/new.ts', '')],
      ['the client', () => write('client/src/new.ts', '')],
      ['the build itself', () => rmSync(join(folder, 'dist/build-id'))],
      ['the whole build', () => rmSync(join(folder, 'dist'), { recursive: true })],
    ];
    await build();
    for (const [what, change] of changes) {
      change();
      expect([what, await build()]).toEqual([what, true]);
    }
    expect(app()).toContain('other');
    expect(app()).not.toContain("'part'");
    expect(await build()).toBe(false);
  });

  test('has nothing of the one before', async () => {
    await build();
    write('dashboard/src/main.js', "console.log('two');");
    write('dashboard/dist/assets/older.js', 'older');
    await build();
    expect(app()).toContain('two');
    expect(app()).not.toMatch(/one|older/);
  });

  test('that fails says what the tool said, and keeps the one before', async () => {
    await build();
    const before = dist();
    write('dashboard/src/main.js', "import './missing.js';");
    const error = await build().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BuildError);
    expect(error).toMatchObject({ message: 'The dashboard could not be built.' });
    expect((error as BuildError).output).toContain('missing.js');
    expect(dist()).toEqual(before);
    expect(leftOfWork()).toEqual(['build.lock']);
    write('dashboard/src/main.js', "console.log('mended');");
    expect(await build()).toBe(true);
    expect(app()).toContain('mended');
  });
});

describe('several services that start at once', () => {
  test('build once: the others wait for it', async () => {
    write('hold-start', '');
    const services = [buildElsewhere(), buildElsewhere(), buildElsewhere()];
    await until('one builds', () => buildProcesses().length > 0);
    await pause(600);
    expect(buildProcesses()).toHaveLength(1);
    expect(dist()).toEqual({});
    rmSync(join(root, 'hold-start'));
    const answers = await Promise.all(services.map(({ answer }) => answer));
    expect(answers.sort()).toEqual(['false', 'false', 'true']);
    expect(buildProcesses()).toHaveLength(1);
    expect(app()).toContain('one');
  });

  test('wait for a builder that lives, and stop waiting when they are stopped', async () => {
    write('hold-start', '');
    const builder = buildElsewhere();
    await until('it builds', () => buildProcesses().length === 1);
    const waiting = build();
    const held = await Promise.race([waiting, pause(500).then(() => 'it waits')]);
    expect(held).toBe('it waits');
    stopping.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    rmSync(join(root, 'hold-start'));
    expect(await builder.answer).toBe('true');
    expect(buildProcesses()).toHaveLength(1);
  });

  test('take over from a builder that was killed', async () => {
    write('hold-start', '');
    const killed = buildElsewhere();
    await until('it builds', () => buildProcesses().length === 1);
    killed.kill();
    await killed.ended;
    rmSync(join(root, 'hold-start'));
    expect(await build()).toBe(true);
    expect(app()).toContain('one');
  });
});

describe('a build that is stopped', () => {
  test.each(['hold-start', 'hold-written'])(
    'at %s ends its process and leaves the build before',
    async (hold) => {
      await build();
      const before = dist();
      write('dashboard/src/main.js', "console.log('two');");
      write(hold, '');
      const building = build();
      await until('it builds', () => buildProcesses().length === 2);
      if (hold === 'hold-written') {
        await until('it has written', () => Object.keys(contents(join(folder, '.local'))).length > 2);
      }
      stopping.abort();
      await expect(building).rejects.toMatchObject({ name: 'AbortError' });
      expect(dist()).toEqual(before);
      expect(leftOfWork()).toEqual(['build.lock']);
      await until('its process ended', () => !buildProcesses().some(isRunning));
      stopping = new AbortController();
      rmSync(join(root, hold));
      expect(await build()).toBe(true);
    },
  );

  test('leaves none, if there was none', async () => {
    write('hold-written', '');
    const building = build();
    await until('it builds', () => buildProcesses().length === 1);
    stopping.abort();
    await expect(building).rejects.toMatchObject({ name: 'AbortError' });
    expect(existsSync(join(folder, 'dist'))).toBe(false);
  });
});
