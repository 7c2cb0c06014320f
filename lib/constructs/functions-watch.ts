import { MathExpression, Stats, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { GenerationWorker } from './generation-worker.ts';
import type { HttpApi } from './http-api.ts';
import {
  combined,
  graph,
  hour,
  inParts,
  maxMetrics,
  numbered,
  period,
  serviceMetrics,
  share,
  window,
} from './monitoring/metrics.ts';
import type { AlarmRow, Watched } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

export interface FunctionsWatchProps {
  /** Every function of the service. */
  readonly all: readonly ServiceFunction[];
  /** It calls most of them. What starts one of the others has an alarm about its failures. */
  readonly api: HttpApi;
  readonly worker: GenerationWorker;
}

/** What is watched of all functions alike. What is normal for those that wait for the model would be slow for the others. */
export function watchFunctions(props: FunctionsWatchProps): Watched {
  const { all, api, worker } = props;
  const [generating, buffered] = [api.functionsOf({ streams: true }), api.functionsOf({ streams: false })];
  const waiting = [...generating, worker.run];
  const ofEach = (title: string, metric: (fn: ServiceFunction) => Metric) => graph(title, all.map(metric));
  return {
    alarms: [
      // The workers crash with those that they work for.
      ...crashes('function-crashes-generating', [...generating, worker.run, worker.release], api),
      ...throttles('function-throttles-generating', generating),
      // A generation may use its whole deadline. Half of the time after it, for storing the outcome, is spare.
      ...slow('function-slow-generating', generating, timeoutOf(generating) - 15),
      ...crashes('function-crashes-buffered', buffered, api),
      ...throttles('function-throttles-buffered', buffered),
      ...slow('function-slow-buffered', buffered, 0.8 * timeoutOf(buffered)),
      ...waiting.map((fn) => versionFails(fn, 'errors', fn === worker.run)),
    ],
    widgets: {
      requests: [
        graph('Faults by code', [serviceMetrics(api).every('errors')], { stacked: true }),
        graph('Refusals by code', [serviceMetrics(api).every('refusals')], { stacked: true }),
        ofEach('Crashes', (fn) => fn.metricErrors({ label: fn.node.id, period })),
        ofEach('Throttled starts', (fn) => fn.metricThrottles({ label: fn.node.id, period })),
      ],
    },
    costs: {
      'Lambda: GB-seconds': [
        gigabyteSeconds('generations', waiting),
        gigabyteSeconds(
          'everything else',
          all.filter((fn) => !waiting.includes(fn)),
        ),
      ],
    },
  };
}

const row = { capability: 'functions', severity: 'critical' } as const;
const twoOfThree = { periods: 2, of: 3 };

function crashes(name: string, functions: readonly ServiceFunction[], api: HttpApi): AlarmRow[] {
  const errors = functions.map((fn) => fn.metricErrors({ period: window }));
  // The share needs one metric for the whole.
  return inParts(name, errors, maxMetrics - 1).map(({ id, metrics }) => ({
    ...row,
    id,
    runbook: 'function-crashes',
    means: 'Functions crash, run out of memory or run into their time-out.',
    metric: share(numbered(metrics), api.requests({ period: window }), { atLeast: 3, period: window }),
    threshold: 0.1,
  }));
}

/**
 * An alarm about the code that is deployed, and not about the version before it: that one's failures must not keep its cure out.
 * @param failed where the function counts what it failed at without a crash
 * @param queued whether most of its calls only find that a request must wait: of these no share is taken
 */
export function versionFails(
  fn: ServiceFunction,
  failed: 'errors' | 'billingEvents',
  queued = false,
): AlarmRow {
  const failures = {
    crashes: fn.metricOfVersion('Errors', { period: window }),
    faults: serviceMetrics(fn).ofVersion(failed, fn, { period: window }),
  };
  const calls = fn.metricOfVersion('Invocations', { period: window });
  return {
    ...row,
    id: `version-fails-${fn.node.id}`,
    runbook: 'version-fails',
    means: 'The newest version of a function fails.',
    rollsBack: fn,
    ...(queued
      ? { metric: combined('SUM', Object.values(failures), window), threshold: 3 }
      : { metric: share(failures, calls, { atLeast: 3, period: window }), threshold: 5 }),
  };
}

function throttles(name: string, functions: readonly ServiceFunction[]): AlarmRow[] {
  const throttled = functions.map((fn) => fn.metricThrottles({ period }));
  return inParts(name, throttled).map(({ id, metrics }) => ({
    ...row,
    ...twoOfThree,
    id,
    runbook: 'function-throttles',
    means: 'Lambda refuses to start functions: the account runs as many at once as it may.',
    metric: combined('SUM', metrics, period),
    threshold: 10,
  }));
}

function slow(name: string, functions: readonly ServiceFunction[], seconds: number): AlarmRow[] {
  const times = functions.map((fn) => fn.metricDuration({ statistic: Stats.MAXIMUM, period }));
  return inParts(name, times).map(({ id, metrics }) => ({
    ...row,
    ...twoOfThree,
    severity: 'warning',
    id,
    runbook: 'function-slow',
    means: 'Functions come near their time-out.',
    metric: combined('MAX', metrics, period),
    threshold: seconds * 1000,
  }));
}

function timeoutOf(functions: readonly ServiceFunction[]): number {
  return Math.min(...functions.map((fn) => fn.timeout!.toSeconds()));
}

/** AWS bills a function's duration times its configured memory. Durations are in milliseconds. */
function gigabyteSeconds(label: string, functions: readonly ServiceFunction[]): MathExpression {
  const id = (i: number) => `${label.replace(/\W/g, '_')}${i}`;
  const terms = functions.map((fn, i) => {
    const { memorySize = 128 } = fn.node.defaultChild as CfnFunction;
    return `${id(i)} * ${memorySize / 1024 / 1000}`;
  });
  return new MathExpression({
    expression: `SUM([${terms.join(', ')}])`,
    usingMetrics: Object.fromEntries(
      functions.map((fn, i) => [id(i), fn.metricDuration({ statistic: Stats.SUM, period: hour })]),
    ),
    label,
    period: hour,
  });
}
