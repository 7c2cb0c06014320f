import type { ConfigurationName } from '../support/configurations.ts';
import type { Template } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { allProperties, plain, propertiesOf } from './resources.ts';

/** The alarms and the dashboard of a configuration. */
export function monitored(name: ConfigurationName) {
  const template = templateOf(name);
  return { template, alarms: alarmsOf(template), widgets: widgetsOf(template) };
}

export interface DrawnMetric {
  namespace: string;
  name: string;
  dimensions: Record<string, unknown>;
}

export interface AlarmProperties {
  AlarmName: string;
  AlarmDescription: string;
  Threshold: number;
  ComparisonOperator: string;
  EvaluationPeriods: number;
  DatapointsToAlarm: number;
  TreatMissingData: string;
  AlarmActions: unknown[];
  OKActions?: unknown[];
  InsufficientDataActions?: unknown[];
  Metrics?: { Id: string; Expression?: string; MetricStat?: { Metric: RawMetric; Period: number } }[];
  Namespace?: string;
  MetricName?: string;
  Dimensions?: RawMetric['Dimensions'];
  Period?: number;
}

/** What the name of an alarm about one version of a function ends in. */
export const versionEnd = /-<\w+\.Version>$/;

interface RawMetric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: unknown }[];
}

/** By the end of their names, without a function's version. The alarm of the endpoint's rollback has no name. */
function alarmsOf(template: Template): Map<string, AlarmProperties> {
  const { DashboardName: serviceName } = propertiesOf(template, 'AWS::CloudWatch::Dashboard');
  const found = allProperties(template, 'AWS::CloudWatch::Alarm').filter(({ AlarmName }) => AlarmName);
  return new Map(
    found.map((properties) => [
      plain(properties.AlarmName).replace(`${serviceName}-`, '').replace(versionEnd, ''),
      properties,
    ]),
  );
}

export function metricsOf(alarm: AlarmProperties): DrawnMetric[] {
  const raw = alarm.Metrics?.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : [])) ?? [
    alarm as RawMetric,
  ];
  return raw.map(({ Namespace, MetricName, Dimensions = [] }) => ({
    namespace: Namespace,
    name: MetricName,
    dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
  }));
}

/** The expression over an alarm's metrics, if it has one. */
export function expressionOf(alarm: AlarmProperties): string | undefined {
  return alarm.Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression;
}

interface Widget {
  type: string;
  properties: { title?: string; markdown?: string; metrics?: unknown[][]; alarms?: string[] };
}

/** The dashboard's widgets, with every reference as `TOKEN`. */
function widgetsOf(template: Template): Widget[] {
  const parts: unknown[] = propertiesOf(template, 'AWS::CloudWatch::Dashboard').DashboardBody['Fn::Join'][1];
  return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'TOKEN')).join('')).widgets;
}

export function drawnMetrics(widgets: Widget[]): DrawnMetric[] {
  const rows = widgets.flatMap(({ properties }) => properties.metrics ?? []);
  return rows.flatMap((row) => {
    const [namespace, name, ...rest] = row.filter((part) => typeof part === 'string');
    if (namespace === undefined || name === undefined) return [];
    const pairs = Array.from({ length: rest.length / 2 }, (_, i) => [rest[2 * i], rest[2 * i + 1]]);
    return [{ namespace, name, dimensions: Object.fromEntries(pairs) }];
  });
}

export function searches(widgets: Widget[]): string[] {
  const options = widgets.flatMap(({ properties }) => properties.metrics ?? []).map((row) => row.at(-1));
  return options.flatMap((option) => {
    const { expression = '' } = (option ?? {}) as { expression?: string };
    return expression.startsWith('SEARCH(') ? [expression] : [];
  });
}

/** Whether an alarm with an expression starts at these values of its metrics. */
export function starts(alarm: AlarmProperties, values: Record<string, number>): boolean {
  const value = evaluate(expressionOf(alarm)!, values);
  return value !== undefined && value >= alarm.Threshold;
}

/**
 * Evaluates an expression as CloudWatch does (Amazon CloudWatch, "Metric math syntax and functions"): a metric without
 * data is undefined, and so is every result of it, except of FILL and of functions over lists.
 */
export function evaluate(expression: string, values: Record<string, number | undefined>): number | undefined {
  const functions = {
    IF: (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise),
    ABS: (value: number) => Math.abs(value),
    FILL: (value: number, filler: number) => (Number.isNaN(value) ? filler : value),
    SUM: (list: number[]) => fold(list, (some) => some.reduce((sum, value) => sum + value, 0)),
    MAX: (list: number[]) => fold(list, (some) => Math.max(...some)),
  };
  const names = new Set(expression.match(/\b[a-z]\w*\b/g));
  const numbers = [...names].map((name) => values[name] ?? Number.NaN);
  const body = `return ${expression.replaceAll(' AND ', ' && ')}`;
  // The expression is this repository's own
  const run = new Function(...Object.keys(functions), ...names, body);
  const value: number = run(...Object.values(functions), ...numbers);
  return Number.isNaN(value) ? undefined : value;
}

/** Skips metrics without data. If no metric has data, the result has none. */
function fold(list: number[], combine: (known: number[]) => number): number {
  const known = list.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? Number.NaN : combine(known);
}
