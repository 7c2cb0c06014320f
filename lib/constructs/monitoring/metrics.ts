import { Duration } from 'aws-cdk-lib/core';
import {
  GraphWidget,
  MathExpression,
  Metric,
  SearchExpression,
  Stats,
  type GraphWidgetProps,
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
} from '../../../shared/base/metrics.ts';
import type { ModelSource, MonitoringSources, OwnModel } from './sources.ts';

/** The metrics of shared/base/metrics.ts as one deployment reports them. No other code here names one of them. */
export function serviceMetrics(serviceName: string) {
  const own = (name: MetricName | CountedName, dimensions: Record<string, string>, options: MetricOptions) =>
    new Metric({
      namespace: metricNamespace,
      metricName: metricTable[name].name,
      dimensionsMap: { [serviceDimension]: serviceName, ...dimensions },
      ...options,
    });

  return {
    /** A metric that has the deployment as its only dimension. @default statistic: Sum */
    of: (name: MetricName, options: MetricOptions = {}) =>
      own(name, {}, { statistic: Stats.SUM, ...options }),

    /** How often one value of the second dimension (a code, an outcome) was counted. */
    count: (name: CountedName, value: string, options: MetricOptions = {}) =>
      own(name, { [metricTable[name].by]: value }, { statistic: Stats.SUM, ...options }),

    /** Every value of the second dimension. For graphs: CloudWatch allows no search in alarms. */
    every: (name: CountedName): SearchExpression => {
      const { name: metricName, by } = metricTable[name];
      const schema = [metricNamespace, serviceDimension, by].join(',');
      return search(`{${schema}} MetricName="${metricName}" ${serviceDimension}="${serviceName}"`, 'Sum');
    },
  };
}

/**
 * The API's metrics, by the names of API and stage. A reference to the stage would make an alarm wait for the stage, which
 * waits for the functions, which are deployed only after the alarms that may stop them.
 */
export function apiMetrics({ serviceName, stageName }: MonitoringSources) {
  const of = (metricName: string, statistic: string) => (options: MetricOptions) =>
    new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiName: serviceName, Stage: stageName },
      statistic,
      ...options,
    });
  return {
    requests: of('Count', Stats.SAMPLE_COUNT),
    clientErrors: of('4XXError', Stats.SUM),
    serverErrors: of('5XXError', Stats.SUM),
  };
}

/** A SageMaker metric of every variant of an endpoint. */
export function searchModel(namespace: string, metricName: string, statistic: string, endpointName: string) {
  const schema = `${namespace},EndpointName,VariantName`;
  return search(`{${schema}} MetricName="${metricName}" EndpointName="${endpointName}"`, statistic);
}

function search(query: string, statistic: string): SearchExpression {
  return new SearchExpression({
    expression: `SEARCH('${query}', '${statistic}', 300)`,
    // Without a label the legend shows the dimensions.
    label: '',
    period: Duration.minutes(5),
  });
}

/** SageMaker reports requests, the use of instances, and the use of copies of an inference component in three namespaces. */
export const modelNamespaces = {
  requests: 'AWS/SageMaker',
  instances: '/aws/sagemaker/Endpoints',
  copies: '/aws/sagemaker/InferenceComponents',
} as const;

/** A metric of the copies of an inference component. */
export function componentMetric(
  kind: 'requests' | 'copies',
  metricName: string,
  componentName: string,
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: modelNamespaces[kind],
    metricName,
    dimensionsMap: { InferenceComponentName: componentName },
    ...options,
  });
}

/** A metric of the stack's own endpoint. Requests to an inference component are counted by its name. */
export function modelMetric(
  kind: 'requests' | 'instances',
  metricName: string,
  { endpointName, variantName, componentName }: OwnModel,
  options: MetricOptions,
): Metric {
  if (kind === 'requests' && componentName !== null) {
    return componentMetric(kind, metricName, componentName, options);
  }
  return new Metric({
    namespace: modelNamespaces[kind],
    metricName,
    dimensionsMap: { EndpointName: endpointName, VariantName: variantName },
    ...options,
  });
}

/**
 * The number of instances that answered requests. SageMaker reports no such count, but requests
 * (`Invocations`) and requests divided by instances (`InvocationsPerInstance`) or by copies, of which each has an instance.
 */
export function modelInstances(model: OwnModel, options: MetricOptions): MathExpression {
  const sum = { statistic: Stats.SUM, ...options };
  const divided = model.componentName === null ? 'InvocationsPerInstance' : 'InvocationsPerCopy';
  return new MathExpression({
    expression: 'requests / perInstance',
    usingMetrics: {
      requests: modelMetric('requests', 'Invocations', model, sum),
      perInstance: modelMetric('requests', divided, model, sum),
    },
    label: 'instances',
    ...(options.period ? { period: options.period } : {}),
  });
}

/** Requests that found no copy of a model that may sleep. Each asks for one to be started. */
export function callsWhileAsleep(componentName: string, options: MetricOptions): Metric {
  return componentMetric('requests', 'NoCapacityInvocationFailures', componentName, {
    statistic: Stats.SUM,
    label: 'calls while asleep',
    ...options,
  });
}

/**
 * The same measure, but 0 in periods in which a request found the model asleep: that is no fault.
 * @param whole the name of one of its metrics that has data whenever the measure may be more than 0
 */
export function unlessAsleep(
  { componentName }: ModelSource,
  measure: MathExpression,
  whole: string,
): MathExpression {
  if (componentName === null) return measure;
  const { expression, usingMetrics, period } = measure;
  return new MathExpression({
    // FILL would have nothing to fill where the metric has no data at all; a function over a list skips it.
    expression: `IF(SUM([asleep, ${whole}]) > ${whole}, 0, ${expression})`,
    usingMetrics: { ...usingMetrics, asleep: callsWhileAsleep(componentName, { period }) },
    period,
  });
}

/** Requests that all rules of the firewall refused. AWS WAF reports under the name in `visibilityConfig`, not under the ACL's own. */
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

/** The part in percent of the whole; 0 while the part is below `atLeast`, because a share of few says little. */
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
 * The sum or the maximum of several metrics. Functions over a list skip metrics without data; with `+` one such metric
 * would leave the whole sum without data, and metrics of errors mostly have none.
 */
export function combined(fold: 'SUM' | 'MAX', metrics: readonly IMetric[], period: Duration): MathExpression {
  const usingMetrics = numbered(metrics);
  return new MathExpression({ expression: foldOf(fold, Object.keys(usingMetrics)), usingMetrics, period });
}

/** With a single metric SUM and MAX would work over time instead, so one metric stands alone. */
function foldOf(fold: 'SUM' | 'MAX', names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${fold}([${names.join(', ')}])`;
}

/** Gives metrics names that an expression can use: m0, m1, … */
export function numbered(metrics: readonly IMetric[]): Record<string, IMetric> {
  return Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]));
}

/** A graph, of a quarter of the board's width unless `more` says otherwise. */
export function graph(title: string, left: IMetric[], more: GraphWidgetProps = {}): GraphWidget {
  return new GraphWidget({ title, left, ...more });
}
