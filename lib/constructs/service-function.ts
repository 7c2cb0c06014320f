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
  /** The name of the file in `functions/`, without `.ts`. */
  readonly functionName: string;
  /** The dimension of its metrics. */
  readonly serviceName: string;
  readonly timeout: Duration;
  /** @default 256 */
  readonly memoryMb?: number;
  readonly logRetention: RetentionDays;
  /** Extra files beside the code: name to content. */
  readonly files?: Readonly<Record<string, string>>;
}

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const lambdaCredentials = `${projectRoot}shared/adapters/lambda-credentials.ts`;

/**
 * One function of the service: its file in `functions/` bundled with everything that it imports, the SDK too, for the
 * Node.js version of development. It may only write its log and traces until something is granted to it.
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
      // The functions write JSON themselves. Lambda's own JSON format would wrap it and hide the metrics.
      loggingFormat: LoggingFormat.TEXT,
      bundling: {
        // If an ES module imports `node:http`, Node.js also loads undici and other unused modules to learn their exports.
        // That is 8% of import and first call. `require` loads only what is used.
        format: OutputFormat.CJS,
        target: 'node24',
        minify: true,
        mainFields: ['module', 'main'],
        bundleAwsSDK: true,
        // The SDK can read credentials from many places, and the code for that is a sixth of a bundle. Lambda uses one.
        esbuildArgs: {
          '--alias:@aws-sdk/credential-provider-node': lambdaCredentials,
          // This turns the SDK's `import('node:http')` into a `require`, too.
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

/** Commands that write the files into the bundle. They use Node.js, so that they work in every shell. */
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
