import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { Schedule, ScheduleExpression, ScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { accept } from './accepted-findings.ts';
import type { ServiceFunction } from './service-function.ts';
import { WholeRole } from './whole-role.ts';

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
  /** What the job does, for descriptions. */
  readonly does: string;
}

/** Starts a job on a schedule. A failed run is not repeated, because the next one does its work. It goes to the dead-letter queue. */
export class JobSchedule extends Construct {
  /** Failed runs with their errors, and runs that did not start. */
  protected readonly deadLetterQueue: Queue;
  protected readonly fn: ServiceFunction;

  constructor(scope: Construct, id: string, { fn, everyMinutes, does }: JobScheduleProps) {
    super(scope, id);
    this.fn = fn;
    this.deadLetterQueue = new Queue(this, 'DeadLetters', queueSettings);
    accept(this.deadLetterQueue, {
      'AwsSolutions-SQS3':
        'It is a dead-letter queue itself, of a schedule and of a function that is called asynchronously.',
    });
    const { group, role } = Schedules.of(this);
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
      scheduleGroup: group,
      target: new LambdaInvoke(fn.live as IFunction, {
        // Otherwise the target would add permission for every version of the function.
        role: role.withoutPolicyUpdates(),
        deadLetterQueue: this.deadLetterQueue,
        maxEventAge: Duration.minutes(1),
      }),
    });
  }
}

/** What the schedules of a stack share. */
class Schedules extends Construct {
  /** With a group of their own, the role can be limited to them. */
  readonly group = new ScheduleGroup(this, 'Group', { removalPolicy: RemovalPolicy.DESTROY });
  readonly role = new WholeRole(this, 'Role', {
    description: 'EventBridge Scheduler starts the jobs of the Image Generation Service with it',
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: {
        StringEquals: {
          'aws:SourceAccount': Stack.of(this).account,
          'aws:SourceArn': this.group.scheduleGroupArn,
        },
      },
    }),
  });

  static of(scope: Construct): Schedules {
    const stack = Stack.of(scope);
    const known = stack.node.tryFindChild('Schedules') as Schedules | undefined;
    return known ?? new Schedules(stack, 'Schedules');
  }
}
