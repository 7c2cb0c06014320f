import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { Failure } from '../common/failure.ts';
import { nonEmpty, region as regionValue } from '../common/values.ts';
import { findAccount, isBootstrapped, type Account } from './account.ts';
import { runOnTerminal } from './child-process.ts';
import { runCommand } from '../common/command-line.ts';
import { readDeployment, type Deployment } from './deployment.ts';
import { nextSteps, type Outputs } from './next-steps.ts';

/** What a deployment runs, each as a file with its first arguments. */
export interface Programs {
  /** The repository, where the programs run. It ends in a slash. */
  root: string;
  cdk: readonly string[];
  buildDashboard: readonly string[];
}

interface Flags {
  config?: string;
  bootstrap?: boolean;
  profile?: string;
  region?: string;
  yes?: boolean;
}

const nodeMajor = 24;

/** Checks what a deployment needs, then deploys. @returns the exit code: the CDK's own where it failed. */
export async function runDeploy(args: string[], programs: Programs): Promise<number> {
  const command = new Command('deploy')
    .description('Deploys the Image Generation Service into an AWS account, or brings it up to date there.')
    .option('--config <file>', 'JSON file with the options (default: cdk.json, context.configuration)')
    .option('--bootstrap', 'prepare the account and region for the CDK, if that was never done')
    .option('--profile <name>', 'the AWS profile (default: AWS_PROFILE)', nonEmpty('--profile'))
    .option(
      '--region <region>',
      "the AWS region (default: AWS_REGION, or the profile's)",
      regionValue('--region'),
    )
    .option('-y, --yes', 'do not ask before permissions and network rules change')
    .addHelpText('after', '\nOptions of a deployment, and what comes after it: docs/deploying.md');
  return runCommand(command, args, () => deploy(command.opts<Flags>(), programs));
}

async function deploy(flags: Flags, programs: Programs): Promise<number> {
  checkTools(programs);
  const deployment = readDeployment(programs.root, flags.config);
  const profile = chooseEnvironment(flags);
  const account = await findAccount();
  say(
    `Deploying ${deployment.stackName} to account ${account.accountId} in ${account.region}, as ${account.caller}.`,
  );
  const where = ['--region', account.region, ...(profile === undefined ? [] : ['--profile', profile])];
  if (!(await isBootstrapped(account))) {
    if (!flags.bootstrap) throw notBootstrapped(account);
    const environment = `aws://${account.accountId}/${account.region}`;
    const code = await runOnTerminal([...programs.cdk, 'bootstrap', environment, ...where], programs.root);
    if (code !== 0) return code;
  }
  const built = await runOnTerminal(programs.buildDashboard, programs.root);
  if (built !== 0) return built;
  return deployStack(deployment, [...where, ...(flags.yes ? ['--require-approval', 'never'] : [])], {
    ...programs,
    whenDone: (outputs) => say(`\n${nextSteps({ ...deployment, region: account.region, profile }, outputs)}`),
  });
}

function checkTools({ root, cdk }: Programs): void {
  if (Number.parseInt(process.versions.node, 10) < nodeMajor) {
    throw new Failure(
      `Node.js ${nodeMajor} is needed, and this is ${process.versions.node}: use "npm run deploy", which brings it.`,
    );
  }
  if (!cdk.every((part) => existsSync(part))) {
    throw new Failure(`The CDK is not installed in ${root}: run "npm ci" there first.`);
  }
}

/**
 * Makes the SDK and the CDK use the same profile and region. By default each looks them up in its own order.
 * @returns the profile, if one is meant.
 */
function chooseEnvironment(flags: Flags): string | undefined {
  const { env } = process;
  const profile = flags.profile ?? (env.AWS_PROFILE || undefined);
  const region = flags.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION);
  if (profile !== undefined) env.AWS_PROFILE = profile;
  if (region) env.AWS_REGION = region;
  // An empty variable would hide the profile's region.
  else delete env.AWS_REGION;
  return profile;
}

function notBootstrapped({ accountId, region }: Account): Failure {
  return new Failure(
    `The account ${accountId} was never prepared for the CDK in ${region}: add --bootstrap to do so now.`,
  );
}

interface Deploying extends Programs {
  whenDone(outputs: Outputs): void;
}

async function deployStack(
  { stackName, contextArguments }: Deployment,
  options: string[],
  { cdk, root, whenDone }: Deploying,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'image-generation-deploy-'));
  try {
    const outputsFile = join(folder, 'outputs.json');
    const command = [
      ...cdk,
      'deploy',
      stackName,
      '--outputs-file',
      outputsFile,
      ...contextArguments,
      ...options,
    ];
    const code = await runOnTerminal(command, root);
    if (code > 128)
      say('\nWhat CloudFormation has begun goes on without this terminal: deploy again to follow it.');
    if (code === 0) whenDone(readOutputs(outputsFile, stackName));
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readOutputs(path: string, stackName: string): Outputs {
  try {
    const stacks = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Outputs>;
    return stacks[stackName] ?? {};
  } catch (cause) {
    throw new Failure('The CDK left no outputs: see them in the CloudFormation console.', 1, { cause });
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
