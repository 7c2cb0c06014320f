import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { removeFolder, startService, temporaryFolder, type RunningService } from '../support/service.ts';

const exec = promisify(execFile);
const root = new URL('../..', import.meta.url).pathname;

let service: RunningService;
let folder: string;
let packed: { filename: string; files: { path: string }[] };

/** Packs the client and installs it where nothing else is. */
beforeAll(async () => {
  service = await startService();
  folder = temporaryFolder();
  await exec(process.execPath, ['bin/build-client.ts'], { cwd: root });
  // Not by its own script, which npm may be configured to leave out.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await exec('npm', args, { cwd: join(root, 'client') });
  [packed] = JSON.parse(stdout) as [typeof packed];
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)];
  await exec('npm', install, { cwd: folder });
}, 120_000);
afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
  removeFolder(folder);
});

test('the package holds its modules, their types, the license and the readme, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path).sort();
  const others = paths.filter((path) => !/^dist\/[a-z-]+\.(js|d\.ts)$/.test(path));
  expect(others).toEqual(['LICENSE', 'README.md', 'package.json']);
  expect(paths).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts']));
  const installed = join(folder, 'node_modules', 'image-generation-client');
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(manifest.dependencies ?? {})).toEqual([]);
  expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
  for (const path of paths.filter((one) => one.startsWith('dist/'))) {
    expect(readFileSync(join(installed, path), 'utf8')).not.toMatch(/from ['"](?!\.\/[a-z-]+\.js['"])/);
  }
});

test('the readme’s first image is made by plain Node', async () => {
  const readme = readFileSync(join(root, 'client', 'README.md'), 'utf8');
  const [, sample] = /## A first image\n\n```js\n(.*?)```/s.exec(readme)!;
  const baseUrl = JSON.stringify(service.ready.baseUrl);
  const script = sample!.replace("'https://images.example.com/api/v1'", baseUrl);
  writeFileSync(join(folder, 'first.js'), script);
  const env = { ...process.env, IMAGE_API_KEY: service.ready.keys.pro! };
  const { stdout } = await exec(process.execPath, ['first.js'], { cwd: folder, env });
  expect(stdout).toMatch(/^\[\n? *'http.*'\n?\] 1\n$/s);
});

test.each(['nodenext', 'bundler'])(
  'its types serve a program that resolves modules as %s',
  async (resolution) => {
    mkdirSync(join(folder, resolution));
    const options = {
      module: resolution === 'bundler' ? 'esnext' : resolution,
      moduleResolution: resolution,
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
    };
    writeFileSync(join(folder, resolution, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
    const program = `
    import { createClient, isApiError, type GenerationRequest } from 'image-generation-client';
    const client = createClient({ apiKey: 'k', baseUrl: 'https://images.example.com/api/v1' });
    const body: GenerationRequest = { identityId: 'i', prompt: 'p', width: 512 };
    export const links: Promise<string[]> = client.generate(body).then(({ outputs }) => outputs);
    export const isSpent = (error: unknown) => isApiError(error, 'CREDIT_LIMIT_EXCEEDED');
    // @ts-expect-error the prompt is required
    void client.generate({ identityId: 'i' });
  `;
    writeFileSync(join(folder, resolution, 'program.ts'), program);
    // TypeScript as the project has it, and the one before.
    for (const compiler of ['node_modules', 'client/node_modules']) {
      const tsc = join(root, compiler, 'typescript', 'bin', 'tsc');
      const checked = exec(process.execPath, [tsc, '-p', join(folder, resolution)]);
      await expect(checked).resolves.toMatchObject({ stdout: '' });
    }
  },
);
