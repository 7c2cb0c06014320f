import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeEach } from '@jest/globals';
import { listen } from '../../../local/http/server.ts';
import { runProgram, type Run } from '../../support/run-program.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';

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

export interface Deploy extends Run {
  calls: StandInCall[];
}

export interface DeployOptions {
  /** Of AWS's answers and the stand-ins' behavior. */
  env?: Record<string, string>;
  /** Whether the account was prepared for the CDK. Default true. */
  bootstrapped?: 'yes' | 'no' | 'halfway';
  /** What STS answers with instead of an identity. */
  refusal?: string;
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
      AWS_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL_STS: aws.url,
      AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url,
      STAND_IN_LOG: log,
      STAND_IN_ROOT: `${root}/`,
      STAND_IN_OUTPUTS: JSON.stringify({ [stackName]: outputs }),
      ...options.env,
    },
    ...(interruptAt !== undefined && { interruptAt }),
  });
  await aws.close();
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  return { ...run, calls: lines.map((line) => JSON.parse(line) as StandInCall) };
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
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const asked = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    const asksWho = asked.get('Action') === 'GetCallerIdentity';
    const refused = asksWho ? refusal !== undefined : bootstrapped === 'no';
    const missing = failure('ValidationError', `Stack with id ${asked.get('StackName')} does not exist`);
    response.writeHead(refused ? 400 : 200, { 'content-type': 'text/xml' });
    if (asksWho) response.end(refused ? failure(refusal!, 'No.') : identity);
    else response.end(refused ? missing : stack);
  };
  return listen(createServer((request, response) => void answer(request, response)));
}
