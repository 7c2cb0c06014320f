import { Duration } from 'aws-cdk-lib/core';
import { MathExpression, Stats, type IMetric, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ErrorCode } from '../../../shared/base/errors.ts';
import type { AlarmRow } from './alarms.ts';
import { apiMetrics, combined, numbered, serviceMetrics, share, unlessAsleep } from './metrics.ts';
import { routeGroups, type MonitoringSources, type RouteFunction } from './sources.ts';

/** Long enough for a small service to have some requests. CloudWatch evaluates it every minute, so an alarm does not wait for its end. */
const window = Duration.minutes(15);
const fiveMinutes = Duration.minutes(5);
/** Fewer failures than this may be chance. */
const minFailures = 3;
/** CloudWatch's limit for the expression of an alarm. A share needs one of them for the whole. */
const maxMetrics = 10;

/** Alarms about what callers see: generations, the API, the functions behind it. */
export function requestAlarms(sources: MonitoringSources): AlarmRow[] {
  return [
    ...generationFailures(sources),
    ...generationTimes(sources),
    ...apiAlarms(sources),
    ...routeGroups(sources).flatMap((group) => functionAlarms(sources, group.name, group.functions)),
    ...asyncAlarms(sources),
  ];
}

function generationFailures(sources: MonitoringSources): AlarmRow[] {
  const metrics = serviceMetrics(sources.serviceName);
  const errors = (code: ErrorCode) => ({ failed: metrics.count('errors', code, { period: window }) });
  // Counted beside a request's end, like everything that it is compared with.
  const accepted = metrics.of('creditsReserved', { statistic: Stats.SAMPLE_COUNT, period: window });
  const completed = metrics.of('paintTime', { statistic: Stats.SAMPLE_COUNT, period: window });
  const requests = apiMetrics(sources).requests({ period: window });
  const row = { capability: 'generation', severity: 'critical' } as const;
  /** A model that sleeps makes requests unavailable, and that is no fault. */
  const unlessExpected = (code: ErrorCode, measure: MathExpression) =>
    code === 'SERVICE_UNAVAILABLE' ? unlessAsleep(sources.model, measure, 'whole') : measure;
  const failing = (id: string, means: string, code: ErrorCode, whole: Metric, percent: number): AlarmRow => ({
    ...row,
    id,
    means,
    metric: unlessExpected(code, share(errors(code), whole, { atLeast: minFailures, period: window })),
    threshold: percent,
    rollsBack: true,
  });
  return [
    failing('generation-failed', 'Generations fail after acceptance.', 'GENERATION_FAILED', accepted, 10),
    failing('generation-timeout', 'Generations are not done by their deadline.', 'TIMEOUT', accepted, 10),
    failing(
      'service-unavailable',
      'Requests are refused because something the service needs is away or busy.',
      'SERVICE_UNAVAILABLE',
      requests,
      1,
    ),
    failing('internal-errors', 'Requests meet a fault that nobody foresaw.', 'INTERNAL_ERROR', requests, 0.1),
    {
      ...row,
      id: 'generation-none',
      means: 'Generations are accepted and not one of them is completed.',
      metric: unlessAsleep(
        sources.model,
        new MathExpression({
          expression: `IF(accepted >= ${minFailures} AND FILL(completed, 0) == 0, 1, 0)`,
          usingMetrics: { accepted, completed },
          period: window,
        }),
        'accepted',
      ),
      threshold: 1,
    },
  ];
}

function generationTimes({ serviceName, generationDeadlineSeconds }: MonitoringSources): AlarmRow[] {
  const metrics = serviceMetrics(serviceName);
  const slow = (id: string, means: string, name: 'queueWait' | 'paintTime'): AlarmRow => ({
    id,
    capability: 'generation',
    severity: 'warning',
    means,
    metric: new MathExpression({
      expression: `IF(measured >= 5, p90 / 1000, 0)`,
      usingMetrics: {
        measured: metrics.of(name, { statistic: Stats.SAMPLE_COUNT, period: window }),
        p90: metrics.of(name, { statistic: Stats.percentile(90), period: window }),
      },
      period: window,
    }),
    threshold: generationDeadlineSeconds / 2,
  });
  return [
    slow('generation-queue', 'One generation in ten waits half its deadline for the model.', 'queueWait'),
    slow('generation-slow', 'One generation in ten is painted for half its deadline.', 'paintTime'),
  ];
}

function apiAlarms(sources: MonitoringSources): AlarmRow[] {
  const { throttle, model } = sources;
  const { requests, serverErrors } = apiMetrics(sources);
  const secondsPerPeriod = 60;
  return [
    {
      id: 'api-server-errors',
      capability: 'api',
      severity: 'critical',
      means: 'The API answers with 5xx.',
      metric: unlessAsleep(
        model,
        share({ failed: serverErrors({ period: window }) }, requests({ period: window }), {
          atLeast: 5,
          period: window,
        }),
        'whole',
      ),
      threshold: 5,
    },
    {
      id: 'api-near-throttle',
      capability: 'api',
      severity: 'warning',
      means: `The API takes 80% of the ${throttle.ratePerSecond} requests a second that it is limited to.`,
      metric: requests({ period: Duration.seconds(secondsPerPeriod) }),
      threshold: 0.8 * throttle.ratePerSecond * secondsPerPeriod,
      periods: 3,
    },
    ...inParts('api-latency', latencies(sources), maxMetrics).map(({ id, metrics }): AlarmRow => ({
      id,
      runbook: 'api-latency',
      capability: 'api',
      severity: 'warning',
      means: 'A route that does not wait for the model takes 3 seconds.',
      metric: combined('MAX', metrics, fiveMinutes),
      threshold: 3000,
      periods: 3,
    })),
  ];
}

