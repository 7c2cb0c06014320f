import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib/core';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ServiceFunction } from '../../lib/constructs/service-function.ts';
import { inRepository } from './repository.ts';

/** Bundles files of `functions/` into a folder by the CDK, as a deployment with no options does. @param only these; else all */
export function bundleFunctions(outdir: string, only?: string[]): { functionName: string; file: string }[] {
  const app = new App({
    outdir,
    context: { 'aws:cdk:enable-asset-metadata': true },
    builtinCloudFormationValidation: false,
  });
  const stack = new Stack(app, 'Bundles');
  const functionNames =
    only ?? readdirSync(inRepository('functions')).map((file) => file.replace(/\.ts$/, ''));
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
