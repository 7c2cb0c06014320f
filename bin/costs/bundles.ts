import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { App, Duration, Stack } from 'aws-cdk-lib/core';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ServiceFunction } from '../../lib/constructs/service-function.ts';
import { sizesOf } from './bundle-sizes.ts';

export interface Bundle {
  functionName: string;
  bytes: number;
  gzipBytes: number;
  /** Median, milliseconds. */
  importMs: number;
}

const run = promisify(execFile);
const functionsFolder = fileURLToPath(new URL('../../functions', import.meta.url));
const importsEach = 10;

/** Bundles every file of `functions/` by the CDK, as a deployment does, and measures it. esbuild's output goes to stderr. */
export async function buildBundles(): Promise<Bundle[]> {
  const folder = mkdtempSync(join(tmpdir(), 'image-generation-bundles-'));
  try {
    const bundles: Bundle[] = [];
    for (const { functionName, file } of bundleFunctions(folder)) {
      bundles.push({ functionName, ...sizesOf(file), importMs: await medianImport(file) });
    }
    return bundles;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bundles every file of `functions/` into a folder by the CDK. */
export function bundleFunctions(outdir: string): { functionName: string; file: string }[] {
  const app = new App({
    outdir,
    context: { 'aws:cdk:enable-asset-metadata': true },
    builtinCloudFormationValidation: false,
  });
  const stack = new Stack(app, 'Bundles');
  const functionNames = readdirSync(functionsFolder).map((file) => file.replace(/\.ts$/, ''));
  const props = {
    serviceName: 'image-generation',
    timeout: Duration.seconds(20),
    logRetention: RetentionDays.ONE_DAY,
  };
  const made = functionNames.map((functionName) => ({
    functionName,
    fn: new ServiceFunction(stack, functionName, { functionName, ...props }),
  }));
  const { template } = app.synth().getStackByName('Bundles');
  return made.map(({ functionName, fn }) => {
    const id = stack.getLogicalId(fn.node.defaultChild as never);
    const asset: string = template.Resources[id].Metadata['aws:asset:path'];
    return { functionName, file: join(outdir, asset, 'index.js') };
  });
}

/** Lambda defines its global for streaming before it loads a function. */
const timedImport = `
globalThis.awslambda = { streamifyResponse: (handler) => handler };
const begin = performance.now();
await import(process.argv[1]);
console.log(performance.now() - begin);
process.exit();
`;

async function medianImport(file: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < importsEach; i++) {
    const args = ['--input-type=module', '--eval', timedImport, file];
    const { stdout } = await run(process.execPath, args);
    times.push(Number(stdout));
  }
  times.sort((a, b) => a - b);
  return (times[importsEach / 2 - 1]! + times[importsEach / 2]!) / 2;
}
