import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import type { configuration } from '../../lib/configuration.ts';
import type { Template } from './policies.ts';

export type Options = z.input<typeof configuration>;

export interface Synthesized {
  /** The cloud assembly: the template and its assets. */
  folder: string;
  template: Template;
  templatePath: string;
  remove(): void;
}

const repository = new URL('../..', import.meta.url).pathname;

/** What the CDK reads from `cdk.json`: its own flags above all. */
export const cdkContext: Record<string, unknown> = JSON.parse(
  readFileSync(join(repository, 'cdk.json'), 'utf8'),
).context;

/** An account of everything that a deployment can have. */
export const everything: Options = {
  stage: 'test',
  domain: {
    apiName: 'api.example.com',
    apiCertificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/11111111-1111-1111-1111-111111111111',
    dashboardName: 'app.example.com',
    dashboardCertificateArn:
      'arn:aws:acm:us-east-1:123456789012:certificate/22222222-2222-2222-2222-222222222222',
    hostedZone: { id: 'Z0123456789ABC', name: 'example.com' },
  },
  inference: {
    kind: 'endpoint',
    image: { uri: '123456789012.dkr.ecr.eu-west-1.amazonaws.com/inference:1' },
    modelData: 's3://models.example/sdxl/',
  },
  alarmEmail: 'operator@example.com',
  allowedOrigins: ['http://localhost:5173'],
  billing: {
    eventBusName: 'aws.partner/stripe.com/ed_test',
    prices: { price_pro: { tier: 'pro', foundingCatalog: true } },
  },
};

/**
 * Runs the CDK's entry as `cdk synth` does: no account, no credentials, no network.
 * @param bundle builds the functions, which takes some seconds.
 * @throws Error with what it printed when it failed.
 */
export function synthesize(options: Options, { bundle = false } = {}): Synthesized {
  const folder = mkdtempSync(join(tmpdir(), 'cdk-out-'));
  const file = join(folder, 'configuration.json');
  writeFileSync(file, JSON.stringify(options));
  const context = { ...cdkContext, config: file, ...(bundle ? {} : { 'aws:cdk:bundling-stacks': [] }) };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/app.ts'], {
    cwd: repository,
    env: {
      PATH: `${repository}node_modules/.bin:${process.env.PATH}`,
      HOME: folder,
      CDK_OUTDIR: folder,
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
    encoding: 'utf8',
  });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (status !== 0) {
    remove();
    throw new Error(`${stdout}${stderr}`);
  }
  const templatePath = join(folder, `image-generation-${options.stage ?? 'prod'}.template.json`);
  return { folder, template: JSON.parse(readFileSync(templatePath, 'utf8')), templatePath, remove };
}

/** The folder of a function's code in the cloud assembly. */
export function assetOf({ template, folder }: Synthesized, functionId: string): string {
  const key: string = template.Resources[functionId]!.Properties.Code.S3Key;
  return join(folder, `asset.${key.replace(/\.zip$/, '')}`);
}
