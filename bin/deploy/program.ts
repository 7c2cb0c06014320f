import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { runCommand, withOptions, type OptionRow } from '../common/command-line.ts';
import { Failure } from '../common/failure.ts';
import { errorLine, printable } from '../common/output.ts';
import { nonEmpty, oneOf, region as regionValue } from '../common/values.ts';
import { defaultTimeLimitMs, findAccount, isBootstrapped, type Account } from './aws.ts';
import { deployStacks, runOnTerminal } from './cdk.ts';
import { parts, readDeployment, stacksToDeploy, type Part } from './deployment.ts';
import { modelNextSteps, nextSteps } from './next-steps.ts';
import { removeOldModels } from './old-models.ts';
import type { Finding, Plan } from './preflight/check.ts';
import { preflight, type Preflight } from './preflight/preflight.ts';
import { liftProtection } from './stacks.ts';

/** What a deployment runs, each as a file with its first arguments. */
export interface Programs {
  /** The repository, where the programs run. It ends in a slash. */
  root: string;
  cdk: readonly string[];
  buildDashboard: readonly string[];
  /** How long AWS may take to answer one question. @default 20 seconds */
  timeLimitMs?: number;
  /** How long the last generations on a model may run before it is deleted. @default the longest deadline of a generation */
  drainMs?: number;
}

interface Flags {
  config?: string;
  only?: Part;
  atOnce?: boolean;
  bootstrap?: boolean;
  newData?: boolean;
  profile?: string;
  region?: string;
  yes?: boolean;
}

const description =
  'Deploys the Image Generation Service into an AWS account, or brings it up to date there: the stack of the model, ' +
  'if the configuration has one, then the stack of the service.';
const onlyOne =
  'deploy only the "service" or only the "model", so that a fix of the service never waits for an endpoint';
const unasked =
  'do not ask before permissions and network rules change, nor before models that are no longer used are deleted';

const flagRows: OptionRow[] = [
  ['--config <file>', 'JSON file with the options (default: cdk.json, context.configuration)'],
  ['--only <part>', onlyOne, oneOf(parts)],
  ['--at-once', 'give new functions all calls at once, so that no alarm stops or takes back the deployment'],
  ['--bootstrap', 'prepare the account and region for the CDK, if that was never done'],
  ['--new-data', 'make a new table, bucket and user pool, although old ones are still there'],
  ['--profile <name>', 'the AWS profile (default: AWS_PROFILE)', nonEmpty],
  ['--region <region>', "the AWS region (default: AWS_REGION, or the profile's)", regionValue],
  ['-y, --yes', unasked],
];

/** Checks what a deployment needs, then deploys. @returns the exit code: the CDK's own where it failed. */
export async function runDeploy(args: string[], programs: Programs): Promise<number> {
  const command = withOptions(new Command('deploy').description(description), flagRows).addHelpText(
    'after',
    '\nOptions of a deployment, and what comes after it: docs/deploying.md',
  );
  return runCommand(command, args, () => deploy(command.opts<Flags>(), programs));
}

async function deploy(flags: Flags, programs: Programs): Promise<number> {
  checkCdk(programs);
  const deployment = readDeployment(programs.root, flags.config);
  const targets = stacksToDeploy(deployment, flags.only);
  const account = await findAccount(chooseEnvironment(flags), programs.timeLimitMs ?? defaultTimeLimitMs);
  const { accountId, settings, caller } = account;
  say(`Deploying ${targets.join(', ')} to account ${accountId} in ${settings.region}, as ${caller}.`);
  const isPrepared = await isBootstrapped(account);
  if (!isPrepared && !flags.bootstrap) throw notBootstrapped(account);
  const plan: Plan = { aws: account, deployment, targets, newData: flags.newData ?? false };
  const checked = await preflight(plan);
  if (!mayBegin(checked.findings)) return 1;
  const prepared = isPrepared ? 0 : await bootstrap(account, programs);
  if (prepared !== 0) return prepared;
  const built = await runOnTerminal(programs.buildDashboard, programs.root);
  if (built !== 0) return built;
  return deployPlan(plan, checked, flags, programs);
}

function checkCdk({ root, cdk }: Programs): void {
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

function notBootstrapped({ accountId, settings }: Account): Failure {
  return new Failure(
    `The account ${accountId} was never prepared for the CDK in ${settings.region}: add --bootstrap to do so now.`,
  );
}

/** Prints what was found. @returns whether nothing stops the deployment. */
function mayBegin(findings: Finding[]): boolean {
  for (const { stops, sentence } of findings) if (!stops) say(`note: ${printable(sentence)}`);
  const stops = findings.filter((finding) => finding.stops);
  for (const { sentence } of stops) process.stderr.write(errorLine(sentence));
  return stops.length === 0;
}

function bootstrap({ accountId, settings, options }: Account, { cdk, root }: Programs): Promise<number> {
  return runOnTerminal([...cdk, 'bootstrap', `aws://${accountId}/${settings.region}`, ...options], root);
}

async function deployPlan(
  { aws, deployment, targets }: Plan,
  { neverCreated, accountConcurrency, reservedByOthers, mailIdentity }: Preflight,
  { only, yes = false, atOnce = false }: Flags,
  { cdk, root, drainMs }: Programs,
): Promise<number> {
  for (const stack of neverCreated) {
    await liftProtection(aws, stack);
    say(`The termination protection of ${stack} is lifted, so that the CDK can delete what is left of it.`);
  }
  const options = [
    ...(only === undefined ? [] : ['--exclusively']),
    ...deployment.contextArguments,
    ...(accountConcurrency === null ? [] : ['-c', `accountConcurrency=${accountConcurrency}`]),
    ...(atOnce ? ['-c', 'atOnce=true'] : []),
    ...(mailIdentity === null ? [] : ['-c', `mailIdentity=${mailIdentity}`]),
    ...(reservedByOthers === 0 ? [] : ['-c', `reservedByOthers=${reservedByOthers}`]),
    ...aws.options,
    ...(yes ? ['--require-approval', 'never'] : []),
  ];
  const { exitCode, outputs } = await deployStacks({ cdk, root, stacks: targets, options });
  if (exitCode > 128) {
    say('\nWhat CloudFormation has begun goes on without this terminal. Deploy again when it has ended.');
  }
  if (exitCode !== 0) return exitCode;
  const place = { ...deployment, region: aws.settings.region, profile: process.env.AWS_PROFILE || undefined };
  if (only === 'model') {
    say(`\n${modelNextSteps(deployment.modelStackName!, place)}`);
    return 0;
  }
  say(`\n${nextSteps(place, outputs[deployment.stackName] ?? {})}`);
  const terminal = { input: process.stdin, output: process.stderr };
  const { generationDeadlineSeconds, asyncDeadlineSeconds } = deployment.configuration;
  const waitMs = drainMs ?? Math.max(generationDeadlineSeconds, asyncDeadlineSeconds) * 1000;
  await removeOldModels(aws, deployment, { yes, waitMs, terminal, say });
  return 0;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
