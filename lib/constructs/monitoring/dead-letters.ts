import { Duration } from 'aws-cdk-lib/core';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { AlarmRow } from './alarms.ts';

/** An alarm as soon as a dead-letter queue holds a message. */
export function deadLetters(
  row: Pick<AlarmRow, 'id' | 'capability' | 'severity'>,
  means: string,
  queue: Queue,
): AlarmRow {
  const metric = queue.metricApproximateNumberOfMessagesVisible({
    statistic: Stats.MAXIMUM,
    period: Duration.minutes(5),
  });
  return { ...row, means, metric, threshold: 1 };
}
