import { describe, expect, test } from '@jest/globals';
import { modelPauseMs } from '../../shared/generations/try-model.ts';
import { aliasIdOf, functionIdOf } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { plain, resourcesOf } from './resources.ts';

// Who may send to a queue and start the sweep is in template-summary.txt.
const template = templateOf('everything');
const queues = resourcesOf(template, 'AWS::SQS::Queue');
const arnOf = (start: string) => `<${[...queues.keys()].find((id) => id.startsWith(start))}.Arn>`;
const events = arnOf('BillingQueueEvents');
const deadEvents = arnOf('BillingQueueDeadLetters');
const deadRuns = arnOf('SweepScheduleDeadLetters');
/** How Lambda brings a queue's messages. */
const mappingOf = (queueArn: string, of = template) =>
  [...resourcesOf(of, 'AWS::Lambda::EventSourceMapping').values()].find(
    ({ Properties }) => plain(Properties.EventSourceArn) === queueArn,
  )!.Properties;
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
    const mapping = mappingOf(events);
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
  const queueOf = (start: string) => [...queues].find(([id]) => id.startsWith(start))!;
  const [requestsId, requests] = queueOf('WorkerRequests');
  const [deadId, dead] = queueOf('WorkerDeadLetters');

  test('comes from its queue to the live code one by one, and not again while it may be run', () => {
    const mapping = mappingOf(`<${requestsId}.Arn>`);
    expect(mapping).toMatchObject({ BatchSize: 1, FunctionResponseTypes: ['ReportBatchItemFailures'] });
    expect(plain(mapping.FunctionName)).toContain(`<${aliasIdOf(template, 'run-generation')}>`);
    expect(functionOf('run-generation').Timeout).toBe(600 + 30);
    expect(requests.Properties.VisibilityTimeout).toBeGreaterThan(functionOf('run-generation').Timeout);
    for (const name of ['create-generation', 'create-playground-generation', 'run-generation'])
      expect(plain(functionOf(name).Environment.Variables.GENERATION_QUEUE_URL)).toBe(`<${requestsId}>`);
    expect(functionOf('create-generation').Environment.Variables.ASYNC_DEADLINE_SECONDS).toBe('600');
  });

  test('is asked for as often as there is time, then released', () => {
    const { maxReceiveCount, deadLetterTargetArn } = requests.Properties.RedrivePolicy;
    const shortestPausesMs = Array.from({ length: maxReceiveCount }, (_, i) => modelPauseMs(i + 1, () => 1));
    expect(shortestPausesMs.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(600_000);
    expect(maxReceiveCount).toBeLessThanOrEqual(1000);
    expect(plain(deadLetterTargetArn)).toBe(`<${deadId}.Arn>`);
    const mapping = mappingOf(`<${deadId}.Arn>`);
    expect(plain(mapping.FunctionName)).toContain(`<${aliasIdOf(template, 'release-generation')}>`);
    expect(dead.Properties.VisibilityTimeout).toBe(6 * functionOf('release-generation').Timeout);
  });

  test.each([
    ['everything', 'an unknown number of', 2],
    ['tuned', '250', 50],
    ['existingEndpoint', '1,000', 100],
  ] as const)('is run beside others: with %s, an account of %s executions, %i', (name, _account, runs) => {
    const mapping = mappingOf(`<${requestsId}.Arn>`, templateOf(name));
    expect(mapping.ScalingConfig).toEqual({ MaximumConcurrency: runs });
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
