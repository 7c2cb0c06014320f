import { Duration } from 'aws-cdk-lib/core';
import { GraphWidget, Stats, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { metricTable, type MetricName } from '../../shared/metrics.ts';
import { serviceMetrics } from './monitoring-metrics.ts';
import { allFunctions, type MonitoringSources } from './monitoring-sources.ts';

const period = Duration.minutes(5);

/** How many requests come, and how long their answers take. */
export function requests({ functions, api }: MonitoringSources): IWidget[] {
  const stage = api.deploymentStage;
  return [
    new GraphWidget({
      title: 'Requests by route',
      stacked: true,
      left: functions.map(({ route, fn }) =>
        fn.metricInvocations({ label: `${route.method} ${route.path}`, period }),
      ),
      width: 12,
    }),
    new GraphWidget({
      title: 'API: all, refused, failed',
      left: [
        stage.metricCount({ label: 'all', period }),
        stage.metricClientError({ label: '4xx', period }),
        stage.metricServerError({ label: '5xx', period }),
      ],
      width: 6,
    }),
    new GraphWidget({
      title: 'API: time to answer, p99, routes without the model',
      left: functions
        .filter(({ route }) => !route.streams)
        .map(({ route, fn }) =>
          fn.metricDuration({
            label: `${route.method} ${route.path}`,
            statistic: Stats.percentile(99),
            period,
          }),
        ),
      leftYAxis: { label: 'ms', showUnits: false, min: 0 },
      width: 6,
    }),
  ];
}

/** What callers were refused for, and what went wrong before anything could be answered. */
export function errors(sources: MonitoringSources): IWidget[] {
  const metrics = serviceMetrics(sources.serviceName);
  const functions = allFunctions(sources);
  return [
    new GraphWidget({
      title: 'Errors by code',
      stacked: true,
      left: [metrics.every('errors')],
      width: 12,
    }),
    new GraphWidget({
      title: 'Crashes',
      left: functions.map((fn) => fn.metricErrors({ label: fn.node.id, period })),
      width: 6,
    }),
    new GraphWidget({
      title: 'Throttled starts',
      left: functions.map((fn) => fn.metricThrottles({ label: fn.node.id, period })),
      width: 6,
    }),
  ];
}

const phaseTitles = {
  acceptTime: 'Accept: until credits are reserved',
  queueWait: 'Queue: until the model starts',
  paintTime: 'Paint: until the images are stored',
  settleTime: 'Settle: until the charge is stored',
} satisfies Partial<Record<MetricName, string>>;

/** Where a generation's time goes. */
export function phases({ serviceName }: MonitoringSources): IWidget[] {
  const metrics = serviceMetrics(serviceName);
  return (Object.keys(phaseTitles) as (keyof typeof phaseTitles)[]).map(
    (name) =>
      new GraphWidget({
        title: phaseTitles[name],
        left: [50, 90, 99].map((percent) =>
          metrics.of(name, { statistic: Stats.percentile(percent), label: `p${percent}`, period }),
        ),
        leftYAxis: { label: metricTable[name].unit, showUnits: false, min: 0 },
        width: 6,
      }),
  );
}

/** Credits, images, and what had to be cleaned up. */
export function books({ serviceName, billing }: MonitoringSources): IWidget[] {
  const metrics = serviceMetrics(serviceName);
  const sum = (name: MetricName, label: string) => metrics.of(name, { label, period });
  const widgets = [
    new GraphWidget({
      title: 'Credits',
      left: [
        sum('creditsReserved', 'reserved'),
        sum('creditsSettled', 'settled'),
        sum('creditsReleased', 'released'),
      ],
    }),
    new GraphWidget({
      title: 'Images',
      left: [sum('imagesDelivered', 'images')],
      right: [sum('imageBytes', 'bytes')],
      rightYAxis: { label: metricTable.imageBytes.unit, showUnits: false, min: 0 },
    }),
    new GraphWidget({
      title: 'Sweep',
      left: [sum('leasesReleased', 'requests ended'), sum('sweepFailures', 'not ended')],
    }),
  ];
  const billingEvents = new GraphWidget({
    title: 'Billing events by outcome',
    stacked: true,
    left: [metrics.every('billingEvents')],
  });
  return billing === null ? widgets : [...widgets, billingEvents];
}
