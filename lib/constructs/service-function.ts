import { fileURLToPath } from 'node:url';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Stats, type Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Alias, Architecture, LoggingFormat, Runtime, Tracing, type IVersion } from 'aws-cdk-lib/aws-lambda';
import {
  NodejsFunction,
  OutputFormat,
  SourceMapMode,
  type ICommandHooks,
} from 'aws-cdk-lib/aws-lambda-nodejs';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { environmentVariables, type VariableName } from '../../shared/base/config.ts';
import { accept } from './accepted-findings.ts';
import { WholeRole } from './whole-role.ts';

export interface ServiceFunctionProps {
  /** The name of the file in `functions/`, without `.ts`. */
  readonly functionName: string;
  /** The dimension of its metrics. */
  readonly serviceName: string;
  readonly timeout: Duration;
  /** @default 256 */
  readonly memoryMb?: number;
  readonly logRetention: RetentionDays;
  /** Executions that no other function can take away, and the most that this one has. @default none */
  readonly reservedConcurrency?: number;
  /** Extra files beside the code: name to content. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether the deployment checks prompts. @default false */
  readonly checksPrompts?: boolean;
}

/** The name of each function's alias. */
const liveAlias = 'live';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const noValidator = `${projectRoot}shared/mcp/no-validator.ts`;
const noPromptCheck = `${projectRoot}shared/http/no-prompt-check.ts`;
const lambdaCredentials = `${projectRoot}shared/base/lambda-credentials.ts`;

/**
 * One function of the service: its file in `functions/` bundled with everything that it imports, the SDK too, for the
 * Node.js version of development. It may only write its log and traces until something is granted to it.
 */
export class ServiceFunction extends NodejsFunction {
  /** What everything calls. A deployment moves it from the last version of the code to the next one. */
  readonly live: Alias;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Log`, {
      retention: props.logRetention,
      // What was done is asked after a stack was deleted, too. CloudFormation gives each a new name.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    const description = `Image Generation Service: ${props.functionName}`;
    const assumedBy = new ServicePrincipal('lambda.amazonaws.com');
    const role = new WholeRole(scope, `${id}Role`, { description, assumedBy });
    logGroup.grantWrite(role);
    super(scope, id, {
      role,
      entry: `${projectRoot}functions/${props.functionName}.ts`,
      projectRoot,
      depsLockFilePath: `${projectRoot}package-lock.json`,
      description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb ?? 256,
      timeout: props.timeout,
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
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
        // The log reads it when it writes an error (shared/base/original-frame.ts).
        sourceMap: true,
        sourceMapMode: SourceMapMode.EXTERNAL,
        sourcesContent: false,
        mainFields: ['module', 'main'],
        bundleAwsSDK: true,
        // The SDK can read credentials from many places, and the code for that is a sixth of a bundle. Lambda uses one.
        esbuildArgs: {
          '--alias:@aws-sdk/credential-provider-node': lambdaCredentials,
          // The protocol's SDK brings a validator that nothing here asks for.
          '--alias:@modelcontextprotocol/server/_shims': noValidator,
          ...(!props.checksPrompts && { '--alias:#prompt-check': noPromptCheck }),
          // This turns the SDK's `import('node:http')` into a `require`, too.
          '--supported:dynamic-import': 'false',
        },
        commandHooks: filesBeside(props.files ?? {}),
      },
    });
    this.live = new Alias(this, 'Live', { aliasName: liveAlias, version: this.currentVersion as IVersion });
    this.setVariable(environmentVariables.serviceName, props.serviceName);
    accept(role, { 'AwsSolutions-IAM5[Resource::*]': 'X-Ray takes traces for no resource in particular.' });
  }

  /** The live alias, by its name: who calls it need not wait for its deployment. */
  get liveArn(): string {
    return `${this.functionArn}:${liveAlias}`;
  }

  /**
   * How often the version that is deployed was called by the live alias, or crashed (AWS Lambda guide, "Working with Lambda
   * function metrics": the dimension `ExecutedVersion`).
   */
  metricOfVersion(name: 'Invocations' | 'Errors', options: MetricOptions): Metric {
    const { functionName, currentVersion } = this;
    return this.metric(name, {
      statistic: Stats.SUM,
      ...options,
      dimensionsMap: {
        FunctionName: functionName,
        Resource: `${functionName}:${liveAlias}`,
        ExecutedVersion: currentVersion.version,
      },
    });
  }

  /** Where the live alias is invoked (AWS Lambda API, "Invoke"). */
  private get invocationsUrl(): string {
    const { region, urlSuffix } = Stack.of(this);
    const path = `/2015-03-31/functions/${this.functionName}%3A${liveAlias}/invocations`;
    return `https://lambda.${region}.${urlSuffix}${path}`;
  }

  /** @param urlVariable the caller's variable for where to call it */
  allowInvocationBy(caller: ServiceFunction, urlVariable: VariableName): void {
    caller.setVariable(urlVariable, this.invocationsUrl);
    caller.addToRolePolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.liveArn] }),
    );
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

/** A construct's id for a function's name. */
export function pascalCase(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase());
}
