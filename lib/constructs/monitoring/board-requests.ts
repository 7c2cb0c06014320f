import { Duration } from 'aws-cdk-lib/core';
import { Stats, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { metricTable, type MetricName } from '../../../shared/base/metrics.ts';
import { apiMetrics, graph, serviceMetrics } from './metrics.ts';
import { allFunctions, type MonitoringSources } from './sources.ts';

const period = Duration.minutes(5);

export function requestGraphs(sources: MonitoringSources): IWidget[] {
  const { functions } = sources;
  const api = apiMetrics(sources);
  return [
    graph(
      'Requests by route',
      functions.map(({ route, fn }) =>
        fn.metricInvocations({ label: `${route.method} ${route.path}`, period }),
      ),
      { stacked: true, width: 12 },
    ),
    graph('API: all, refused, failed', [
      api.requests({ label: 'all', period }),
      api.clientErrors({ label: '4xx', period }),
      api.serverErrors({ label: '5xx', period }),
    ]),
    graph(
      'API: time to answer, p99, routes without the model',
      functions
        .filter(({ route }) => !route.streams)
        .map(({ route, fn }) =>
          fn.metricDuration({
            label: `${route.method} ${route.path}`,
            statistic: Stats.percentile(99),
            period,
          }),
        ),
      { leftYAxis: { label: 'ms', showUnits: false, min: 0 } },
    ),
  ];
}

export function errorGraphs(sources: MonitoringSources): IWidget[] {
  const metrics = serviceMetrics(sources.serviceName);
  const functions = allFunctions(sources);
  return [
    graph('Errors by code', [metrics.every('errors')], { stacked: true, width: 12 }),
    graph(
      'Crashes',
      functions.map((fn) => fn.metricErrors({ label: fn.node.id, period })),
    ),
    graph(
      'Throttled starts',
      functions.map((fn) => fn.metricThrottles({ label: fn.node.id, period })),
    ),
  ];
}

const phaseTitles = {
  acceptTime: 'Accept: until credits are reserved',
  queueWait: 'Queue: until the model starts',
  paintTime: 'Paint: until the images are stored',
  settleTime: 'Settle: until the charge is stored',
} satisfies Partial<Record<MetricName, string>>;

/** How long each phase of a generation takes. */
export function phaseGraphs({ serviceName }: MonitoringSources): IWidget[] {
  const metrics = serviceMetrics(serviceName);
  return (Object.keys(phaseTitles) as (keyof typeof phaseTitles)[]).map((name) =>
    graph(
      phaseTitles[name],
      [50, 90, 99].map((percent) =>
        metrics.of(name, { statistic: Stats.percentile(percent), label: `p${percent}`, period }),
      ),
      { leftYAxis: { label: metricTable[name].unit, showUnits: false, min: 0 } },
    ),
  );
}

/** Requests that nobody waits for on the line. */
export function asyncGraphs({ serviceName, worker }: MonitoringSources): IWidget[] {
  const metrics = serviceMetrics(serviceName);
  const milliseconds = { leftYAxis: { label: 'Milliseconds', showUnits: false, min: 0 } };
  return [
    graph(
      'Asynchronous: until the model starts',
      [50, 90, 99].map((percent) =>
        metrics.of('asyncWait', { statistic: Stats.percentile(percent), label: `p${percent}`, period }),
      ),
      milliseconds,
    ),
    graph(
      "Asynchronous: age in Lambda's queue",
      [worker.run.metric('AsyncEventAge', { statistic: Stats.MAXIMUM, label: 'oldest', period })],
      milliseconds,
    ),
    graph('Asynchronous: runs', [
      worker.run.metricInvocations({ label: 'begun', period }),
      worker.release.metricInvocations({ label: 'failed', period }),
    ]),
    graph('Asynchronous: runs at once', [
      worker.run.metric('ConcurrentExecutions', { statistic: Stats.MAXIMUM, label: 'at once', period }),
    ]),
  ];
}

/** Credits, images, and what the sweep had to end. */
export function creditGraphs({ serviceName, billing, notices }: MonitoringSources): IWidget[] {
  const metrics = serviceMetrics(serviceName);
  const sum = (name: MetricName, label: string) => metrics.of(name, { label, period });
  const widgets = [
    graph('Credits', [
      sum('creditsReserved', 'reserved'),
      sum('creditsSettled', 'settled'),
      sum('creditsReleased', 'released'),
    ]),
    graph('Images', [sum('imagesDelivered', 'images')], {
      right: [sum('imageBytes', 'bytes')],
      rightYAxis: { label: metricTable.imageBytes.unit, showUnits: false, min: 0 },
    }),
    graph('Sweep', [sum('leasesReleased', 'requests ended'), sum('sweepFailures', 'not ended')]),
  ];
  const billingEvents = graph('Billing events by outcome', [metrics.every('billingEvents')], {
    stacked: true,
  });
  const mails = graph('E-mails', [sum('noticesSent', 'sent'), sum('noticeFailures', 'not sent')]);
  return [...widgets, ...(billing === null ? [] : [billingEvents]), ...(notices === null ? [] : [mails])];
}
