import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { asFailure, Failure } from '../common/failure.ts';

/** The account and region of a deployment, and who deploys. */
export interface Account {
  accountId: string;
  region: string;
  /** The ARN of whoever deploys. */
  caller: string;
}

/** The stack that `cdk bootstrap` makes in an account and region. */
const bootstrapStack = 'CDKToolkit';

/**
 * Asks AWS whose credentials these are. Profile and region come from the environment, as the SDK reads them.
 * @throws Failure that says how to get a region or credentials.
 */
export async function findAccount(): Promise<Account> {
  const sts = new STSClient({});
  try {
    const region = await sts.config.region();
    const { Account: accountId, Arn: caller } = await sts.send(new GetCallerIdentityCommand({}));
    return { accountId: accountId!, region, caller: caller! };
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
export async function isBootstrapped({ region }: Account): Promise<boolean> {
  const client = new CloudFormationClient({ region });
  try {
    const { Stacks: stacks } = await client.send(new DescribeStacksCommand({ StackName: bootstrapStack }));
    return stacks?.[0]?.Outputs?.some(({ OutputKey: key }) => key === 'BootstrapVersion') ?? false;
  } catch (error) {
    if (error instanceof Error && /does not exist/.test(error.message)) return false;
    throw asFailure(error, null);
  } finally {
    client.destroy();
  }
}