/**
 * The duration of each function that does not wait for the model. Lambda measures it at no charge; API Gateway's metrics
 * of each method cost money.
 */
function latencies({ functions }: MonitoringSources): IMetric[] {
  return functions
    .filter(({ route }) => !route.streams)
    .map(({ fn }) => fn.metricDuration({ statistic: Stats.percentile(99), period: fiveMinutes }));
}

function functionAlarms(
  sources: MonitoringSources,
  name: string,
  functions: readonly RouteFunction[],
): AlarmRow[] {
  const row = { capability: 'functions', severity: 'critical' } as const;
  const { generationDeadlineSeconds } = sources;
  const requests = apiMetrics(sources).requests({ period: window });
  const of = (metric: (fn: RouteFunction['fn']) => Metric) => functions.map(({ fn }) => metric(fn));
  const crashes = crashingOf(sources, name, functions).map((fn) => fn.metricErrors({ period: window }));
  const throttles = of((fn) => fn.metricThrottles({ period: fiveMinutes }));
  const times = of((fn) => fn.metricDuration({ statistic: Stats.MAXIMUM, period: fiveMinutes }));
  const slowMs = Math.min(
    ...functions.map(({ route, fn }) => slowSeconds(route.streams, fn, generationDeadlineSeconds) * 1000),
  );
  return [
    ...inParts(`function-crashes-${name}`, crashes, maxMetrics - 1).map(({ id, metrics }): AlarmRow => ({
      ...row,
      id,
      runbook: 'function-crashes',
      means: 'Functions crash, run out of memory or run into their time-out.',
      rollsBack: true,
      metric: share(numbered(metrics), requests, { atLeast: minFailures, period: window }),
      threshold: 0.1,
    })),
    ...inParts(`function-throttles-${name}`, throttles, maxMetrics).map(({ id, metrics }): AlarmRow => ({
      ...row,
      id,
      runbook: 'function-throttles',
      means: 'Lambda refuses to start functions: the account runs as many at once as it may.',
      metric: combined('SUM', metrics, fiveMinutes),
      threshold: 10,
      periods: 2,
      of: 3,
    })),
    ...inParts(`function-slow-${name}`, times, maxMetrics).map(({ id, metrics }): AlarmRow => ({
      ...row,
      severity: 'warning',
      id,
      runbook: 'function-slow',
      means: 'Functions come near their time-out.',
      metric: combined('MAX', metrics, fiveMinutes),
      threshold: slowMs,
      periods: 2,
      of: 3,
    })),
  ];
}

/** The worker, and what releases its failures, crash with those that they work for: rollbacks allow no more alarms. */
function crashingOf({ worker }: MonitoringSources, name: string, functions: readonly RouteFunction[]) {
  const workers = name === 'generating' ? [worker.run, worker.release] : [];
  return [...functions.map(({ fn }) => fn), ...workers];
}

/** Alarms about requests that nobody waits for on the line. */
function asyncAlarms({ worker }: MonitoringSources): AlarmRow[] {
  const row = { capability: 'generation', severity: 'warning' } as const;
  return [
    {
      ...row,
      id: 'async-failed-runs',
      means: 'Asynchronous requests were released because their run crashed or never began.',
      metric: worker.release.metricInvocations({ period: window }),
      threshold: 1,
    },
    {
      ...row,
      id: 'async-delayed',
      means: "Asynchronous requests wait half their deadline in Lambda's queue before they are run.",
      metric: worker.run.metric('AsyncEventAge', { statistic: Stats.MAXIMUM, period: fiveMinutes }),
      threshold: (worker.asyncDeadlineSeconds * 1000) / 2,
      periods: 2,
    },
  ];
}

/** A generation may use its whole deadline. The time after it, for storing the outcome, should not be used up too. */
function slowSeconds(streams: boolean, fn: RouteFunction['fn'], deadlineSeconds: number): number {
  const timeoutSeconds = fn.timeout!.toSeconds();
  return streams ? (deadlineSeconds + timeoutSeconds) / 2 : 0.8 * timeoutSeconds;
}

/** Splits metrics over as few alarms as the limit allows. The first alarm keeps the plain name. */
function inParts(id: string, metrics: readonly IMetric[], size: number) {
  const parts = Math.ceil(metrics.length / size);
  return Array.from({ length: parts }, (_, i) => ({
    id: i === 0 ? id : `${id}-${i + 1}`,
    metrics: metrics.slice(i * size, (i + 1) * size),
  }));
}
