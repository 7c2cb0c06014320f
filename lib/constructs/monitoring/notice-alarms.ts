import { Duration } from 'aws-cdk-lib/core';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { AlarmRow } from './alarms.ts';
import { deadLetters } from './dead-letters.ts';
import { serviceMetrics } from './metrics.ts';
import type { ClockSource, MonitoringSources } from './sources.ts';

/** Of all that the account sends in the region: AWS, "Creating reputation monitoring alarms". A share, from 0 to 1. */
const reputation = (metricName: string) =>
  new Metric({
    namespace: 'AWS/SES',
    metricName: `Reputation.${metricName}`,
    statistic: Stats.MAXIMUM,
    period: Duration.hours(1),
  });

/** Alarms about the e-mails to the owners of licenses. */
export function noticeAlarms({ serviceName }: MonitoringSources, { fn, schedule }: ClockSource): AlarmRow[] {
  const row = { capability: 'mail', severity: 'warning' } as const;
  return [
    {
      ...row,
      id: 'notices-failing',
      means: 'E-mails about used credits cannot be sent and are tried again.',
      metric: serviceMetrics(serviceName).of('noticeFailures', { period: Duration.minutes(15) }),
      threshold: 3,
    },
    {
      ...row,
      id: 'notices-errors',
      means: 'The function that sends e-mails about used credits fails.',
      metric: fn.metricErrors({ period: Duration.minutes(5) }),
      threshold: 3,
      periods: 2,
      rollsBack: true,
    },
    {
      ...row,
      id: 'mail-bounces',
      means:
        'Of the e-mails that the account sends, 5% bounce: AWS looks into it, and pauses sending at 10%.',
      metric: reputation('BounceRate'),
      threshold: 0.05,
    },
    {
      ...row,
      id: 'mail-complaints',
      means:
        'One of 1000 who get e-mails of the account complains: AWS looks into it, and pauses sending at 5.',
      metric: reputation('ComplaintRate'),
      threshold: 0.001,
    },
    deadLetters(
      { ...row, id: 'notices-dead-letters' },
      'Failed runs of the function that sends e-mails are waiting to be looked at.',
      schedule.deadLetterQueue,
    ),
  ];
}
