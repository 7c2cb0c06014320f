import { partitions, type Partition } from '../../shared/table/schema.ts';
import { ownerIndex } from '../../shared/table/keys.ts';
import { usageFailure } from '../common/failure.ts';
import type { CommandRow } from './command.ts';

/** What support looks at: no credentials of links, no idempotency keys, no limits but when a key was last used. */
const readBySupport: readonly Partition[] = [
  'keys',
  'rateLogs',
  'licenses',
  'periods',
  'generations',
  'accounts',
  'catalog',
  'audit',
  'refusals',
  'owners',
];

export interface PolicyPlace {
  partition: string;
  region: string;
  accountId: string;
  stackName: string;
  tableName: string;
  userPoolId: string;
}

/**
 * IAM's policy for people who answer customers: `find`, and what `show`, `list`, `usage` and `audit` read. Nothing is written or
 * scanned, so neither `--prompt`, which writes why, nor `--scan` works with it; nor does a picture open.
 */
export function supportPolicy(place: PolicyPlace) {
  const { partition, region, accountId, stackName } = place;
  const arn = (service: string, name: string) => `arn:${partition}:${service}:${region}:${accountId}:${name}`;
  const table = arn('dynamodb', `table/${place.tableName}`);
  const allow = (Action: string[], Resource: string | string[]) => ({ Effect: 'Allow', Action, Resource });
  const leadingKeys = readBySupport.map((kind) => `${partitions[kind].leadingKey}*`);
  return {
    Version: '2012-10-17',
    Statement: [
      {
        ...allow(
          ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
          [table, `${table}/index/${ownerIndex.name}`],
        ),
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } },
      },
      allow(['cognito-idp:ListUsers'], arn('cognito-idp', `userpool/${place.userPoolId}`)),
      allow(
        ['cloudformation:DescribeStacks', 'cloudformation:ListStackResources'],
        arn('cloudformation', `stack/${stackName}/*`),
      ),
      // CloudFormation names log groups after the stack.
      allow(['logs:StartQuery', 'logs:GetQueryResults'], arn('logs', `log-group:${stackName}-*`)),
    ],
  };
}

export const rolesCommand: CommandRow = {
  name: 'roles',
  description: 'the IAM policy of a read-only role for people who answer customers, for --stack',
  examples: ['roles --stack image-generation-prod --json'],
  run: () => async (session) => {
    const { logs, stores, accounts } = session;
    const [, partition, accountId] = /:arn:([\w-]+):\w+::(\d{12}):/.exec(await session.operator()) ?? [];
    const region = await stores.table.client.config.region();
    if (logs === null || 'file' in logs || !partition || !accountId || accounts.poolId === null) {
      throw usageFailure('The policy names resources of a deployed stack: name it with --stack.');
    }
    const policy = supportPolicy({
      partition,
      region,
      accountId,
      stackName: logs.stackName,
      tableName: stores.table.name,
      userPoolId: accounts.poolId,
    });
    return { json: policy, text: JSON.stringify(policy, null, 2) };
  },
};
