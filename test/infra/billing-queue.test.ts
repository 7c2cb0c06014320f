import { describe, expect, test } from '@jest/globals';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { App, Duration, Stack } from 'aws-cdk-lib/core';
import { BillingQueue } from '../../lib/constructs/billing-queue.ts';
import { ServiceFunction } from '../../lib/constructs/service-function.ts';

const eventBusName = 'aws.partner/stripe.com/ed_test';
const timeoutSeconds = 40;
const fourteenDaysSeconds = 14 * 24 * 3600;

const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
const stack = new Stack(app, 'Test');
const fn = new ServiceFunction(stack, 'BillingEvents', {
  functionName: 'billing-events',
  serviceName: 'test',
  timeout: Duration.seconds(timeoutSeconds),
  logRetention: RetentionDays.ONE_WEEK,
});
const billing = new BillingQueue(stack, 'Billing', { eventBusName, fn });
const template = Template.fromStack(stack);

const arn = (construct: { queueArn: string }) => stack.resolve(construct.queueArn);
const [ruleId] = Object.keys(template.findResources('AWS::Events::Rule'));
const ruleArn = { 'Fn::GetAtt': [ruleId, 'Arn'] };

/** What the policy of a queue allows, to whom and when. */
function allowed(queue: { queueUrl: string }) {
  const policies = Object.values(template.findResources('AWS::SQS::QueuePolicy'));
  const own = policies.filter(({ Properties }) =>
    JSON.stringify(Properties.Queues).includes(JSON.stringify(stack.resolve(queue.queueUrl))),
  );
  return own
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .filter(({ Effect }) => Effect === 'Allow');
}

describe('events of Stripe', () => {
  test('those that change licenses go from the partner bus to the queue, and no others', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      EventBusName: eventBusName,
      EventPattern: {
        'detail-type': [
          'customer.subscription.created',
          'customer.subscription.updated',
          'customer.subscription.deleted',
          'customer.subscription.paused',
          'customer.subscription.resumed',
          'invoice.paid',
          'invoice.payment_failed',
        ],
      },
      Targets: [Match.objectLike({ Arn: arn(billing.queue) })],
    });
  });

  test('events that the bus could not deliver go to the dead-letter queue', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      Targets: [Match.objectLike({ DeadLetterConfig: { Arn: arn(billing.deadLetterQueue) } })],
    });
  });

  test('events that could not be applied five times go to the dead-letter queue', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      RedrivePolicy: { deadLetterTargetArn: arn(billing.deadLetterQueue), maxReceiveCount: 5 },
    });
  });

  test('an event does not come back while the function may still work on it', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      RedrivePolicy: Match.anyValue(),
      VisibilityTimeout: 6 * timeoutSeconds,
    });
  });

  test('one bad event of a batch does not bring the others back', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: arn(billing.queue),
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 2 },
    });
  });
});

describe('both queues', () => {
  test('keep events for 14 days and encrypt them', () => {
    const settings = { MessageRetentionPeriod: fourteenDaysSeconds, SqsManagedSseEnabled: true };
    template.resourcePropertiesCountIs('AWS::SQS::Queue', settings, 2);
    template.resourceCountIs('AWS::SQS::Queue', 2);
  });

  test('refuse connections without TLS', () => {
    for (const queue of [billing.queue, billing.deadLetterQueue]) {
      template.hasResourceProperties('AWS::SQS::QueuePolicy', {
        Queues: [stack.resolve(queue.queueUrl)],
        PolicyDocument: {
          Statement: Match.arrayWith([
            Match.objectLike({
              Effect: 'Deny',
              Action: 'sqs:*',
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            }),
          ]),
        },
      });
    }
  });

  test('let the rule send to them and nobody else', () => {
    for (const queue of [billing.queue, billing.deadLetterQueue]) {
      expect(allowed(queue)).toMatchObject([
        {
          Principal: { Service: 'events.amazonaws.com' },
          Condition: { ArnEquals: { 'aws:SourceArn': ruleArn } },
        },
      ]);
    }
    const granted = JSON.stringify(template.findResources('AWS::IAM::Policy'));
    expect(granted).toContain('sqs:ReceiveMessage');
    expect(granted).not.toMatch(/sqs:(SendMessage|\*)/);
  });
});
