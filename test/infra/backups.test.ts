import { expect, test } from '@jest/globals';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { App, Stack } from 'aws-cdk-lib/core';
import { Backups } from '../../lib/constructs/backups.ts';
import { RecordTable } from '../../lib/constructs/record-table.ts';

const stack = new Stack(new App(), 'image-generation-test');
const { table } = new RecordTable(stack, 'Records');
const backups = new Backups(stack, 'Backups', { table });
const template = Template.fromStack(stack);

test('the table is copied every day for 35 days and every month for a year', () => {
  const TargetBackupVault = stack.resolve(backups.vault.backupVaultName);
  template.hasResourceProperties('AWS::Backup::BackupPlan', {
    BackupPlan: {
      BackupPlanRule: [
        {
          RuleName: 'Daily',
          ScheduleExpression: 'cron(0 3 * * ? *)',
          Lifecycle: { DeleteAfterDays: 35, MoveToColdStorageAfterDays: Match.absent() },
          TargetBackupVault,
        },
        {
          RuleName: 'Monthly',
          ScheduleExpression: 'cron(0 4 1 * ? *)',
          Lifecycle: { DeleteAfterDays: 365, MoveToColdStorageAfterDays: Match.absent() },
          TargetBackupVault,
        },
      ],
    },
  });
});

test('nothing but the table is copied', () => {
  template.resourceCountIs('AWS::Backup::BackupSelection', 1);
  template.hasResourceProperties('AWS::Backup::BackupSelection', {
    BackupSelection: {
      Resources: [stack.resolve(table.tableArn)],
      ListOfTags: Match.absent(),
      Conditions: Match.absent(),
    },
  });
});

test('the copies outlive the stack', () => {
  template.hasResource('AWS::Backup::BackupVault', {
    DeletionPolicy: 'RetainExceptOnCreate',
    UpdateReplacePolicy: 'Retain',
  });
});

test('a stack that is made anew finds no vault of its name', () => {
  const [vault] = Object.values(template.findResources('AWS::Backup::BackupVault'));
  expect(JSON.stringify(vault!.Properties.BackupVaultName)).toContain('AWS::StackId');
});

test('AWS Backup may make copies with its role, and nobody may restore with it', () => {
  template.resourceCountIs('AWS::IAM::Role', 1);
  const [role] = Object.values(template.findResources('AWS::IAM::Role'));
  const policies = JSON.stringify(role!.Properties.ManagedPolicyArns);
  expect(policies).toContain('AWSBackupServiceRolePolicyForBackup');
  expect(policies).not.toContain('Restore');
  expect(role!.Properties.AssumeRolePolicyDocument.Statement).toMatchObject([
    { Principal: { Service: 'backup.amazonaws.com' } },
  ]);
  expect(Object.keys(template.findResources('AWS::IAM::Policy'))).toEqual([]);
});
