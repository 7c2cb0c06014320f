import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach } from '@jest/globals';
import type { Aws } from '../../../bin/deploy/aws.ts';
import { deploymentOf, type Deployment } from '../../../bin/deploy/deployment.ts';
import { readConfiguration } from '../../../lib/configuration.ts';
import { runProgram, type Run } from '../../support/run-program.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';
import { region, stackName, startAws, type StandInAccount, type StandInAws } from './stand-in-aws.ts';

export const outputs = {
  BaseUrl: 'https://api.example.test/api/v1',
  DashboardUrl: 'https://app.example.test/',
  UserPoolId: 'eu-west-1_Pool',
  ModelEndpointName: 'a-model',
};

export interface StandInCall {
  args: string[];
  profile?: string;
  region?: string;
}

export interface Deploy extends Run {
  calls: StandInCall[];
  /** What AWS was asked. */
  asked: StandInAws['calls'];
}

export interface DeployOptions extends StandInAccount {
  /** Of the stand-ins' behavior. */
  env?: Record<string, string>;
  /** Sends SIGINT as soon as this is on stdout. */
  interruptAt?: string;
}

const program = join(import.meta.dirname, 'deploy-process.ts');

/** A folder with the repository that is deployed: a `cdk.json` without options and nothing else. */
export function useDeploy() {
  const folder = temporaryFolder();
  const root = join(folder, 'repository');
  mkdirSync(root);
  const configure = (configuration: unknown) =>
    writeFileSync(
      join(root, 'cdk.json'),
      JSON.stringify({ app: 'node bin/app.ts', context: { configuration } }),
    );
  beforeEach(() => configure({}));
  afterAll(() => removeFolder(folder));
  return {
    /** Where the deployment is run, and temporary files lie. */
    folder,
    root,
    configure,
    deploy: (args: string[], options: DeployOptions = {}) => deploy(folder, root, args, options),
  };
}

async function deploy(folder: string, root: string, args: string[], options: DeployOptions): Promise<Deploy> {
  const log = join(folder, 'calls');
  rmSync(log, { force: true });
  const aws = await startAws(options);
  const { interruptAt } = options;
  const run = await runProgram(program, args, {
    cwd: folder,
    env: {
      TMPDIR: folder,
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ACCESS_KEY_ID: 'AKIDTEST',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: region,
      AWS_ENDPOINT_URL: aws.url,
      STAND_IN_LOG: log,
      STAND_IN_TIME_LIMIT_MS: '60000',
      STAND_IN_ROOT: `${root}/`,
      STAND_IN_OUTPUTS: JSON.stringify({ [stackName]: outputs }),
      ...options.env,
    },
    ...(interruptAt !== undefined && { interruptAt }),
  });
  await aws.close();
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  return { ...run, asked: aws.calls, calls: lines.map((line) => JSON.parse(line) as StandInCall) };
}

/** The configuration of a model of its own. */
export const withModel = {
  inference: { kind: 'endpoint', modelData: 's3://weights/sdxl/', zones: ['eu-west-1a', 'eu-west-1b'] },
};

export function deploymentFor(options: unknown): Deployment {
  return deploymentOf(readConfiguration(options, 'The options'), []);
}

/** Runs something in this process that asks an account on AWS. */
export async function inAccount<T>(
  account: StandInAccount,
  run: (aws: Aws, calls: StandInAws['calls']) => Promise<T>,
  timeLimitMs?: number,
): Promise<T> {
  const server = await startAws(account);
  return atEndpoint(server.url, (aws) => run(aws, server.calls), timeLimitMs).finally(() => server.close());
}

/** Runs something in this process whose questions all services of AWS answer at one address. */
export async function atEndpoint<T>(
  url: string,
  run: (aws: Aws) => Promise<T>,
  timeLimitMs = 60_000,
): Promise<T> {
  process.env.AWS_ENDPOINT_URL = url;
  const credentials = async () => ({ accessKeyId: 'test', secretAccessKey: 'test' });
  const settings = { region, credentials } as Aws['settings'];
  const options = ['--region', region];
  return run({ settings, accountId: '123456789012', options, timeLimitMs }).finally(() => {
    delete process.env.AWS_ENDPOINT_URL;
  });
}
