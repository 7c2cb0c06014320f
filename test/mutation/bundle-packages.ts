import { build } from 'esbuild';

/** Of many files each, which Jest links anew for every test file: that takes most of a run's time. */
export const bundledPackages = [
  '@aws-sdk/client-dynamodb',
  '@aws-sdk/client-s3',
  '@aws-sdk/client-sagemaker-runtime',
  '@aws-sdk/lib-dynamodb',
  '@aws-sdk/s3-presigned-post',
  '@aws-sdk/s3-request-presigner',
  '@aws-sdk/util-dynamodb',
  '@smithy/signature-v4',
  'fast-check',
  'zod',
  'zod/mini',
];

/** Where a package's bundle lies in the folder. */
export const bundleName = (name: string) => name.replaceAll('/', '-').replace('@', '');

/** Writes the packages to a folder, each as one module; what several of them hold is in modules that they share. */
export async function bundlePackages(folder: string): Promise<void> {
  await build({
    entryPoints: bundledPackages.map((name) => ({ in: name, out: bundleName(name) })),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    logLevel: 'error',
    banner: {
      js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
    },
  });
}
