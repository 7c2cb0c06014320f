import { Duration } from 'aws-cdk-lib/core';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/base/config.ts';
import { eventKinds } from '../../shared/billing/event-types.ts';
import { versionFails } from './functions-watch.ts';
import { queueSettings } from './job-schedule.ts';
import { graph, period, serviceMetrics, window } from './monitoring/metrics.ts';
import { deadLettersIn, type AlarmRow, type Watched, type Widgets } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

export interface BillingQueueProps {
  /** The existing partner event bus that receives Stripe's events. */
  readonly eventBusName: string;
  /** The secret with a key of Stripe's that the function may read; null: none. */
  readonly stripeKeySecretArn: string | null;
  /** Applies the events to the licenses. It must have a timeout. */
  readonly fn: ServiceFunction;
}

/**
 * Brings Stripe's events from the partner bus to the function. An event that can't be delivered or applied waits in the
 * dead-letter queue until an operator sends it again.
 */
export class BillingQueue extends Construct implements Watched {
  /** Only the rule may send to it. */
  private readonly queue: Queue;
  private readonly deadLetterQueue: Queue;
  private readonly fn: ServiceFunction;

  constructor(scope: Construct, id: string, { eventBusName, stripeKeySecretArn, fn }: BillingQueueProps) {
    super(scope, id);
    this.fn = fn;
    this.deadLetterQueue = new Queue(this, 'DeadLetters', queueSettings);
    this.queue = new Queue(this, 'Events', {
      ...queueSettings,
      // AWS recommends six times the function's timeout: a message must not return while the function works on it.
      visibilityTimeout: Duration.seconds(fn.timeout!.toSeconds() * 6),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: 5 },
    });
    new Rule(this, 'Rule', {
      description: 'Subscriptions and invoices of Stripe, for the licenses',
      eventBus: EventBus.fromEventBusName(this, 'Bus', eventBusName),
      // Other types stay on the bus.
      eventPattern: { detailType: Object.keys(eventKinds) },
      targets: [new SqsQueue(this.queue, { deadLetterQueue: this.deadLetterQueue })],
    });
    fn.live.addEventSource(
      new SqsEventSource(this.queue, { batchSize: 10, maxConcurrency: 2, reportBatchItemFailures: true }),
    );
    if (stripeKeySecretArn === null) return;
    fn.setVariable(environmentVariables.stripeKeySecretArn, stripeKeySecretArn);
    const actions = ['secretsmanager:GetSecretValue'];
    fn.addToRolePolicy(new PolicyStatement({ actions, resources: [stripeKeySecretArn] }));
  }

  get alarms(): AlarmRow[] {
    const row = { capability: 'billing', severity: 'warning' } as const;
    return [
      {
        ...row,
        id: 'billing-failed',
        means: 'Billing events cannot be applied and are tried again.',
        metric: serviceMetrics(this).count('billingEvents', 'failed', { period: window }),
        threshold: 3,
      },
      versionFails(this.fn, 'billingEvents'),
      {
        ...row,
        id: 'billing-delayed',
        means: 'A billing event has waited for half an hour.',
        metric: this.queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period }),
        threshold: 1800,
        periods: 2,
      },
      {
        ...row,
        id: 'subscriptions-unbound',
        means: 'A subscription has had no owner for an hour: somebody pays and has no license.',
        metric: serviceMetrics(this).of('unboundSubscriptions', { statistic: Stats.MAXIMUM, period }),
        threshold: 1,
      },
      {
        ...row,
        id: 'billing-dead-letters',
        severity: 'critical',
        means: 'Billing events were given up: licenses may not say what was paid.',
        ...deadLettersIn(this.deadLetterQueue),
      },
    ];
  }

  get widgets(): Widgets {
    const metrics = serviceMetrics(this);
    const events = metrics.every('billingEvents');
    const options = { statistic: Stats.MAXIMUM, label: 'unbound subscriptions', period };
    const right = [metrics.of('unboundSubscriptions', options)];
    return { generations: [graph('Billing events by outcome', [events], { stacked: true, right })] };
  }
}
