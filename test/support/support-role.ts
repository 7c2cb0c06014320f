import { supportPolicy } from '../../bin/admin/roles.ts';
import type { Statement } from './policies.ts';

export const supportPlace = {
  partition: 'aws',
  region: 'eu-west-1',
  accountId: '123456789012',
  stackName: 'images',
  tableName: 'records',
  userPoolId: 'eu-west-1_pool',
};

/** The policy for support as the judges of policies take it. */
export function supportStatements(): Statement[] {
  return supportPolicy(supportPlace).Statement.map((statement) => ({
    effect: statement.Effect,
    actions: statement.Action,
    resources: [statement.Resource].flat(),
    conditions: 'Condition' in statement ? statement.Condition : {},
  }));
}
