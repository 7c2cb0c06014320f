import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const stackName = 'image-generation-prod';

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

export interface Deploy {
  code: number | null;
  stdout: string;
  stderr: string;
  calls: StandInCall[];
}

export interface DeployOptions {
  /** Of AWS's answers and the stand-ins' behavior. */
  env?: Record<string, string>;
  /** Whether the account was prepared for the CDK. Default true. */
  bootstrapped?: 'yes' | 'no' | 'halfway';
  /** What STS answers with instead of an identity. */
  refusal?: string;
  /** Sends this signal once the stand-in says that it waits. */
  signalWhenWaiting?: NodeJS.Signals;
}

export interface DeployWorld {
  /** The repository that is deployed: a `cdk.json` and nothing else. */
  root: string;
  configure(configuration: unknown): void;
  deploy(args: string[], options?: DeployOptions): Promise<Deploy>;
  close(): void;
}

const program = fileURLToPath(new URL('deploy-process.ts', import.meta.url));

export function openDeployWorld(): DeployWorld {
  const folder = mkdtempSync(join(tmpdir(), 'deploy-test-'));
  const root = join(folder, 'repository');
  mkdirSync(root);
  const configure = (configuration: unknown) =>
    writeFileSync(
      join(root, 'cdk.json'),
      JSON.stringify({ app: 'node bin/app.ts', context: { configuration } }),
    );
  configure({});
  return {
    root,
    configure,
    deploy: (args, options = {}) => deploy(folder, root, args, options),
    close: () => rmSync(folder, { recursive: true }),
  };
}

async function deploy(folder: string, root: string, args: string[], options: DeployOptions): Promise<Deploy> {
  const log = join(folder, 'calls');
  rmSync(log, { force: true });
  const aws = await startAws(options);
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: {
      PATH,
      TMPDIR: folder,
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ACCESS_KEY_ID: 'AKIDTEST',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL_STS: aws.url,
      AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url,
      STAND_IN_LOG: log,
      STAND_IN_ROOT: `${root}/`,
      STAND_IN_OUTPUTS: JSON.stringify({ [stackName]: outputs }),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    if (options.signalWhenWaiting && chunk.includes('waiting')) child.kill(options.signalWhenWaiting);
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  aws.close();
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  return { code, stdout, stderr, calls: lines.map((line) => JSON.parse(line) as StandInCall) };
}

/** GetCallerIdentity of STS and DescribeStacks of CloudFormation, in their XML. */
async function startAws({ bootstrapped = 'yes', refusal }: DeployOptions) {
  const failure = (code: string, message: string) =>
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
  const identity =
    '<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/olga</Arn>' +
    '<UserId>AIDA</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>';
  // Its bucket is made before its version can be told.
  const keys = bootstrapped === 'yes' ? ['BucketName', 'BootstrapVersion'] : ['BucketName'];
  const members = keys.map(
    (key) => `<member><OutputKey>${key}</OutputKey><OutputValue>30</OutputValue></member>`,
  );
  const stack = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>CDKToolkit</StackName><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const server = createServer(async (request, response) => {
    const body = await request.reduce((text: string, chunk: Buffer) => text + chunk.toString(), '');
    const asked = new URLSearchParams(body);
    const asksWho = asked.get('Action') === 'GetCallerIdentity';
    const refused = asksWho ? refusal !== undefined : bootstrapped === 'no';
    const missing = failure('ValidationError', `Stack with id ${asked.get('StackName')} does not exist`);
    response.writeHead(refused ? 400 : 200, { 'content-type': 'text/xml' });
    if (asksWho) response.end(refused ? failure(refusal!, 'No.') : identity);
    else response.end(refused ? missing : stack);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
