import { expect, test } from '@jest/globals';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { App, Duration, Stack } from 'aws-cdk-lib/core';
import { ServiceFunction } from '../../lib/constructs/service-function.ts';
import { SweepSchedule } from '../../lib/constructs/sweep-schedule.ts';

const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
const stack = new Stack(app, 'Test');
const fn = new ServiceFunction(stack, 'Sweep', {
  functionName: 'sweep',
  serviceName: 'test',
  timeout: Duration.seconds(30),
  logRetention: RetentionDays.ONE_WEEK,
});
const sweeping = new SweepSchedule(stack, 'Sweeping', { fn, everyMinutes: 1 });
const template = Template.fromStack(stack);

const functionArn = stack.resolve(fn.functionArn);
const deadLettersArn = stack.resolve(sweeping.deadLetterQueue.queueArn);

/** What the role whose logical name begins so may do, and to what. */
function grantsOf(role: string): [action: unknown, resource: unknown][] {
  const policies = Object.entries(template.findResources('AWS::IAM::Policy'));
  return policies
    .filter(([id]) => id.startsWith(role))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement)
    .map(({ Action, Resource }) => [Action, Resource]);
}

test('the sweep runs each minute, exactly on time', () => {
  template.hasResourceProperties('AWS::Scheduler::Schedule', {
    ScheduleExpression: 'rate(1 minute)',
    FlexibleTimeWindow: { Mode: 'OFF' },
    State: 'ENABLED',
    Target: { Arn: functionArn },
  });
});

test('a run that could not begin is tried for a minute, until the next is due, and then kept', () => {
  template.hasResourceProperties('AWS::Scheduler::Schedule', {
    Target: {
      RetryPolicy: { MaximumEventAgeInSeconds: 60 },
      DeadLetterConfig: { Arn: deadLettersArn },
    },
  });
});

test('a run that failed is not repeated and is kept', () => {
  template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
    FunctionName: stack.resolve(fn.functionName),
    MaximumRetryAttempts: 0,
    MaximumEventAgeInSeconds: 60,
    DestinationConfig: { OnFailure: { Destination: deadLettersArn } },
  });
  const grants = grantsOf('Sweep');
  expect(grants.some(([action, to]) => String(action).includes('sqs:SendMessage') && isDeadLetters(to))).toBe(
    true,
  );
});

const isDeadLetters = (resource: unknown) => JSON.stringify(resource) === JSON.stringify(deadLettersArn);

test('the schedule may start this function and keep what failed, and nothing else', () => {
  expect(grantsOf('SweepingRole')).toEqual([
    ['lambda:InvokeFunction', functionArn],
    ['sqs:SendMessage', deadLettersArn],
  ]);
});

test("no other schedule, of this account or another's, can take its role", () => {
  const [group] = Object.keys(template.findResources('AWS::Scheduler::ScheduleGroup'));
  template.hasResourceProperties('AWS::IAM::Role', {
    AssumeRolePolicyDocument: {
      Statement: [
        {
          Principal: { Service: 'scheduler.amazonaws.com' },
          Condition: {
            StringEquals: {
              'aws:SourceAccount': { Ref: 'AWS::AccountId' },
              'aws:SourceArn': { 'Fn::GetAtt': [group, 'Arn'] },
            },
          },
        },
      ],
    },
  });
});

test('what failed is kept for 14 days, encrypted, and told over TLS only', () => {
  template.hasResourceProperties('AWS::SQS::Queue', {
    MessageRetentionPeriod: 14 * 24 * 3600,
    SqsManagedSseEnabled: true,
  });
  template.hasResourceProperties('AWS::SQS::QueuePolicy', {
    PolicyDocument: {
      Statement: [
        Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      ],
    },
  });
});

test('a stack that was removed can be deployed again: its group of schedules goes with it', () => {
  template.hasResource('AWS::Scheduler::ScheduleGroup', { DeletionPolicy: 'Delete' });
});
