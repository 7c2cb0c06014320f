import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { Schedule, ScheduleExpression, ScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { accept } from './accepted-findings.ts';
import type { ServiceFunction } from './service-function.ts';

/** Of every queue: messages wait for two weeks, encrypted on their way and where they lie. */
export const queueSettings = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
};

export interface JobScheduleProps {
  /** Does a job of which two runs at once are harmless. */
  readonly fn: ServiceFunction;
  readonly everyMinutes: number;
  /** What the job is called, and what it does, for descriptions. */
  readonly name: string;
  readonly does: string;
}

/** Starts a job on a schedule. A failed run is not repeated, because the next one does its work. It goes to the dead-letter queue. */
export class JobSchedule extends Construct {
  /** Failed runs with their errors, and runs that did not start. */
  protected readonly deadLetterQueue: Queue;
  protected readonly fn: ServiceFunction;

  constructor(scope: Construct, id: string, { fn, everyMinutes, name, does }: JobScheduleProps) {
    super(scope, id);
    this.fn = fn;
    this.deadLetterQueue = new Queue(this, 'DeadLetters', queueSettings);
    accept(this.deadLetterQueue, {
      'AwsSolutions-SQS3':
        'It is a dead-letter queue itself, of a schedule and of a function that is called asynchronously.',
    });
    // With a group of its own, the role below can be limited to this schedule.
    const scheduleGroup = new ScheduleGroup(this, 'Group', { removalPolicy: RemovalPolicy.DESTROY });
    const role = new Role(this, 'Role', {
      description: `EventBridge Scheduler starts ${name} with it`,
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: {
          StringEquals: {
            'aws:SourceAccount': Stack.of(this).account,
            'aws:SourceArn': scheduleGroup.scheduleGroupArn,
          },
        },
      }),
    });
    const allow = (action: string, resource: string) =>
      role.addToPolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
    allow('lambda:InvokeFunction', fn.live.functionArn);
    allow('sqs:SendMessage', this.deadLetterQueue.queueArn);
    fn.live.configureAsyncInvoke({
      onFailure: new SqsDestination(this.deadLetterQueue),
      retryAttempts: 0,
      maxEventAge: Duration.minutes(1),
    });
    new Schedule(this, 'Schedule', {
      description: does,
      schedule: ScheduleExpression.rate(Duration.minutes(everyMinutes)),
      scheduleGroup,
      target: new LambdaInvoke(fn.live as IFunction, {
        // Otherwise the target would add permission for every version of the function.
        role: role.withoutPolicyUpdates(),
        deadLetterQueue: this.deadLetterQueue,
        maxEventAge: Duration.minutes(1),
      }),
    });
  }
}
