import { Duration } from 'aws-cdk-lib/core';
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Operation } from 'aws-cdk-lib/aws-dynamodb';
import type { AlarmRow } from './alarms.ts';
import { deadLetters } from './dead-letters.ts';
import {
  blockedRequests,
  callsWhileAsleep,
  combined,
  modelInstances,
  modelMetric,
  serviceMetrics,
  share,
  unlessAsleep,
} from './metrics.ts';
import { noticeAlarms } from './notice-alarms.ts';
import { isOwn, type BillingSource, type MonitoringSources, type OwnModel } from './sources.ts';

const fiveMinutes = Duration.minutes(5);
const window = Duration.minutes(15);

/** The operations that the functions use. */
const operations = [
  Operation.GET_ITEM,
  Operation.BATCH_GET_ITEM,
  Operation.QUERY,
  Operation.PUT_ITEM,
  Operation.UPDATE_ITEM,
  Operation.DELETE_ITEM,
  Operation.TRANSACT_WRITE_ITEMS,
];

/** Alarms about what is behind the requests: credits, the sweep, the table, the model, billing, the firewall. */
export function resourceAlarms(sources: MonitoringSources): AlarmRow[] {
  const { billing, notices, model } = sources;
  return [
    ...creditAlarms(sources),
    ...sweepAlarms(sources),
    ...tableAlarms(sources),
    ...(billing === null ? [] : billingAlarms(sources, billing)),
    ...(notices === null ? [] : noticeAlarms(sources, notices)),
    {
      id: 'references-errors',
      capability: 'references',
      severity: 'critical',
      means: 'Reference images cannot be read, so requests with them are refused with SERVICE_UNAVAILABLE.',
      metric: sources.references.metricErrors({ period: fiveMinutes }),
      threshold: 3,
      periods: 2,
      rollsBack: true,
    },
    ...(isOwn(model) ? modelAlarms(model) : []),
    {
      id: 'firewall-blocks',
      capability: 'firewall',
      severity: 'warning',
      means: 'The firewall refuses very many requests.',
      metric: blockedRequests(sources.webAcl, { period: fiveMinutes }),
      threshold: 1000,
      periods: 3,
    },
  ];
}

function creditAlarms({ serviceName }: MonitoringSources): AlarmRow[] {
  const metrics = serviceMetrics(serviceName);
  const hour = { period: Duration.hours(1) };
  return [
    {
      id: 'credits-unbalanced',
      capability: 'credits',
      severity: 'warning',
      means: 'In an hour not as many credits were settled and released as were reserved.',
      // A function that crashed did not report its reservation. So the sums may differ in an hour in which the sweep
      // released a lease.
      metric: new MathExpression({
        expression: 'IF(leases > 0, 0, ABS(reserved - SUM([settled, released])))',
        usingMetrics: {
          leases: metrics.of('leasesReleased', hour),
          reserved: metrics.of('creditsReserved', hour),
          settled: metrics.of('creditsSettled', hour),
          released: metrics.of('creditsReleased', hour),
        },
        ...hour,
      }),
      threshold: 1,
    },
    {
      id: 'leases-released',
      capability: 'credits',
      severity: 'warning',
      means: 'The sweep ended requests whose function died.',
      metric: metrics.of('leasesReleased', { period: window }),
      threshold: 1,
    },
    {
      id: 'sweep-failures',
      capability: 'credits',
      severity: 'critical',
      means:
        'The sweep cannot end requests whose function died, so their credits stay held; or it cannot erase deleted ones.',
      metric: metrics.of('sweepFailures', { period: fiveMinutes }),
      threshold: 1,
      periods: 3,
    },
  ];
}

function sweepAlarms({ sweep, distribution }: MonitoringSources): AlarmRow[] {
  const row = { capability: 'sweep', severity: 'critical' } as const;
  return [
    {
      ...row,
      id: 'sweep-missing',
      means: 'The sweep has not run for several of its turns.',
      metric: sweep.fn.metricInvocations({ period: Duration.minutes(sweep.everyMinutes) }),
      threshold: 1,
      below: true,
      periods: 5,
      missingDataBreaches: true,
      // CloudFront takes minutes to deploy. In a new stack the sweep has run by then, so the alarm does not start in ALARM.
      after: [sweep.schedule, distribution],
    },
    {
      ...row,
      id: 'sweep-errors',
      means: 'The sweep fails.',
      metric: sweep.fn.metricErrors({ period: fiveMinutes }),
      threshold: 3,
      periods: 2,
      rollsBack: true,
    },
    deadLetters(
      { ...row, severity: 'warning', id: 'sweep-dead-letters' },
      'Failed runs of the sweep are waiting to be looked at.',
      sweep.schedule.deadLetterQueue,
    ),
  ];
}

