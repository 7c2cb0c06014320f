import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { bundleFunctions } from '../support/function-bundles.ts';
import { temporaryFolder } from './children.ts';

export interface Bundle {
  what: string;
  file: string;
  bytes: number;
  gzipBytes: number;
}

/** What is measured: the function that a generation waits for. */
const functionName = 'create-generation';

function measured(what: string, file: string): Bundle {
  const code = readFileSync(file);
  return { what, file, bytes: code.length, gzipBytes: gzipSync(code).length };
}

/** The function as a deployment bundles it. */
export function deployedBundle(): Bundle {
  const folder = temporaryFolder();
  const made = bundleFunctions(join(folder, 'cdk')).find((one) => one.functionName === functionName)!;
  // Lambda takes `index.js` for CommonJS without looking into it; Node.js by itself looks, unless it is told.
  const file = join(folder, 'index.cjs');
  copyFileSync(made.file, file);
  return measured(functionName, file);
}

/**
 * The same sources as esbuild bundles them unasked: one CommonJS file, not minified, `main` before `module`, the SDK
 * as it is published, and all of zod, which `import { z } from 'zod'` takes in. The sources call zod/mini's functions,
 * so those are in it too: 3 % of it.
 */
export async function naiveBundle(): Promise<Bundle> {
  const file = join(temporaryFolder(), 'index.cjs');
  await build({
    entryPoints: [fileURLToPath(new URL(`../../functions/${functionName}.ts`, import.meta.url))],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    plugins: [wholeZod],
    logLevel: 'error',
  });
  return measured('the same, naive', file);
}

const wholeZod: Plugin = {
  name: 'whole-zod',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^zod\/mini$/ }, ({ pluginData, resolveDir }) =>
      pluginData === 'whole' ? null : { path: 'zod', namespace: 'whole-zod', pluginData: resolveDir },
    );
    onLoad({ filter: /.*/, namespace: 'whole-zod' }, ({ pluginData }) => ({
      contents: `import { z } from 'zod'; globalThis.wholeZod = z; export * from '${miniFile}';`,
      resolveDir: pluginData,
    }));
  },
};

const miniFile = fileURLToPath(import.meta.resolve('zod/mini'));

/** What any function of Node.js takes. */
export async function helloBundle(): Promise<Bundle> {
  const file = join(temporaryFolder(), 'index.mjs');
  const contents = `export const handler = async () => ({ statusCode: 200, body: 'hello' });`;
  await build({ stdin: { contents }, outfile: file, format: 'esm', minify: true, logLevel: 'error' });
  return measured('hello world', file);
}
