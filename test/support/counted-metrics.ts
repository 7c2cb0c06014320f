import type { EmfOutput } from '@aws-lambda-powertools/metrics/types';
import { evaluate, expressionOf, type AlarmProperties } from '../infra/monitored.ts';

/** What AWS would have counted, by namespace and name; left out where nothing was. */
export type CountedByAws = Record<string, number>;

interface MetricStat {
  Metric: { Namespace: string; MetricName: string; Dimensions?: { Name: string; Value: unknown }[] };
  Stat: string;
}

/** The values of the service's own metrics, as CloudWatch finds them in lines of the log: by their names and codes. */
export function embeddedValues(lines: object[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const line of lines as (EmfOutput & Record<string, any>)[]) {
    for (const { Metrics, Dimensions } of line._aws?.CloudWatchMetrics ?? []) {
      const by = Dimensions[0]!.filter((name) => name !== 'service').map((name) => line[name]);
      for (const { Name } of Metrics) {
        const key = [Name, ...by].join(' ');
        found.set(key, [...(found.get(key) ?? []), line[Name]].flat());
      }
    }
  }
  return found;
}

/** Whether an alarm would start if all of it happened within one of its periods, and in each of them. */
export function rings(alarm: AlarmProperties, own: Map<string, number[]>, aws: CountedByAws): boolean {
  const valueOf = ({ Metric: { Namespace, MetricName, Dimensions = [] }, Stat }: MetricStat) => {
    if (!Namespace.startsWith('ImageGeneration')) return aws[`${Namespace} ${MetricName}`];
    const by = Dimensions.filter(({ Name }) => Name !== 'service').map(({ Value }) => Value);
    const values = own.get([MetricName, ...by].join(' '));
    if (values === undefined || Stat === 'SampleCount') return values?.length;
    return Stat === 'Sum' ? values.reduce((sum, one) => sum + one, 0) : Math.max(...values);
  };
  const { Metrics = [], Namespace = '', MetricName = '', Dimensions = [], Threshold } = alarm;
  const stats = (Metrics as any as { Id: string; MetricStat?: MetricStat }[]).filter((one) => one.MetricStat);
  const expression = expressionOf(alarm);
  const single = stats[0]?.MetricStat ?? { Metric: { Namespace, MetricName, Dimensions }, Stat: 'Sum' };
  const value =
    expression === undefined
      ? valueOf(single)
      : evaluate(expression, Object.fromEntries(stats.map((one) => [one.Id, valueOf(one.MetricStat!)])));
  // The one alarm that starts below its threshold is about a clock.
  return value !== undefined && alarm.ComparisonOperator.startsWith('Greater') && value >= Threshold;
}
