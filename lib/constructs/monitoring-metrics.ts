import { Duration } from 'aws-cdk-lib/core';
import {
  MathExpression,
  Metric,
  SearchExpression,
  Stats,
  type IMetric,
  type MetricOptions,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import {
  metricNamespace,
  metricTable,
  serviceDimension,
  type CountedName,
  type MetricName,
} from '../../shared/metrics.ts';
import type { ModelSource } from './monitoring-sources.ts';

export type ServiceMetrics = ReturnType<typeof serviceMetrics>;

/** The metrics of shared/metrics.ts, as one deployment reports them. Nothing else names one. */
export function serviceMetrics(serviceName: string) {
  const own = (name: MetricName | CountedName, dimensions: Record<string, string>, options: MetricOptions) =>
    new Metric({
      namespace: metricNamespace,
      metricName: metricTable[name].name,
      dimensionsMap: { [serviceDimension]: serviceName, ...dimensions },
      ...options,
    });

  return {
    /** What is measured under the deployment alone. @default statistic: Sum */
    of: (name: MetricName, options: MetricOptions = {}) =>
      own(name, {}, { statistic: Stats.SUM, ...options }),

    /** How often one value of the second dimension was counted: a code, an outcome. */
    count: (name: CountedName, value: string, options: MetricOptions = {}) =>
      own(name, { [metricTable[name].by]: value }, { statistic: Stats.SUM, ...options }),

    /** Every value of the second dimension that was ever counted. Alarms can't search, graphs can. */
    every: (name: CountedName): SearchExpression => {
      const { name: metricName, by } = metricTable[name];
      const schema = [metricNamespace, serviceDimension, by].join(',');
      return search(`{${schema}} MetricName="${metricName}" ${serviceDimension}="${serviceName}"`, 'Sum');
    },
  };
}

/** Metrics of SageMaker's of one endpoint, whatever its variants are called. */
export function searchModel(namespace: string, metricName: string, statistic: string, endpointName: string) {
  const schema = `${namespace},EndpointName,VariantName`;
  return search(`{${schema}} MetricName="${metricName}" EndpointName="${endpointName}"`, statistic);
}

function search(query: string, statistic: string): SearchExpression {
  return new SearchExpression({
    expression: `SEARCH('${query}', '${statistic}', 300)`,
    // The legend tells them apart by their dimensions.
    label: '',
    period: Duration.minutes(5),
  });
}

/** SageMaker reports requests and utilization in two namespaces. */
export const modelNamespaces = {
  requests: 'AWS/SageMaker',
  instances: '/aws/sagemaker/Endpoints',
} as const;

/** A metric of the stack's own endpoint. */
export function modelMetric(
  kind: keyof typeof modelNamespaces,
  metricName: string,
  { endpointName, variantName }: ModelSource & { readonly variantName: string },
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: modelNamespaces[kind],
    metricName,
    dimensionsMap: { EndpointName: endpointName, VariantName: variantName },
    ...options,
  });
}

/**
 * How many instances answered, while any did: SageMaker reports one part of each request by the number of instances
 * (`InvocationsPerInstance`), and no count of them.
 */
export function modelInstances(
  model: ModelSource & { readonly variantName: string },
  options: MetricOptions,
): MathExpression {
  const sum = { statistic: Stats.SUM, ...options };
  return new MathExpression({
    expression: 'requests / perInstance',
    usingMetrics: {
      requests: modelMetric('requests', 'Invocations', model, sum),
      perInstance: modelMetric('requests', 'InvocationsPerInstance', model, sum),
    },
    label: 'instances',
    ...(options.period ? { period: options.period } : {}),
  });
}

/** Requests that the firewall refused, by all its rules together. It reports under its metrics' name, not its own. */
export function blockedRequests(webAcl: CfnWebACL, options: MetricOptions): Metric {
  const { metricName } = webAcl.visibilityConfig as CfnWebACL.VisibilityConfigProperty;
  return new Metric({
    namespace: 'AWS/WAFV2',
    metricName: 'BlockedRequests',
    dimensionsMap: { WebACL: metricName, Region: webAcl.stack.region, Rule: 'ALL' },
    statistic: Stats.SUM,
    ...options,
  });
}

/** Percent of the whole, once there are so many that a share means something; 0 until then. */
export function share(
  part: Record<string, IMetric>,
  whole: IMetric,
  { atLeast, period }: { atLeast: number; period: Duration },
): MathExpression {
  const sum = foldOf('SUM', Object.keys(part));
  return new MathExpression({
    expression: `IF(${sum} >= ${atLeast}, 100 * ${sum} / whole, 0)`,
    usingMetrics: { ...part, whole },
    period,
  });
}

/**
 * Of several metrics together. A list is folded over what is there; `+` would give nothing where one of them has no
 * data, as metrics of faults mostly have.
 */
export function combined(fold: 'SUM' | 'MAX', metrics: readonly IMetric[], period: Duration): MathExpression {
  const usingMetrics = numbered(metrics);
  return new MathExpression({ expression: foldOf(fold, Object.keys(usingMetrics)), usingMetrics, period });
}

/** One metric alone must not be folded: that would be over its time. */
function foldOf(fold: 'SUM' | 'MAX', names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${fold}([${names.join(', ')}])`;
}

/** Metrics under names that an expression can use. */
export function numbered(metrics: readonly IMetric[]): Record<string, IMetric> {
  return Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]));
}
