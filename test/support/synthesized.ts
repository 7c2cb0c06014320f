import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfiguration, stackNameOf } from '../../lib/configuration.ts';
import type { Options } from './configurations.ts';
import type { Template } from './policies.ts';
import { inRepository, repository } from './repository.ts';

export interface Synthesized {
  /** The cloud assembly: the template and its assets. */
  folder: string;
  template: Template;
  remove(): void;
}

/** The CDK's context in `cdk.json`, mostly its feature flags. */
const cdkContext: Record<string, unknown> = JSON.parse(
  readFileSync(inRepository('cdk.json'), 'utf8'),
).context;

/**
 * Runs the CDK app in a process of its own, as `cdk synth` does, without account, credentials and network. It builds the
 * functions, which takes some seconds.
 * @throws Error with its output if it fails.
 */
export function synthesize(options: Options): Synthesized {
  const folder = mkdtempSync(join(tmpdir(), 'cdk-out-'));
  const file = join(folder, 'configuration.json');
  writeFileSync(file, JSON.stringify(options));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/app.ts'], {
    cwd: repository,
    env: {
      PATH: `${quickNpx(folder)}:${inRepository('node_modules/.bin')}:${process.env.PATH}`,
      HOME: folder,
      CDK_OUTDIR: folder,
      CDK_CONTEXT_JSON: JSON.stringify({ ...cdkContext, config: file }),
      // It takes seconds, and the shared templates have passed it.
      CDK_VALIDATION: 'false',
    },
    encoding: 'utf8',
  });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (status !== 0) {
    remove();
    throw new Error(`${stdout}${stderr}`);
  }
  const templatePath = join(folder, `${stackNameOf(readConfiguration(options, 'The test'))}.template.json`);
  return { folder, template: JSON.parse(readFileSync(templatePath, 'utf8')), remove };
}

/** The CDK starts esbuild by `npx --no-install`, which takes longer than esbuild. @returns a folder with a quicker one */
function quickNpx(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npx'), '#!/bin/sh\nshift\nexec "$@"\n', { mode: 0o755 });
  return bin;
}

/** The folder of a function's code in the cloud assembly. */
export function assetOf({ template, folder }: Synthesized, functionId: string): string {
  const key: string = template.Resources[functionId]!.Properties.Code.S3Key;
  return join(folder, `asset.${key.replace(/\.zip$/, '')}`);
}
