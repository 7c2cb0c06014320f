import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import sharp from 'sharp';
import { npmName } from '../../dashboard/src/lib/client-packages.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { inRepository, repository } from '../support/repository.ts';
import { service } from './fixture.ts';

const exec = promisify(execFile);
const client = inRepository('clients/typescript');
const folders: string[] = [];
let folder: string;
let packed: { filename: string; files: { path: string }[] };

/** Installs the client in an empty folder. */
async function installed(source: string): Promise<string> {
  const program = temporaryFolder();
  folders.push(program);
  writeFileSync(join(program, 'package.json'), '{ "private": true, "type": "module" }');
  await exec('npm', ['install', '--no-audit', '--no-fund', source], { cwd: program });
  return program;
}
const inPackage = (program: string, path: string) =>
  readFileSync(join(program, 'node_modules', npmName, path), 'utf8');

beforeAll(async () => {
  const tarballs = temporaryFolder();
  folders.push(tarballs);
  await exec(process.execPath, ['clients/typescript/build.ts'], { cwd: repository });
  // The client was built above, because npm may be configured to run no scripts.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', tarballs];
  [packed] = JSON.parse((await exec('npm', args, { cwd: client })).stdout) as [typeof packed];
  folder = await installed(join(tarballs, packed.filename));
}, 120_000);
afterAll(() => folders.forEach(removeFolder));

test('the package has its modules, their types, the license and the readme, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path).sort();
  const others = paths.filter((path) => !/^dist\/[a-z-]+\.(js|d\.ts)$/.test(path));
  expect(others).toEqual(['LICENSE', 'README.md', 'package.json']);
  expect(paths).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts']));
  expect(JSON.parse(inPackage(folder, 'package.json'))).not.toHaveProperty('dependencies');
  expect(inPackage(folder, 'LICENSE')).toBe(readFileSync(inRepository('LICENSE'), 'utf8'));
  for (const path of paths.filter((one) => one.startsWith('dist/')))
    expect(inPackage(folder, path)).not.toMatch(/from ['"](?!\.\/[a-z-]+\.js['"])/);
});

test('it is smaller than 9 kB in a browser’s program, minified and compressed', async () => {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${npmName}';`, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    // A module of Node.js would fail here.
    platform: 'browser',
    write: false,
  });
  const bytes = gzipSync(outputFiles[0]!.contents).length;
  console.log(`the client: ${bytes} bytes, minified and compressed`);
  expect(bytes).toBeGreaterThan(1000);
  expect(bytes).toBeLessThan(9000);
});

// From the dashboard's site: copied-samples.test.ts.
test('the readme’s first image is made by plain Node when it was installed from a checkout', async () => {
  const program = await installed(client);
  for (const { path } of packed.files)
    expect([path, inPackage(program, path)]).toEqual([path, inPackage(folder, path)]);
  const readme = readFileSync(join(client, 'README.md'), 'utf8');
  const [, sample] = /## A first image\n.*?```js\n(.*?)```/s.exec(readme)!;
  writeFileSync(join(program, 'first.js'), sample!);
  const { baseUrl, keys } = service.ready;
  const env = { ...process.env, IMAGE_API_KEY: keys.pro!, IMAGE_BASE_URL: baseUrl };
  const { stdout } = await exec(process.execPath, ['first.js'], { cwd: program, env });
  expect(stdout).toBe('bay.png 1\n');
  expect((await sharp(join(program, 'bay.png')).metadata()).format).toBe('png');
});

// Its other ways of being imported: test/long/published.test.ts.
test('a program compiles with its types', async () => {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const program = `
    import { createClient, isApiError, type GenerationRequest } from '${npmName}';
    const client = createClient({ apiKey: 'k', baseUrl: 'https://images.example.com/api/v1' });
    const body: GenerationRequest = { identityId: 'i', prompt: 'p', width: 512 };
    export const links: Promise<string[]> = client.generate(body).then(({ outputs }) => outputs);
    export const isSpent = (error: unknown) => isApiError(error, 'CREDIT_LIMIT_EXCEEDED');
    // @ts-expect-error the prompt is required
    void client.generate({ identityId: 'i' });
  `;
  writeFileSync(join(folder, 'program.ts'), program);
  // The project's own TypeScript, and the major version before it.
  for (const compiler of [repository, client]) {
    const tsc = join(compiler, 'node_modules/typescript/bin/tsc');
    await expect(exec(process.execPath, [tsc, '-p', folder])).resolves.toMatchObject({ stdout: '' });
  }
});
