import { Duration, Stack } from 'aws-cdk-lib/core';
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
import type { IConstruct } from 'constructs';
import {
  metricNamespace,
  metricTable,
  serviceDimension,
  versionDimension,
  type CountedName,
  type MetricName,
} from '../../../shared/base/metrics.ts';
import type { ServiceFunction } from '../service-function.ts';

/** Of graphs, and of alarms that start soon. */
export const period = Duration.minutes(5);
/** Long enough for a small service to have some requests. CloudWatch evaluates it every minute, so an alarm does not wait for its end. */
export const window = Duration.minutes(15);
export const hour = Duration.hours(1);

/** The metrics of shared/base/metrics.ts as the scope's deployment reports them. No other code here names one of them. */
export function serviceMetrics(scope: IConstruct) {
  const serviceName = Stack.of(scope).stackName;
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

    /** What one version of a function failed at, as `embeddedMetrics` counts it. */
    ofVersion: (
      name: CountedName,
      { functionName, currentVersion }: ServiceFunction,
      options: MetricOptions,
    ) =>
      own(
        name,
        { [versionDimension]: `${functionName}:${currentVersion.version}` },
        { statistic: Stats.SUM, ...options },
      ),

    /** Every value of the second dimension. For graphs: CloudWatch allows no search in alarms. */
    every: (name: CountedName): SearchExpression => {
      const { name: metricName, by } = metricTable[name];
      const schema = [metricNamespace, serviceDimension, by].join(',');
      return search(`{${schema}} MetricName="${metricName}" ${serviceDimension}="${serviceName}"`, 'Sum');
    },
  };
}

/** Every metric that a query of CloudWatch finds. */
export function search(query: string, statistic: string): SearchExpression {
  return new SearchExpression({
    expression: `SEARCH('${query}', '${statistic}', 300)`,
    // Without a label the legend shows the dimensions.
    label: '',
    period,
  });
}

/**
 * The part in percent of the whole; 0 while the part is below `atLeast`, because a share of few says little.
 * @param options.except what is counted within the part and is none of it.
 * @param options.beside what is counted within the whole and is none of it.
 */
export function share(
  part: Record<string, IMetric>,
  whole: IMetric,
  options: { atLeast: number; period: Duration; except?: IMetric; beside?: IMetric },
): MathExpression {
  const { atLeast, period: every, except, beside } = options;
  const names = Object.keys(part);
  const sum = except ? `SUM([${names.join(', ')}, -1 * except])` : foldOf('SUM', names);
  const ofWhole = beside ? 'SUM([whole, -1 * beside])' : 'whole';
  return new MathExpression({
    expression: `IF(${sum} >= ${atLeast}, 100 * ${sum} / ${ofWhole}, 0)`,
    usingMetrics: { ...part, whole, ...(except && { except }), ...(beside && { beside }) },
    period: every,
  });
}

/**
 * The sum or the maximum of several metrics. Functions over a list skip metrics without data; with `+` one such metric
 * would leave the whole sum without data, and metrics of errors mostly have none.
 */
export function combined(fold: 'SUM' | 'MAX', metrics: readonly IMetric[], every: Duration): MathExpression {
  const usingMetrics = numbered(metrics);
  return new MathExpression({
    expression: foldOf(fold, Object.keys(usingMetrics)),
    usingMetrics,
    period: every,
  });
}

/** With a single metric SUM and MAX would work over time instead, so one metric stands alone. */
function foldOf(fold: 'SUM' | 'MAX', names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${fold}([${names.join(', ')}])`;
}

/** Gives metrics names that an expression can use: m0, m1, … */
export function numbered(metrics: readonly IMetric[]): Record<string, IMetric> {
  return Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]));
}

/** CloudWatch's limit for the expression of an alarm. */
export const maxMetrics = 10;

/** Splits metrics over as few alarms as the limit allows. The first alarm keeps the plain name. */
export function inParts(id: string, metrics: readonly IMetric[], size = maxMetrics) {
  const parts = Math.ceil(metrics.length / size);
  return Array.from({ length: parts }, (_, i) => ({
    id: i === 0 ? id : `${id}-${i + 1}`,
    metrics: metrics.slice(i * size, (i + 1) * size),
  }));
}

/** A graph, of a quarter of the board's width unless `more` says otherwise. */
export function graph(title: string, left: IMetric[], more: GraphWidgetProps = {}): GraphWidget {
  return new GraphWidget({ title, left, ...more });
}

/** The left axis of a graph whose metrics have one unit. */
export function axisOf(unit: string): GraphWidgetProps {
  return { leftYAxis: { label: unit, showUnits: false, min: 0 } };
}
