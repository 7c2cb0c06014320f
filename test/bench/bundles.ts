import { copyFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { bundleFunctions } from '../../bin/costs/bundles.ts';
import { temporaryFolder } from './children.ts';

export interface Built {
  functionName: string;
  file: string;
  bytes: number;
  gzipBytes: number;
}

const functionsFolder = fileURLToPath(new URL('../../functions', import.meta.url));

function measured(functionName: string, file: string): Built {
  const code = readFileSync(file);
  return { functionName, file, bytes: code.length, gzipBytes: gzipSync(code).length };
}

/** Every function as a deployment bundles it. */
export function productionBundles(): Built[] {
  const folder = temporaryFolder();
  const kept = join(folder, 'kept');
  return bundleFunctions(join(folder, 'cdk')).map(({ functionName, file }) => {
    // Lambda takes `index.js` for CommonJS without looking into it; Node.js by itself looks, unless it is told.
    const place = join(kept, functionName);
    mkdirSync(place, { recursive: true });
    copyFileSync(file, join(place, 'index.cjs'));
    return measured(functionName, join(place, 'index.cjs'));
  });
}

/**
 * The same sources as esbuild bundles them unasked: one CommonJS file, not minified, `main` before `module`, the SDK
 * as it is published, and all of zod, which `import { z } from 'zod'` takes in. The sources call zod/mini's functions,
 * so those are in it too: 3 % of it.
 */
export async function naiveBundles(): Promise<Built[]> {
  const folder = temporaryFolder();
  const functionNames = readdirSync(functionsFolder).map((file) => file.replace(/\.ts$/, ''));
  await Promise.all(
    functionNames.map((functionName) =>
      build({
        entryPoints: [join(functionsFolder, `${functionName}.ts`)],
        outfile: join(folder, functionName, 'index.cjs'),
        bundle: true,
        platform: 'node',
        target: 'node24',
        format: 'cjs',
        plugins: [wholeZod],
        logLevel: 'error',
      }),
    ),
  );
  return functionNames.map((name) => measured(name, join(folder, name, 'index.cjs')));
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
export async function helloBundle(): Promise<Built> {
  const file = join(temporaryFolder(), 'index.mjs');
  const contents = `export const handler = async () => ({ statusCode: 200, body: 'hello' });`;
  await build({ stdin: { contents }, outfile: file, format: 'esm', minify: true, logLevel: 'error' });
  return measured('hello world', file);
}
