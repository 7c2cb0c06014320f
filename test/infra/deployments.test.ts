import { describe, expect, test } from '@jest/globals';
import { routes } from '../../shared/routes/routes.ts';
import { jobs, type Job } from '../../shared/routes/jobs.ts';
import type { Route } from '../../shared/routes/route.ts';
import { aliasIdOf, functionIdOf } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { allProperties, plain, resourcesOf } from './resources.ts';

// That everything calls a function by its alias is tested where it is called: http-api, queues, least-privilege.
const template = templateOf('everything');
const rows: (Route | Job)[] = [...Object.values(routes), ...Object.values(jobs)];

const nameOf = (alarmId: string): string =>
  template.Resources[alarmId]!.Properties.AlarmName.replace('image-generation-test-', '');
const rollbacks = [
  'billing-failed',
  'function-crashes-buffered',
  'function-crashes-buffered-2',
  'function-crashes-buffered-3',
  'function-crashes-generating',
  'generation-failed',
  'generation-timeout',
  'internal-errors',
  'notices-errors',
  'references-errors',
  'service-unavailable',
  'sweep-errors',
];

describe.each(rows)('a deployment of $functionName', ({ functionName }) => {
  const alias = template.Resources[aliasIdOf(template, functionName)]! as any;
  const { DeploymentGroupName } = alias.UpdatePolicy.CodeDeployLambdaAliasUpdate;
  const group = template.Resources[DeploymentGroupName.Ref]!.Properties;

  test('moves its alias to the version of the new code, gives that 10% of the calls for five minutes, and goes back if an alarm starts', () => {
    const version = template.Resources[alias.Properties.FunctionVersion['Fn::GetAtt'][0]]!;
    expect(version.Properties.FunctionName.Ref).toBe(functionIdOf(template, functionName));
    expect(plain(group.DeploymentConfigName)).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes');
    expect(group.AutoRollbackConfiguration).toMatchObject({
      Enabled: true,
      Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']),
    });
    const names = group.AlarmConfiguration.Alarms.map(({ Name }: any) => nameOf(Name.Ref));
    expect(names.toSorted()).toEqual(rollbacks);
  });
});

test('without canary the alias moves at once', () => {
  const small = templateOf('small');
  expect(resourcesOf(small, 'AWS::CodeDeploy::DeploymentGroup').size).toBe(0);
  for (const [, alias] of resourcesOf(small, 'AWS::Lambda::Alias'))
    expect(alias).not.toHaveProperty('UpdatePolicy');
});

describe('executions are reserved', () => {
  const reserved = (name: 'default' | 'small' | 'tuned') =>
    Object.fromEntries(
      allProperties(templateOf(name), 'AWS::Lambda::Function').flatMap(
        ({ Description, ReservedConcurrentExecutions: executions }) =>
          executions === undefined ? [] : [[Description.split(': ')[1], executions]],
      ),
    );

  test('for the sweep, revoking keys, health and asynchronous runs, where the account has 100 more than these and billing', () => {
    const most = { sweep: 2, 'revoke-key': 20, 'get-health': 25, 'run-generation': 100 };
    expect(reserved('tuned')).toEqual(most);
  });

  test('for those that need the fewest, where other stacks leave fewer, and for none where nobody asked', () => {
    expect([reserved('small'), reserved('default')]).toEqual([{ sweep: 2 }, {}]);
  });

  test('for billing events, as many as its queue starts at once', () => {
    const { ScalingConfig } = allProperties(template, 'AWS::Lambda::EventSourceMapping')[0];
    expect(jobs.billingEvents.reservedConcurrency).toBeGreaterThanOrEqual(ScalingConfig.MaximumConcurrency);
  });
});

test('no limit that strangers can use up is lower for revoking a key than what AWS gives the whole account', () => {
  expect(routes.revokeKey.throttle).toBe('account');
});
