import { Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { accept } from './accepted-findings.ts';

/** How long a copy is kept at most. */
export const oldestBackupDays = 365;

/**
 * Daily copies of the table for five weeks and monthly copies for a year, beside its point-in-time recovery. Images can be
 * generated again from their records.
 *
 * A copy is restored into a new table, with its old state: keys that were revoked later are valid again, credits that
 * were charged later are free again, and images that were made later have no record.
 */
export class Backups extends Construct {
  constructor(scope: Construct, id: string, { table }: { table: Table }) {
    super(scope, id);
    const { stackName, stackId } = Stack.of(this);
    const vault = new BackupVault(this, 'Vault', {
      // The vault must have a name, and it is kept when the stack is deleted. A part of the stack's id makes the name
      // unique, so that the stack can be deployed again.
      backupVaultName: `${stackName}-${Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', stackId))))}`,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    const plan = new BackupPlan(this, 'Plan', {
      backupPlanName: stackName,
      backupVault: vault,
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: 'Daily',
          scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
          deleteAfter: Duration.days(35),
        }),
        new BackupPlanRule({
          ruleName: 'Monthly',
          scheduleExpression: Schedule.cron({ day: '1', hour: '4', minute: '0' }),
          deleteAfter: Duration.days(oldestBackupDays),
        }),
      ],
    });
    const selection = plan.addSelection('Table', { resources: [BackupResource.fromDynamoDbTable(table)] });
    accept(selection, {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]':
        'The policy that AWS made for exactly this. AWS Backup alone can assume the role, and it has no permission to restore.',
    });
  }
}
