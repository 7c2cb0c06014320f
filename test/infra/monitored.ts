import { RestApi, MockIntegration } from 'aws-cdk-lib/aws-apigateway';
import { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { App, Duration, Stack } from 'aws-cdk-lib/core';
import { Template } from 'aws-cdk-lib/assertions';
import { BillingQueue } from '../../lib/constructs/billing-queue.ts';
import { Firewall } from '../../lib/constructs/firewall.ts';
import { Monitoring, type MonitoringProps } from '../../lib/constructs/monitoring.ts';
import { RecordTable } from '../../lib/constructs/record-table.ts';
import { ServiceFunction } from '../../lib/constructs/service-function.ts';
import { SweepSchedule } from '../../lib/constructs/sweep-schedule.ts';
import { basePath, jobs, routes, type Route } from '../../shared/routes.ts';

export const serviceName = 'image-generation-test';

export interface Options extends Partial<
  Pick<MonitoringProps, 'alarmEmail' | 'generationDeadlineSeconds' | 'model' | 'throttle'>
> {
  billing?: boolean;
}

const ownModel = { endpointName: 'painter', variantName: 'AllTraffic', maxInstances: 4 };

/** A stack of what is monitored. @returns what it takes to monitor it. */
export function monitorable(options: Options = {}): { stack: Stack; props: MonitoringProps } {
  const { generationDeadlineSeconds = 60, model = ownModel, billing = true } = options;
  const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), serviceName);
  const addFunction = (functionName: string, timeoutSeconds: number) =>
    new ServiceFunction(stack, functionName, {
      functionName,
      serviceName,
      timeout: Duration.seconds(timeoutSeconds),
      logRetention: RetentionDays.ONE_WEEK,
    });
  const api = new RestApi(stack, 'Api');
  const functions = Object.values(routes).map((route: Route) => {
    api.root.resourceForPath(`${basePath}${route.path}`).addMethod(route.method, new MockIntegration());
    const timeoutSeconds = route.streams ? generationDeadlineSeconds + 30 : 20;
    return { route, fn: addFunction(route.functionName, timeoutSeconds) };
  });
  const sweep = addFunction(jobs.sweep.functionName, 50);
  const props: MonitoringProps = {
    serviceName,
    alarmEmail: options.alarmEmail ?? null,
    generationDeadlineSeconds,
    throttle: options.throttle ?? { ratePerSecond: 100, burst: 200 },
    api,
    accessLog: new LogGroup(stack, 'AccessLog'),
    functions,
    references: addFunction(jobs.fetchReferences.functionName, 12),
    sweep: {
      fn: sweep,
      everyMinutes: 1,
      schedule: new SweepSchedule(stack, 'Sweep', { fn: sweep, everyMinutes: 1 }),
    },
    billing: billing ? addBilling(stack, addFunction(jobs.billingEvents.functionName, 50)) : null,
    table: new RecordTable(stack, 'Records').table,
    model,
    webAcl: new Firewall(stack, 'Firewall', {
      api,
      requestsPerAddress: 3000,
      logRetention: RetentionDays.ONE_WEEK,
    }).webAcl,
    distribution: new Distribution(stack, 'Site', {
      defaultBehavior: { origin: new HttpOrigin('example.com') },
    }),
  };
  return { stack, props };
}

function addBilling(stack: Stack, fn: ServiceFunction) {
  const eventBusName = 'aws.partner/stripe.com/ed_test';
  const { queue, deadLetterQueue } = new BillingQueue(stack, 'Billing', { eventBusName, fn });
  return { fn, queue, deadLetterQueue };
}

export function monitored(options: Options = {}) {
  const { stack, props } = monitorable(options);
  const monitoring = new Monitoring(stack, 'Monitoring', props);
  const template = Template.fromStack(stack);
  return { stack, monitoring, template, alarms: alarmsOf(template), widgets: widgetsOf(template) };
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

interface RawMetric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: unknown }[];
}

/** By their names without the deployment's. */
function alarmsOf(template: Template): Map<string, AlarmProperties> {
  const found = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  return new Map(
    found.map(({ Properties }) => [Properties.AlarmName.slice(serviceName.length + 1), Properties]),
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

/** What is computed of an alarm's metrics, if anything is. */
export function expressionOf(alarm: AlarmProperties): string | undefined {
  return alarm.Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression;
}

interface Widget {
  type: string;
  properties: { title?: string; markdown?: string; metrics?: unknown[][]; alarms?: string[] };
}

/** The board's, with every token as `TOKEN`. */
function widgetsOf(template: Template): Widget[] {
  const [board] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const parts: unknown[] = board!.Properties.DashboardBody['Fn::Join'][1];
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

/** Whether an alarm that computes something rings at these values of its metrics. */
export function rings(alarm: AlarmProperties, values: Record<string, number>): boolean {
  const value = evaluate(expressionOf(alarm)!, values);
  return value !== undefined && value >= alarm.Threshold;
}

/**
 * What CloudWatch makes of an alarm's expression (Amazon CloudWatch, "Metric math syntax and functions"): a metric
 * without data is undefined, and so is whatever is computed of it, except by what is for that.
 */
function evaluate(expression: string, values: Record<string, number | undefined>): number | undefined {
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
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the expression is this repository's own
  const run = new Function(...Object.keys(functions), ...names, body);
  const value: number = run(...Object.values(functions), ...numbers);
  return Number.isNaN(value) ? undefined : value;
}

/** Of what is known; of nothing nothing is. */
function fold(list: number[], combine: (known: number[]) => number): number {
  const known = list.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? Number.NaN : combine(known);
}
