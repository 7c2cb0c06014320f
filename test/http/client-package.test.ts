import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import sharp from 'sharp';
import { npmName, packagePaths } from '../../dashboard/src/lib/client-packages.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { sharedService } from '../support/use-service.ts';
import { inRepository, repository } from '../support/repository.ts';

const exec = promisify(execFile);

const service = sharedService();
let folder: string;
let packed: { filename: string; files: { path: string }[] };

/** Packs the client and installs it in an empty folder. */
beforeAll(async () => {
  folder = temporaryFolder();
  await exec(process.execPath, ['clients/typescript/build.ts'], { cwd: repository });
  // The client was built above, because npm may be configured to run no scripts.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await exec('npm', args, { cwd: inRepository('clients/typescript') });
  [packed] = JSON.parse(stdout) as [typeof packed];
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)];
  await exec('npm', install, { cwd: folder });
}, 120_000);
afterAll(async () => {
  removeFolder(folder);
});

test('the package has its modules, their types, the license and the readme, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path).sort();
  const others = paths.filter((path) => !/^dist\/[a-z-]+\.(js|d\.ts)$/.test(path));
  expect(others).toEqual(['LICENSE', 'README.md', 'package.json']);
  expect(paths).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts']));
  const installed = join(folder, 'node_modules', npmName);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(manifest.dependencies ?? {})).toEqual([]);
  expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toBe(
    readFileSync(inRepository('LICENSE'), 'utf8'),
  );
  for (const path of paths.filter((one) => one.startsWith('dist/'))) {
    expect(readFileSync(join(installed, path), 'utf8')).not.toMatch(/from ['"](?!\.\/[a-z-]+\.js['"])/);
  }
});

/** The size of a browser's program, minified and compressed. */
async function bundledBytes(contents: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    // A module of Node.js would fail here.
    platform: 'browser',
    write: false,
  });
  return gzipSync(outputFiles[0]!.contents).length;
}

test('it is smaller than 7 kB, minified and compressed, and a part of it is smaller still', async () => {
  const whole = await bundledBytes(`export * from '${npmName}';`);
  console.log(`the client: ${whole} bytes, minified and compressed`);
  expect(whole).toBeGreaterThan(1000);
  expect(whole).toBeLessThan(7000);
  const part = await bundledBytes(`export { createRequester } from '${npmName}';`);
  expect(part).toBeLessThan(0.6 * whole);
});

test.each([
  ['from its tarball', (): string => join(folder, packed.filename)],
  ['from a checkout', (): string => inRepository('clients/typescript')],
  ['from the dashboard’s site', (): string => service.ready.dashboardUrl + packagePaths.npm],
])('the readme’s first image is made by plain Node when it was installed %s', async (_how, source) => {
  const program = temporaryFolder();
  writeFileSync(join(program, 'package.json'), '{ "private": true, "type": "module" }');
  await exec('npm', ['install', '--no-audit', '--no-fund', source()], { cwd: program });
  for (const { path } of packed.files) {
    const [theirs, ours] = [program, folder].map((place) => join(place, 'node_modules', npmName, path));
    expect([path, readFileSync(theirs!, 'utf8')]).toEqual([path, readFileSync(ours!, 'utf8')]);
  }
  const readme = readFileSync(inRepository('clients/typescript/README.md'), 'utf8');
  const [, sample] = /## A first image\n.*?```js\n(.*?)```/s.exec(readme)!;
  writeFileSync(join(program, 'first.js'), sample!);
  const { baseUrl, keys } = service.ready;
  const env = { ...process.env, IMAGE_API_KEY: keys.pro!, IMAGE_BASE_URL: baseUrl };
  const { stdout } = await exec(process.execPath, ['first.js'], { cwd: program, env });
  expect(stdout).toBe('bay.png 1\n');
  expect((await sharp(join(program, 'bay.png')).metadata()).format).toBe('png');
  removeFolder(program);
});

test.each(['nodenext', 'bundler'])(
  'a program with module resolution %s compiles with its types',
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
    import { createClient, isApiError, type GenerationRequest } from '${npmName}';
    const client = createClient({ apiKey: 'k', baseUrl: 'https://images.example.com/api/v1' });
    const body: GenerationRequest = { identityId: 'i', prompt: 'p', width: 512 };
    export const links: Promise<string[]> = client.generate(body).then(({ outputs }) => outputs);
    export const isSpent = (error: unknown) => isApiError(error, 'CREDIT_LIMIT_EXCEEDED');
    // @ts-expect-error the prompt is required
    void client.generate({ identityId: 'i' });
  `;
    writeFileSync(join(folder, resolution, 'program.ts'), program);
    // The project's own TypeScript, and the major version before it.
    for (const compiler of ['node_modules', 'clients/typescript/node_modules']) {
      const tsc = inRepository(`${compiler}/typescript/bin/tsc`);
      const checked = exec(process.execPath, [tsc, '-p', join(folder, resolution)]);
      await expect(checked).resolves.toMatchObject({ stdout: '' });
    }
  },
);
