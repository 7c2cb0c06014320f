import { Duration } from 'aws-cdk-lib/core';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { UserPool } from 'aws-cdk-lib/aws-cognito';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { jobs } from '../../shared/routes/jobs.ts';
import { accept } from './accepted-findings.ts';
import { queueSettings } from './job-schedule.ts';
import { deadLettersIn, type AlarmRow, type Watched } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

const { byOperators, byAccounts } = jobs.endSessions.trigger.calls;

export interface SessionEndsProps {
  readonly userPool: UserPool;
  /** Ends the sessions of the account that an event names. */
  readonly fn: ServiceFunction;
}

/**
 * Ends sessions where somebody signs an account out everywhere, disables or deletes it in Cognito. EventBridge hears of that
 * where the AWS account has a trail of management events (Amazon EventBridge, "AWS service events delivered via CloudTrail").
 */
export class SessionEnds extends Construct implements Watched {
  private readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, { userPool, fn }: SessionEndsProps) {
    super(scope, id);
    this.deadLetterQueue = new Queue(this, 'DeadLetters', queueSettings);
    accept(this.deadLetterQueue, {
      'AwsSolutions-SQS3': 'It is a dead-letter queue itself, of a function that is called asynchronously.',
    });
    fn.live.configureAsyncInvoke({
      onFailure: new SqsDestination(this.deadLetterQueue),
      retryAttempts: 2,
      maxEventAge: Duration.hours(1),
    });
    new Rule(this, 'Rule', {
      description: 'Accounts that are signed out everywhere, disabled or deleted, for their sessions',
      eventPattern: {
        source: ['aws.cognito-idp'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: {
          // Some of Cognito's events say that there was none by an empty text.
          errorCode: [{ exists: false }, ''],
          $or: [
            {
              eventName: [...byOperators],
              requestParameters: { userPoolId: [userPool.userPoolId] },
            },
            // Such a call names no pool. A sub of another pool is nobody here.
            { eventName: [...byAccounts] },
          ],
        },
      },
      targets: [new LambdaFunction(fn.live as IFunction, { deadLetterQueue: this.deadLetterQueue })],
    });
  }

  get alarms(): AlarmRow[] {
    return [
      {
        id: 'session-ends-dead-letters',
        capability: 'api',
        severity: 'warning',
        means: 'Sessions that should have ended live on to their end of an hour.',
        ...deadLettersIn(this.deadLetterQueue),
      },
    ];
  }
}
