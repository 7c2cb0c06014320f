import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BuildError, buildId, ensureBuilt } from '../../../local/dashboard/build.ts';
import { pause, until } from '../../support/until.ts';
import { createProject, isRunning, sources, type Project } from './support.ts';

const buildModule = new URL('../../../local/dashboard/build.ts', import.meta.url).href;

let project: Project;
let folder: string;
let stopping: AbortController;

beforeEach(() => {
  project = createProject();
  ({ folder } = project);
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort();
  await project.clear();
});

const build = (): Promise<boolean> => ensureBuilt({ folder, signal: stopping.signal });
const begun = (count: number) => until('it builds', () => project.builds().length === count);

/** Everything below a folder with its content; empty when there is no folder. */
function contents(path: string): Record<string, string> {
  if (!existsSync(path)) return {};
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((file) => [file, readFileSync(file, 'utf8')]));
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
    project.write('dashboard/README.md', 'no part of it');
    project.write('dashboard/node_modules/.vite/cache.json', '{}');
    project.write('clients/typescript/src/openapi.ts', 'made of the document');
    project.write('clients/python/src/image_generation/__pycache__/__init__.pyc', 'made of the source');
    expect(await build()).toBe(false);
    expect(dist()).toEqual(before);
    expect(project.builds()).toHaveLength(1);
    expect(leftOfWork()).toEqual(['build.lock']);
  });

  test.each([...Object.keys(sources), 'dashboard/src/new.js'])('is another one when %s changes', (path) => {
    const before = buildId(folder);
    project.write(path, '{ "of": "another time" }');
    expect(buildId(folder)).not.toBe(before);
  });

  test('is made again when a file has another name or is gone, and has nothing of the build before', async () => {
    await build();
    project.write('dashboard/dist/assets/older.js', 'older');
    const [part, renamed] = ['src/deeper/part.js', 'src/deeper/renamed.js'];
    renameSync(join(folder, part), join(folder, renamed));
    expect(await build()).toBe(true);
    expect(app()).not.toContain('older');
    for (const lost of [renamed, 'dist/build-id', 'dist']) {
      project.remove(`dashboard/${lost}`);
      expect([lost, await build()]).toEqual([lost, true]);
    }
    expect(app()).not.toContain('part');
  });

  test('that fails says what the tool said, and keeps the one before', async () => {
    await build();
    const before = dist();
    project.write('dashboard/src/main.js', "import './missing.js';");
    const error = await build().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BuildError);
    expect(error).toMatchObject({ message: 'The dashboard could not be built.' });
    expect((error as BuildError).output).toContain('missing.js');
    expect(dist()).toEqual(before);
    expect(leftOfWork()).toEqual(['build.lock']);
    project.write('dashboard/src/main.js', "console.log('mended');");
    expect(await build()).toBe(true);
    expect(app()).toContain('mended');
  });

  test.each(['#1/dashboard', 'why?'])('in the folder %s says that Vite cannot', async (name) => {
    const elsewhere = join(project.root, name);
    mkdirSync(join(elsewhere, '..'), { recursive: true });
    renameSync(folder, elsewhere);
    const error = await ensureBuilt({ folder: elsewhere, signal: stopping.signal }).catch((thrown) => thrown);
    expect((error as BuildError).output).toMatch(/^Vite builds in no folder .* rename/);
  });
});

describe('several services that start at once', () => {
  beforeEach(() => project.write('hold-start', ''));

  test('build once: the others wait for it, and stop waiting when they are stopped', async () => {
    const services = [buildElsewhere(), buildElsewhere(), buildElsewhere()];
    await begun(1);
    const waiting = build();
    await pause(300);
    stopping.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(project.builds()).toHaveLength(1);
    expect(dist()).toEqual({});
    project.remove('hold-start');
    const answers = await Promise.all(services.map(({ answer }) => answer));
    expect(answers.sort()).toEqual(['false', 'false', 'true']);
    expect(project.builds()).toHaveLength(1);
    expect(app()).toContain('one');
  });

  test('take over from a builder that was killed, and one of them builds', async () => {
    const killed = buildElsewhere();
    await begun(1);
    const waiting = [build(), buildElsewhere().answer];
    killed.kill();
    await killed.ended;
    project.remove('hold-start');
    expect((await Promise.all(waiting)).map(String).sort()).toEqual(['false', 'true']);
    expect(project.builds()).toHaveLength(2);
    expect(app()).toContain('one');
  });
});

describe('a build that is stopped', () => {
  test.each(['hold-start', 'hold-written'])(
    'at %s ends its process and leaves the build before',
    async (hold) => {
      await build();
      const before = dist();
      project.write('dashboard/src/main.js', "console.log('two');");
      project.write(hold, '');
      const building = build();
      await begun(2);
      if (hold === 'hold-written') {
        await until('it has written', () => Object.keys(contents(join(folder, '.local'))).length > 2);
      }
      stopping.abort();
      await expect(building).rejects.toMatchObject({ name: 'AbortError' });
      expect(dist()).toEqual(before);
      expect(leftOfWork()).toEqual(['build.lock']);
      await until('its process ended', () => !project.builds().some(isRunning));
      stopping = new AbortController();
      project.remove(hold);
      expect(await build()).toBe(true);
    },
  );
});
