import { describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../shared/base/config.ts';
import { preflight } from '../../bin/deploy/preflight/preflight.ts';
import { atEndpoint, deploymentFor } from '../engine/deploy/plan.ts';
import { until } from '../support/until.ts';
import type { EmulatedFixture } from './fixture.ts';

/** Runs last, since it deletes what the others use. */
export function describeChanges(fixture: EmulatedFixture): void {
  const ask: EmulatedFixture['ask'] = (...question) => fixture.ask(...question);
  const imageLifetime = async () => {
    const FunctionName = fixture.physicalId('AWS::Lambda::Function', 'CreateGeneration');
    const { Environment } = await ask('lambda', 'get_function_configuration', { FunctionName });
    return Environment.Variables[environmentVariables.retentionDays];
  };

  /** Why `npm run deploy` would not begin. */
  const stops = async () => {
    const deployment = deploymentFor(fixture.options);
    const targets = [fixture.modelStackName, fixture.stackName];
    const { findings } = await atEndpoint(fixture.ministack.url, (aws) =>
      preflight({ aws, deployment, targets, newData: false }),
    );
    return findings.filter((finding) => finding.stops).map(({ sentence }) => sentence);
  };

  describe('a deployed app', () => {
    test('can be deployed again, as far as the deploy program can ask beforehand', async () => {
      expect(await stops()).toEqual([]);
    });

    test('is not changed by deploying it again', async () => {
      const { code, stdout, stderr } = await fixture.deploy(fixture.options);
      expect(code).toBe(0);
      expect(`${stdout}${stderr}`.match(/\(no changes\)/g)).toHaveLength(2);
    }, 300_000);

    test('keeps table and bucket when the retention of images changes', async () => {
      expect(await imageLifetime()).toBe('30');
      expect((await fixture.deploy({ ...fixture.options, retentionDays: 20 })).code).toBe(0);
      expect(await imageLifetime()).toBe('20');
      const { StackStatus: status, Outputs: outputs } = await fixture.describe(fixture.stackName);
      expect(status).toBe('UPDATE_COMPLETE');
      expect(
        Object.fromEntries(outputs.map(({ OutputKey: key, OutputValue: value }: any) => [key, value])),
      ).toEqual(fixture.outputs);
    }, 300_000);

    test('can not be deleted, until its protection is lifted', async () => {
      const StackName = fixture.stackName;
      await expect(ask('cloudformation', 'delete_stack', { StackName })).rejects.toThrow(
        /TerminationProtection/,
      );
      const { StackStatus: status } = await fixture.describe(StackName);
      expect(status).toMatch(/^(CREATE|UPDATE)_COMPLETE$/);
    });

    test("does not lose its endpoint's stack while the service uses it", async () => {
      const StackName = fixture.modelStackName;
      await unprotect(StackName);
      await expect(ask('cloudformation', 'delete_stack', { StackName })).rejects.toThrow(/in use|imported/i);
      const { StackStatus: status } = await fixture.describe(StackName);
      expect(status).not.toMatch(/^DELETE_COMPLETE/);
    });

    test('keeps its records, images, accounts and logs when it is deleted, and nothing of the dashboard', async () => {
      const { stackName, outputs } = fixture;
      const dashboard = fixture.physicalId('AWS::S3::Bucket', 'Dashboard');
      await unprotect(stackName);
      const { StackId: stackId } = await fixture.describe(stackName);
      const accessLog = fixture.physicalId('AWS::Logs::LogGroup', 'ApiAccessLog');
      // MiniStack does not give a bucket its tags, and without this one the CDK's function would not empty it.
      const TagSet = [{ Key: 'aws-cdk:auto-delete-objects', Value: 'true' }];
      await ask('s3', 'put_bucket_tagging', { Bucket: dashboard, Tagging: { TagSet } });
      await ask('cloudformation', 'delete_stack', { StackName: stackName });
      let status = '';
      await until('the stack is deleted', async () => {
        ({ StackStatus: status } = await fixture.describe(stackId));
        return !status.endsWith('_IN_PROGRESS');
      });
      expect(status).toBe('DELETE_COMPLETE');
      expect((await ask('dynamodb', 'list_tables')).TableNames).toContain(outputs['TableName']);
      const { Buckets: buckets } = await ask('s3', 'list_buckets');
      const names = buckets.map(({ Name: name }: any) => name);
      expect(names).toContain(outputs['BucketName']);
      expect(names).not.toContain(dashboard);
      const { UserPools: pools } = await ask('cognito-idp', 'list_user_pools', { MaxResults: 10 });
      expect(pools.map(({ Id: id }: any) => id)).toContain(outputs['UserPoolId']);
      const { logGroups: groups } = await ask('logs', 'describe_log_groups', { limit: 50 });
      expect(groups.map(({ logGroupName: name }: any) => name)).toContain(accessLog);
      expect((await ask('lambda', 'list_functions')).Functions).toEqual([]);
    }, 300_000);

    test('is not deployed anew beside the records that it left', async () => {
      const { TableName: table, UserPoolId: pool } = fixture.outputs;
      // MiniStack gives a bucket no tags.
      expect(await stops()).toEqual([
        expect.stringMatching(new RegExp(`table/${table}, .*userpool/${pool}`)),
      ]);
    });
  });

  async function unprotect(StackName: string): Promise<void> {
    const EnableTerminationProtection = false;
    await ask('cloudformation', 'update_termination_protection', { StackName, EnableTerminationProtection });
  }
}
