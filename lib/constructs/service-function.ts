import { fileURLToPath } from 'node:url';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Architecture, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat, type ICommandHooks } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { environmentVariables, type VariableName } from '../../shared/config.ts';
import { accept } from './accepted-findings.ts';

export interface ServiceFunctionProps {
  /** The file in `functions/`, without its ending. */
  readonly functionName: string;
  /** What its metrics are kept under. */
  readonly serviceName: string;
  readonly timeout: Duration;
  /** @default 256 */
  readonly memoryMb?: number;
  readonly logRetention: RetentionDays;
  /** Files that lie beside the code, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
export const lambdaCredentials = `${projectRoot}shared/adapters/lambda-credentials.ts`;

/**
 * One function of the service: its file in `functions/` as one minified file with everything in it, the SDK too,
 * on the Node.js that development uses. It may touch nothing until something is granted to it.
 */
export class ServiceFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Log`, {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, {
      description: `Image Generation Service: ${props.functionName}`,
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    logGroup.grantWrite(role);
    super(scope, id, {
      role,
      entry: `${projectRoot}functions/${props.functionName}.ts`,
      projectRoot,
      depsLockFilePath: `${projectRoot}package-lock.json`,
      description: `Image Generation Service: ${props.functionName}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb ?? 256,
      timeout: props.timeout,
      tracing: Tracing.ACTIVE,
      logGroup,
      // The functions write JSON themselves; Lambda's own wrapping would hide the metrics in it.
      loggingFormat: LoggingFormat.TEXT,
      bundling: {
        // An ES module that imports `node:http` makes Node.js load all of undici, and parts of other modules that nobody
        // uses, to know their exports: 8% of import and first call. `require` loads what is asked for.
        format: OutputFormat.CJS,
        target: 'node24',
        minify: true,
        mainFields: ['module', 'main'],
        bundleAwsSDK: true,
        // Of the places where the SDK looks for credentials, Lambda has one: the others are a sixth of a bundle.
        esbuildArgs: {
          '--alias:@aws-sdk/credential-provider-node': lambdaCredentials,
          // The SDK's `import('node:http')` becomes a `require`, too.
          '--supported:dynamic-import': 'false',
        },
        commandHooks: filesBeside(props.files ?? {}),
      },
    });
    this.setVariable(environmentVariables.serviceName, props.serviceName);
    accept(role, { 'AwsSolutions-IAM5[Resource::*]': 'X-Ray takes traces for no resource in particular.' });
  }

  setVariable(name: VariableName, value: string): void {
    this.addEnvironment(name, value);
  }
}

/** Commands that write files into the bundle, by a program that every shell can start. */
function filesBeside(files: Readonly<Record<string, string>>): ICommandHooks {
  const write = `require('fs').writeFileSync(process.argv[1], Buffer.from(process.argv[2], 'base64'))`;
  return {
    beforeBundling: () => [],
    beforeInstall: () => [],
    afterBundling: (_inputFolder, outputFolder) =>
      Object.entries(files).map(
        ([name, content]) =>
          `node -e "${write}" "${outputFolder}/${name}" ${Buffer.from(content).toString('base64')}`,
      ),
  };
}
