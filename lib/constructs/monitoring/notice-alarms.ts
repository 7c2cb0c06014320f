import { Duration } from 'aws-cdk-lib/core';
import type { AlarmRow } from './alarms.ts';
import { deadLetters } from './dead-letters.ts';
import { serviceMetrics } from './metrics.ts';
import type { ClockSource, MonitoringSources } from './sources.ts';

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
    deadLetters(
      { ...row, id: 'notices-dead-letters' },
      'Failed runs of the function that sends e-mails are waiting to be looked at.',
      schedule.deadLetterQueue,
    ),
  ];
}
