import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { asFailure, Failure } from '../common/failure.ts';
import { describeStack } from '../common/stack.ts';

/** Where a deployment goes, and how AWS is asked about it. */
export interface Aws {
  settings: { region: string; credentials: STSClient['config']['credentials'] };
  accountId: string;
  /** The options of the AWS CLI and the CDK for this place: `--region eu-west-1`. */
  options: string[];
  /** How long AWS may take to answer one question. */
  timeLimitMs: number;
}

export const defaultTimeLimitMs = 20_000;

/** A command of the AWS CLI for this place, to be pasted. */
export function cliCommand({ options }: Pick<Aws, 'options'>, command: string): string {
  return ['aws', command, ...options].join(' ');
}

interface Client {
  destroy(): void;
}
type Limited = { abortSignal: AbortSignal };

/**
 * Asks AWS with a client of its own. The time limit is for the whole question, with its pages and repetitions.
 * @throws Failure after the time limit; the SDK's error if AWS refuses.
 */
export async function ask<C extends Client, T>(
  { settings, timeLimitMs }: Pick<Aws, 'settings' | 'timeLimitMs'>,
  ClientOfService: new (settings: Aws['settings']) => C,
  question: (client: C, options: Limited) => Promise<T>,
): Promise<T> {
  // Looking for credentials may ask the person for a code, which takes as long as it takes.
  await settings.credentials();
  const client = new ClientOfService(settings);
  const abortSignal = AbortSignal.timeout(timeLimitMs);
  try {
    return await question(client, { abortSignal });
  } catch (error) {
    if (!abortSignal.aborted) throw error;
    throw new Failure(`AWS did not answer within ${timeLimitMs / 1000} seconds.`, 1, { cause: error });
  } finally {
    client.destroy();
  }
}

export function isMissingPermission(error: unknown): boolean {
  return error instanceof Error && /^(AccessDenied|UnauthorizedOperation|NotAuthorized)/.test(error.name);
}

/** The account and region of a deployment, and who deploys. */
export interface Account extends Aws {
  /** The ARN of whoever deploys. */
  caller: string;
}

/** The stack that `cdk bootstrap` makes in an account and region. */
const bootstrapStack = 'CDKToolkit';

/**
 * Asks AWS whose credentials these are. Profile and region come from the environment, as the SDK reads them.
 * @param profile the one that was named, if one was
 * @throws Failure that says how to get a region or credentials.
 */
export async function findAccount(profile: string | undefined, timeLimitMs: number): Promise<Account> {
  const sts = new STSClient({});
  try {
    const region = await sts.config.region();
    const settings = { region, credentials: sts.config.credentials };
    const { Account: accountId, Arn: caller } = await ask(
      { settings, timeLimitMs },
      STSClient,
      (client, options) => client.send(new GetCallerIdentityCommand({}), options),
    );
    const options = ['--region', region, ...(profile === undefined ? [] : ['--profile', profile])];
    return { settings, accountId: accountId!, caller: caller!, options, timeLimitMs };
  } catch (error) {
    throw accountFailure(error as Error);
  } finally {
    sts.destroy();
  }
}

function accountFailure(error: Error): Failure {
  const isRefusal = '$metadata' in error && '$fault' in error;
  if (isRefusal) {
    const sentence = `AWS refused the credentials (${error.name}): sign in again, or name another profile with --profile.`;
    return new Failure(sentence, 1, { cause: error });
  }
  if (error.name === 'CredentialsProviderError') {
    const sentence =
      `There are no AWS credentials to deploy with (${error.message.replace(/\.$/, '')}): ` +
      'sign in with "aws login", "aws sso login" or "aws configure", or name a profile with --profile.';
    return new Failure(sentence, 1, { cause: error });
  }
  return asFailure(error, null);
}

/** Whether `cdk bootstrap` has prepared the account and region completely. @throws Failure */
export async function isBootstrapped(aws: Aws): Promise<boolean> {
  const stack = await ask(aws, CloudFormationClient, (client, options) =>
    describeStack(client, bootstrapStack, options),
  ).catch((error: unknown) => {
    throw asFailure(error, null);
  });
  return stack?.Outputs?.some(({ OutputKey: key }) => key === 'BootstrapVersion') ?? false;
}
