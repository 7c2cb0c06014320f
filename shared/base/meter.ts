import { Metrics } from '@aws-lambda-powertools/metrics';
import { readFunctionVersion } from './config.ts';
import { isFault, type ErrorCode } from './errors.ts';
import {
  metricNamespace,
  metricTable,
  versionDimension,
  type CountedName,
  type Meter,
  type MetricName,
} from './metrics.ts';

/** A meter that keeps its values until the request's log line is written. */
export interface RecordingMeter extends Meter {
  values: [MetricName, number][];
  counts: [CountedName, string][];
}

export function recordingMeter(): RecordingMeter {
  const values: [MetricName, number][] = [];
  const counts: [CountedName, string][] = [];
  return {
    values,
    counts,
    add: (metric, value) => void values.push([metric, value]),
    count: (metric, value) => void counts.push([metric, value]),
  };
}

/** Counts an error. @returns whether it is a fault of ours, as `isFault` decides */
export function countError(meter: Meter, code: ErrorCode, failure: unknown): boolean {
  const ours = isFault(code, failure);
  meter.count(ours ? 'errors' : 'refusals', code);
  return ours;
}

/**
 * Turns a meter's values into members of log lines (CloudWatch, "Embedded metric format"). Metrics that have only the
 * deployment as their dimension share one line. Each count by code or outcome needs a line of its own. What failed is counted
 * by the function's version too.
 */
export function embeddedMetrics(
  { values, counts }: RecordingMeter,
  serviceName: string,
): { metrics: object; extraRecords: object[] } {
  return {
    metrics: values.length === 0 ? {} : serialize(serviceName, [], values),
    extraRecords: counts.map(([metric, value]) => {
      const { by } = metricTable[metric];
      const failed = metric === 'errors' || (metric === 'billingEvents' && value === 'failed');
      return serialize(serviceName, [{ [by]: value }, ...(failed ? ownVersion() : [])], [[metric, 1]]);
    }),
  };
}

function ownVersion(): Record<string, string>[] {
  const version = readFunctionVersion();
  return version === null ? [] : [{ [versionDimension]: version }];
}

function serialize(
  serviceName: string,
  dimensionSets: Record<string, string>[],
  values: [MetricName | CountedName, number][],
): object {
  const metrics = new Metrics({ namespace: metricNamespace, serviceName });
  for (const dimensions of dimensionSets) metrics.addDimensions(dimensions);
  for (const [metric, value] of values)
    metrics.addMetric(metricTable[metric].name, metricTable[metric].unit, value);
  return metrics.serializeMetrics();
}
