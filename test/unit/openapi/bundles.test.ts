import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { build, stop } from 'esbuild';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const files = readdirSync(`${repository}/functions`).filter((file) => file.endsWith('.ts'));

afterAll(stop);

/** The files of ours that a function is made of. */
async function bundled(file: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [`functions/${file}`],
    absWorkingDir: repository,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
    write: false,
  });
  return Object.keys(metafile.inputs);
}

const isOfDocument = (path: string) =>
  path.startsWith('shared/openapi/') || path === 'shared/contracts/answer-fields.ts';

test('no function but the document’s own carries the document, or the schemas of answers', async () => {
  expect(files.length).toBeGreaterThan(10);
  for (const file of files.filter((each) => each !== 'get-openapi.ts')) {
    const carried = (await bundled(file)).filter(isOfDocument);
    expect([file, carried]).toEqual([file, []]);
  }
});

test('the document’s function carries both, and no store, adapter of S3 or workflow of a generation', async () => {
  const paths = await bundled('get-openapi.ts');
  expect(paths.filter(isOfDocument).length).toBeGreaterThan(5);
  expect(paths.filter((path) => path.startsWith('shared/workflow/'))).toEqual([]);
});
