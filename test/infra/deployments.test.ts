import { describe, expect, test } from '@jest/globals';
import { routes } from '../../shared/routes/routes.ts';
import { jobs, type Job } from '../../shared/routes/jobs.ts';
import type { Route } from '../../shared/routes/route.ts';
import { aliasIdOf, functionIdOf } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { metricsOf } from './monitored.ts';
import { allProperties, plain, resourcesOf } from './resources.ts';

// That everything calls a function by its alias is tested where it is called: http-api, queues, least-privilege.
const template = templateOf('everything');
const rows: (Route | Job)[] = [...Object.values(routes), ...Object.values(jobs)];

const aliasOf = ({ functionName }: Route | Job) =>
  template.Resources[aliasIdOf(template, functionName)]! as any;
const versionOf = (alias: any) => alias.Properties.FunctionVersion['Fn::GetAtt'];
/** Those that earn a canary: CodeDeploy can't look after thirty functions at once. */
const withCanary = [
  ...Object.values(routes).filter(({ streams }) => streams),
  jobs.runGeneration,
  jobs.billingEvents,
];

test.each(rows)('the alias of $functionName moves to the version of the new code', (row) => {
  const version = template.Resources[versionOf(aliasOf(row))[0]]!;
  expect(version.Properties.FunctionName.Ref).toBe(functionIdOf(template, row.functionName));
});

test('seven functions have a canary, and the others move at once', () => {
  const canaries = rows.filter((row) => aliasOf(row).UpdatePolicy !== undefined);
  expect(canaries).toEqual(rows.filter((row) => (withCanary as unknown[]).includes(row)));
  expect(canaries).toHaveLength(7);
  expect(resourcesOf(template, 'AWS::CodeDeploy::DeploymentGroup').size).toBe(7);
});

describe.each(withCanary)('a deployment of $functionName', (row) => {
  const alias = aliasOf(row);
  const { DeploymentGroupName } = alias.UpdatePolicy.CodeDeployLambdaAliasUpdate;
  const group = template.Resources[DeploymentGroupName.Ref]!.Properties;
  const alarms = group.AlarmConfiguration.Alarms.map(
    ({ Name }: any) => template.Resources[Name.Ref]!.Properties,
  );

  test('gives its version 10% of the calls for five minutes, and goes back if an alarm starts', () => {
    expect(plain(group.DeploymentConfigName)).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes');
    expect(group.AutoRollbackConfiguration).toMatchObject({
      Enabled: true,
      Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']),
    });
    expect(alarms.length).toBeGreaterThan(0);
    // CodeDeploy API, "AlarmConfiguration".
    expect(alarms.length).toBeLessThanOrEqual(10);
  });

  test('has alarms of that version alone, which no failure of the version before it can have started', () => {
    const version = plain({ 'Fn::GetAtt': versionOf(alias) });
    const functionName = `<${functionIdOf(template, row.functionName)}>`;
    for (const alarm of alarms) {
      // Another name is another alarm: one that is updated keeps its state.
      expect(plain(alarm.AlarmName)).toMatch(new RegExp(`-${version}$`));
      for (const { dimensions } of metricsOf(alarm)) {
        const { version: own, ...lambda } = Object.fromEntries(
          Object.entries(dimensions).map(([name, value]) => [name, plain(value)]),
        );
        if (own !== undefined) expect(own).toBe(`${functionName}:${version}`);
        else
          expect(lambda).toEqual({
            FunctionName: functionName,
            Resource: `${functionName}:live`,
            ExecutedVersion: version,
          });
      }
    }
  });
});

test('the stack has at most 447 resources with every option, and six more routes fit in the 500 of CloudFormation', () => {
  const ids = Object.keys(template.Resources);
  // A route of its own function, with a path of its own.
  const ofRoute = ids.filter((id) => /^(GetHealth|Apiapiv1health)/.test(id));
  expect(ofRoute).toHaveLength(8);
  expect(ids.length).toBeLessThanOrEqual(447);
  expect(ids.length + 6 * ofRoute.length).toBeLessThanOrEqual(500);
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

  test('for the sweep, revoking keys and health, where the account has 100 more than these and billing', () => {
    const most = { sweep: 2, 'revoke-key': 20, 'get-health': 25 };
    expect(reserved('tuned')).toEqual(most);
  });

  test('for those that need the fewest, where other stacks leave fewer, and for none where nobody asked', () => {
    expect([reserved('small'), reserved('default')]).toEqual([{ sweep: 2 }, {}]);
  });

  test('for billing events, as many as its queue starts at once', () => {
    const mappings = allProperties(template, 'AWS::Lambda::EventSourceMapping');
    const { ScalingConfig } = mappings.find(({ BatchSize }) => BatchSize === 10)!;
    expect(jobs.billingEvents.reservedConcurrency).toBeGreaterThanOrEqual(ScalingConfig.MaximumConcurrency);
  });
});

test('no limit that strangers can use up is lower for revoking a key than what AWS gives the whole account', () => {
  expect(routes.revokeKey.throttle).toBe('account');
});
