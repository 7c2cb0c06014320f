import { describe, expect, test } from '@jest/globals';
import { aliasIdOf, functionIdOf } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { plain, propertiesOf, resourcesOf } from './resources.ts';

// Who may send to a queue and start the sweep is in template-summary.txt.
const template = templateOf('everything');
const queues = resourcesOf(template, 'AWS::SQS::Queue');
const arnOf = (start: string) => `<${[...queues.keys()].find((id) => id.startsWith(start))}.Arn>`;
const events = arnOf('BillingQueueEvents');
const deadEvents = arnOf('BillingQueueDeadLetters');
const deadRuns = arnOf('SweepScheduleDeadLetters');
const functionOf = (name: string) => template.Resources[functionIdOf(template, name)]!.Properties;

test('every queue keeps messages for 14 days, encrypted', () => {
  for (const { Properties } of queues.values()) {
    expect(Properties).toMatchObject({ MessageRetentionPeriod: 14 * 24 * 3600, SqsManagedSseEnabled: true });
  }
});

describe("Stripe's events", () => {
  const rule = propertiesOf(template, 'AWS::Events::Rule');
  const queue = [...queues].find(([id]) => id.startsWith('BillingQueueEvents'))![1].Properties;

  test('that change licenses go from the partner bus to the queue, and no others', () => {
    expect(rule.EventBusName).toBe('aws.partner/stripe.com/ed_test');
    expect(rule.EventPattern['detail-type']).toEqual([
      'customer.subscription.created',
      'customer.subscription.updated',
      'customer.subscription.deleted',
      'customer.subscription.paused',
      'customer.subscription.resumed',
      'invoice.paid',
      'invoice.payment_failed',
    ]);
    expect(rule.Targets.map(({ Arn }: any) => plain(Arn))).toEqual([events]);
  });

  test('go to the dead-letter queue if the bus cannot deliver them or five attempts fail', () => {
    expect(plain(rule.Targets[0].DeadLetterConfig.Arn)).toBe(deadEvents);
    expect(plain(queue.RedrivePolicy.deadLetterTargetArn)).toBe(deadEvents);
    expect(queue.RedrivePolicy.maxReceiveCount).toBe(5);
  });

  test('do not come back while the function works on them, and one bad event of a batch fails alone', () => {
    expect(queue.VisibilityTimeout).toBe(6 * functionOf('billing-events').Timeout);
    const mapping = propertiesOf(template, 'AWS::Lambda::EventSourceMapping');
    expect(plain(mapping.EventSourceArn)).toBe(events);
    expect(plain(mapping.FunctionName)).toMatch(
      new RegExp(`<${aliasIdOf(template, 'billing-events')}>.*:live$`),
    );
    expect(mapping).toMatchObject({ BatchSize: 10, FunctionResponseTypes: ['ReportBatchItemFailures'] });
    expect(mapping.ScalingConfig).toEqual({ MaximumConcurrency: 2 });
  });

  test('have no queue without billing', () => {
    expect([...resourcesOf(templateOf('default'), 'AWS::SQS::Queue').keys()]).toEqual([
      expect.stringMatching(/^SweepSchedule/),
    ]);
  });
});

/** How events that nobody waits for reach a function. */
const asyncInvocationOf = (name: string) =>
  [...resourcesOf(template, 'AWS::Lambda::EventInvokeConfig').values()].find(
    ({ Properties }) => plain(Properties.FunctionName) === `<${functionIdOf(template, name)}>`,
  )!.Properties;

describe('a request that nobody waits for', () => {
  const invocation = asyncInvocationOf('run-generation');

  test('is run once, by the live code, and waits no longer than its deadline', () => {
    expect(invocation).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 600 });
    expect(plain(invocation.Qualifier)).toContain(`<${aliasIdOf(template, 'run-generation')}>`);
    const { Timeout, Environment } = functionOf('run-generation');
    expect(Timeout).toBe(600 + 30);
    expect(functionOf('create-generation').Environment.Variables.ASYNC_DEADLINE_SECONDS).toBe('600');
    expect(plain(functionOf('create-generation').Environment.Variables.GENERATION_WORKER_URL)).toContain(
      `/functions/<${functionIdOf(template, 'run-generation')}>%3Alive/invocations`,
    );
    expect(Environment.Variables.EMBED_PARAMETERS).toBe('false');
  });

  test('is released when it could not be run', () => {
    expect(plain(invocation.DestinationConfig.OnFailure.Destination)).toBe(
      `<${functionIdOf(template, 'release-generation')}.Arn>:live`,
    );
  });

  test('is named as a destination only after the role may use it', () => {
    const [config] = [...resourcesOf(template, 'AWS::Lambda::EventInvokeConfig')].find(
      ([, { Properties }]) => Properties === invocation,
    )!;
    const { DependsOn = [] } = template.Resources[config]!;
    expect(DependsOn.some((id) => id.startsWith('RunGenerationRoleDefaultPolicy'))).toBe(true);
  });
});

describe('the sweep', () => {
  const [, { Properties: schedule }] = [...resourcesOf(template, 'AWS::Scheduler::Schedule')].find(([id]) =>
    id.startsWith('SweepSchedule'),
  )!;

  test('runs each minute, on time', () => {
    expect(schedule).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
    });
    expect(plain(schedule.Target.Arn)).toBe(`<${aliasIdOf(template, 'sweep')}>`);
  });

  test('that could not start is tried for a minute, then kept', () => {
    expect(schedule.Target.RetryPolicy).toMatchObject({ MaximumEventAgeInSeconds: 60 });
    expect(plain(schedule.Target.DeadLetterConfig.Arn)).toBe(deadRuns);
  });

  test('that failed is not repeated and is kept', () => {
    const invocation = asyncInvocationOf('sweep');
    expect(invocation).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
    expect(plain(invocation.DestinationConfig.OnFailure.Destination)).toBe(deadRuns);
  });

  test('can be deployed again: its schedule group is deleted with the stack', () => {
    const groups = [...resourcesOf(template, 'AWS::Scheduler::ScheduleGroup')];
    expect(groups.map(([, { DeletionPolicy }]) => DeletionPolicy)).toEqual(['Delete', 'Delete']);
  });
});