function tableAlarms({ table }: MonitoringSources): AlarmRow[] {
  const row = { capability: 'table', periods: 2, of: 3 } as const;
  const sumOfOperations = (name: string) => {
    const of = (operation: string) => ({ TableName: table.tableName, Operation: operation });
    const metrics = operations.map((operation) =>
      table.metric(name, { dimensionsMap: of(operation), statistic: Stats.SUM, period: fiveMinutes }),
    );
    return combined('SUM', metrics, fiveMinutes);
  };
  return [
    {
      ...row,
      id: 'table-throttles',
      severity: 'warning',
      means: 'DynamoDB throttles requests to the table.',
      metric: sumOfOperations('ThrottledRequests'),
      threshold: 10,
    },
    {
      ...row,
      id: 'table-faults',
      severity: 'critical',
      means: 'DynamoDB answers with faults of its own.',
      metric: sumOfOperations('SystemErrors'),
      threshold: 5,
    },
  ];
}

function billingAlarms(
  { serviceName }: MonitoringSources,
  { queue, deadLetterQueue }: BillingSource,
): AlarmRow[] {
  const row = { capability: 'billing', severity: 'warning' } as const;
  return [
    {
      ...row,
      id: 'billing-failed',
      means: 'Billing events cannot be applied and are tried again.',
      metric: serviceMetrics(serviceName).count('billingEvents', 'failed', { period: window }),
      threshold: 3,
      rollsBack: true,
    },
    {
      ...row,
      id: 'billing-delayed',
      means: 'A billing event has waited for half an hour.',
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period: fiveMinutes }),
      threshold: 1800,
      periods: 2,
    },
    deadLetters(
      { ...row, severity: 'critical', id: 'billing-dead-letters' },
      'Billing events were given up: licenses may not say what was paid.',
      deadLetterQueue,
    ),
  ];
}

function modelAlarms(model: OwnModel): AlarmRow[] {
  const { maxInstances, componentName } = model;
  const sum = { statistic: Stats.SUM, period: window };
  const max = { statistic: Stats.MAXIMUM, period: fiveMinutes };
  const row = { capability: 'model', severity: 'warning' } as const;
  const full = (id: string, means: string, metricName: string, threshold: number): AlarmRow => ({
    ...row,
    id,
    runbook: 'model-full',
    means,
    metric: modelMetric('instances', metricName, model, max),
    threshold,
    periods: 3,
  });
  return [
    {
      ...row,
      id: 'model-errors',
      severity: 'critical',
      means: 'The model endpoint answers with errors.',
      metric: unlessAsleep(
        model,
        share(
          { failed: modelMetric('requests', 'InvocationModelErrors', model, sum) },
          modelMetric('requests', 'Invocations', model, sum),
          { atLeast: 3, period: window },
        ),
        'whole',
      ),
      threshold: 5,
    },
    full('model-gpu-memory', "An instance's GPU memory is nearly full.", 'GPUMemoryUtilization', 97),
    full('model-disk', "An instance's disk is nearly full.", 'DiskUtilization', 85),
    ...(maxInstances === null ? [] : [atMaximum(model, maxInstances)]),
    ...(componentName === null ? [] : [notAwake(componentName)]),
  ];
}

/** To wake takes about ten minutes, which touch three periods at most. */
function notAwake(componentName: string): AlarmRow {
  return {
    id: 'model-not-awake',
    capability: 'model',
    severity: 'critical',
    means: 'Requests have found the model asleep for 20 minutes: it does not wake.',
    metric: callsWhileAsleep(componentName, { period: fiveMinutes }),
    threshold: 1,
    periods: 4,
  };
}

function atMaximum(model: OwnModel, maxInstances: number): AlarmRow {
  return {
    id: 'model-at-maximum',
    capability: 'model',
    severity: 'warning',
    means: 'The model endpoint has run all the instances that it may for an hour.',
    metric: modelInstances(model, { period: fiveMinutes }),
    // The number is a quotient of sums and not exact, because instances start and stop within a period.
    threshold: maxInstances - 0.1,
    periods: 12,
  };
}
