import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';

const maxBytes = 6000;

async function bundled(contents: string): Promise<{ bytes: number; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: new URL('../../../client/src', import.meta.url).pathname, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    // Anything of Node's would fail here.
    platform: 'browser',
    write: false,
    metafile: true,
  });
  return { bytes: gzipSync(outputFiles[0]!.contents).length, inputs: Object.keys(metafile.inputs) };
}

test('the whole client is less than 6 kB, minified and compressed, and nobody else’s code', async () => {
  const { bytes, inputs } = await bundled("export * from './index.ts';");
  console.log(`the client: ${bytes} bytes, minified and compressed`);
  expect(bytes).toBeGreaterThan(1000);
  expect(bytes).toBeLessThan(maxBytes);
  expect(inputs.filter((path) => path.includes('node_modules'))).toEqual([]);
});

test('who takes only a part gets only that', async () => {
  const whole = await bundled("export * from './index.ts';");
  const part = await bundled("export { createRequester } from './index.ts';");
  expect(part.bytes).toBeLessThan(0.6 * whole.bytes);
});
