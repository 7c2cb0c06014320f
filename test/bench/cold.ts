import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { proxyEvent } from '../support/deployed-calls.ts';
import { bundleFunctions } from '../support/function-bundles.ts';
import { startStub, stopSignal, temporaryFolder } from './children.ts';
import { functionEnvironment, generationBody } from './fixture.ts';
import type { BenchInput } from './overhead.ts';
import { figure, type Section } from './section.ts';
import { medians } from './statistics.ts';

type FirstCall = Record<'importMs' | 'callMs', number>;

/** What is measured: the function that a generation waits for. */
const functionName = 'create-generation';
const run = promisify(execFile);
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** The deployed bundle, the naive one and hello world in turn, process after process. */
export async function measureColdStart({ fixture, bundle, quick, say }: BenchInput): Promise<Section> {
  const files = [bundle, await naiveBundle(), await helloBundle()];
  const eventFile = join(temporaryFolder(), 'event.json');
  const { caller } = fixture;
  const headers = { 'content-type': 'application/json' };
  const call = { key: caller.key, headers, body: JSON.parse(generationBody(caller)) };
  writeFileSync(eventFile, JSON.stringify(proxyEvent(functionName, call)));
  const stub = await startStub(fixture);
  const env = { ...functionEnvironment(stub.url), PATH: process.env.PATH ?? '' };
  const processes = quick ? 2 : 20;
  try {
    const calls = files.map((): FirstCall[] => []);
    for (let i = 1; i <= processes; i++) {
      say(`cold start: process ${i} of ${processes}`);
      for (const [k, file] of files.entries()) calls[k]!.push(await firstCall(file, eventFile, env));
    }
    return coldSection(files, calls.map(medians), processes);
  } finally {
    await stub.close();
  }
}

function coldSection(files: string[], figures: FirstCall[], processes: number): Section {
  const sizes = files.map((file) => {
    const code = readFileSync(file);
    return [code.length / 1000, gzipSync(code).length / 1000];
  });
  const what = [functionName, 'the same, naive', 'hello world'];
  return {
    title: 'Cold start',
    headings: ['bundle', 'kB:', 'kB, gzip:', 'import, ms:', 'first call, ms:', 'both, ms:'],
    rows: figures.map(({ importMs, callMs }, k) => [
      what[k]!,
      ...[...sizes[k]!, importMs, callMs, importMs + callMs].map(figure),
    ]),
    note: `Medians of ${processes} fresh processes of Node.js.`,
  };
}

async function firstCall(file: string, eventFile: string, env: Record<string, string>): Promise<FirstCall> {
  const options = { env, timeout: 120_000, signal: stopSignal, killSignal: 'SIGKILL' } as const;
  const { stdout } = await run(process.execPath, [here('first-call.js'), file, eventFile], options);
  const { status, ...figures } = JSON.parse(stdout);
  if (status !== 200) throw new Error(`${file} answered its first call with ${status}.`);
  return figures;
}

/** The function as a deployment bundles it. */
export function deployedBundle(): string {
  const folder = temporaryFolder();
  const made = bundleFunctions(join(folder, 'cdk')).find((one) => one.functionName === functionName)!;
  // Lambda takes `index.js` for CommonJS without looking into it; Node.js by itself looks, unless the name says it.
  const file = join(folder, 'index.cjs');
  copyFileSync(made.file, file);
  return file;
}

/**
 * The same sources as esbuild bundles them unasked: one CommonJS file, not minified, `main` before `module`, the SDK
 * as it is published, and all of zod, which `import { z } from 'zod'` takes in.
 */
async function naiveBundle(): Promise<string> {
  const outfile = join(temporaryFolder(), 'index.cjs');
  const contents = `import { z } from 'zod'; globalThis.wholeZod = z; export * from './${functionName}.ts';`;
  const options = { bundle: true, platform: 'node', target: 'node24', format: 'cjs' } as const;
  await build({ stdin: { contents, resolveDir: here('../../functions') }, outfile, ...options });
  return outfile;
}

/** What any function of Node.js takes. */
async function helloBundle(): Promise<string> {
  const outfile = join(temporaryFolder(), 'index.mjs');
  const contents = `export const handler = async () => ({ statusCode: 200, body: 'hello' });`;
  await build({ stdin: { contents }, outfile, format: 'esm', minify: true });
  return outfile;
}
