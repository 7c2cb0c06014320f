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

const rules = [...resourcesOf(template, 'AWS::Events::Rule').values()].map(({ Properties }) => Properties);

test('calls of Cognito that end sessions go to their function, those of other pools and those that failed do not', () => {
  const rule = rules.find(({ EventBusName }) => EventBusName === undefined)!;
  const [byOperator, byAccount] = rule.EventPattern.detail.$or;
  expect(rule.EventPattern).toMatchObject({
    source: ['aws.cognito-idp'],
    'detail-type': ['AWS API Call via CloudTrail'],
    detail: { errorCode: [{ exists: false }, ''] },
  });
  expect(byOperator.eventName).toEqual(['AdminUserGlobalSignOut', 'AdminDisableUser', 'AdminDeleteUser']);
  expect(plain(byOperator.requestParameters.userPoolId[0])).toMatch(/^<AccountsUserPool\w+>$/);
  expect(byAccount).toEqual({ eventName: ['GlobalSignOut', 'DeleteUser'] });
  expect(plain(rule.Targets[0].Arn)).toContain(`<${aliasIdOf(template, 'end-sessions')}>`);
  expect(asyncInvocationOf('end-sessions').Properties).toMatchObject({ MaximumRetryAttempts: 2 });
});

describe("Stripe's events", () => {
  const rule = rules.find(({ EventBusName }) => EventBusName !== undefined)!;
  const queue = [...queues].find(([id]) => id.startsWith('BillingQueueEvents'))![1].Properties;

  test('go from the partner bus to the queue, and to the dead letters if that fails or five attempts do', () => {
    const [target, ...others] = rule.Targets;
    expect([plain(target.Arn), plain(target.DeadLetterConfig.Arn), others]).toEqual([events, deadEvents, []]);
    expect(rule.EventBusName).toBe('aws.partner/stripe.com/ed_test');
    expect(plain(queue.RedrivePolicy.deadLetterTargetArn)).toBe(deadEvents);
    expect(queue.RedrivePolicy.maxReceiveCount).toBe(5);
  });

  test('do not come back while the function works on them, and one bad event of a batch fails alone', () => {
    expect(queue.VisibilityTimeout).toBe(6 * functionOf('billing-events').Timeout);
    const mapping = propertiesOf(template, 'AWS::Lambda::EventSourceMapping');
    expect(plain(mapping.EventSourceArn)).toBe(events);
    expect(plain(mapping.FunctionName)).toContain(`<${aliasIdOf(template, 'billing-events')}>`);
    expect(mapping.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
  });
});

/** How events that nobody waits for reach a function. */
const asyncInvocationOf = (name: string) =>
  [...resourcesOf(template, 'AWS::Lambda::EventInvokeConfig').values()].find(
    ({ Properties }) => plain(Properties.FunctionName) === `<${functionIdOf(template, name)}>`,
  )!;

describe('a request that nobody waits for', () => {
  const { Properties: invocation, DependsOn } = asyncInvocationOf('run-generation');

  test('is run once, by the live code, and waits no longer than its deadline', () => {
    expect(invocation).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 600 });
    expect(plain(invocation.Qualifier)).toContain(`<${aliasIdOf(template, 'run-generation')}>`);
    expect(functionOf('run-generation').Timeout).toBe(600 + 30);
    const { Variables } = functionOf('create-generation').Environment;
    expect(Variables.ASYNC_DEADLINE_SECONDS).toBe('600');
    expect(plain(Variables.GENERATION_WORKER_URL)).toContain(
      `/functions/<${functionIdOf(template, 'run-generation')}>%3Alive/invocations`,
    );
  });

  test('is released when it could not be run, by a function that is named only after the role may call it', () => {
    expect(plain(invocation.DestinationConfig.OnFailure.Destination)).toBe(
      `<${functionIdOf(template, 'release-generation')}.Arn>:live`,
    );
    expect(DependsOn).toContainEqual(expect.stringMatching(/^RunGenerationRole/));
  });
});

describe('the sweep', () => {
  test('is called each minute, on time, and kept if it could not start in that minute', () => {
    const schedule = [...resourcesOf(template, 'AWS::Scheduler::Schedule')].find(([id]) =>
      id.startsWith('SweepSchedule'),
    )![1].Properties;
    const { Target: target, ...when } = schedule;
    expect(when).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
    });
    expect(plain(target.Arn)).toBe(`<${aliasIdOf(template, 'sweep')}>`);
    expect([target.RetryPolicy.MaximumEventAgeInSeconds, plain(target.DeadLetterConfig.Arn)]).toEqual([
      60,
      deadRuns,
    ]);
  });

  test('that failed is not repeated and is kept', () => {
    const { Properties: invocation } = asyncInvocationOf('sweep');
    expect(invocation).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
    expect(plain(invocation.DestinationConfig.OnFailure.Destination)).toBe(deadRuns);
  });
});
