import { Duration } from 'aws-cdk-lib/core';
import { Stats, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';

/** A construct that says what of it is watched. `Monitoring` makes the alarms and the dashboard of all of them. */
export interface Watched {
  readonly alarms?: readonly AlarmRow[];
  readonly widgets?: Widgets;
  /** What AWS bills. Several constructs may add metrics to one graph. */
  readonly costs?: Costs;
}

export type Capability =
  | 'generation'
  | 'api'
  | 'functions'
  | 'credits'
  | 'references'
  | 'sweep'
  | 'table'
  | 'billing'
  | 'mail'
  | 'firewall'
  | 'images'
  | 'dashboard'
  | 'model';

/** One alarm. */
export interface AlarmRow {
  /** The end of its name. */
  readonly id: string;
  /** Its section of docs/runbook.md. @default the id */
  readonly runbook?: string;
  readonly capability: Capability;
  /** Critical: customers notice it, or money is at risk. A warning can wait until the morning. */
  readonly severity: 'critical' | 'warning';
  /** One sentence for the alarm's description. */
  readonly means: string;
  readonly metric: IMetric;
  /** The alarm starts at this value or above. With `below` it starts below this value. */
  readonly threshold: number;
  readonly below?: boolean;
  /** How many of the last `of` periods must be beyond the threshold. @default periods: 1, of: the same number */
  readonly periods?: number;
  readonly of?: number;
  /** Whether a period without data counts as beyond the threshold. @default false: no traffic is no failure */
  readonly missingDataBreaches?: boolean;
  /** The function whose newest version alone starts the alarm. Its deployment is taken back then. @default none */
  readonly rollsBack?: ServiceFunction;
  /** What must be deployed before the alarm. */
  readonly after?: readonly IConstruct[];
}

/** The dashboard's sections, in their order, with their headings. */
export const sections = {
  requests: 'Requests',
  generations: 'Generations',
  model: 'Model endpoint',
  storage: 'Table, dashboard and firewall',
} as const;
export type Section = keyof typeof sections;
export type Widgets = Partial<Record<Section, readonly IWidget[]>>;

/** The titles of the graphs of costs, in their order. */
export const costGraphs = [
  'Lambda: GB-seconds',
  'API requests, table units',
  'Image bytes stored',
  'Model: instance-hours, of hours with requests',
  'Model: instance-hours awake',
] as const;
export type Costs = Partial<Record<(typeof costGraphs)[number], readonly IMetric[]>>;

/** When an alarm about a function that fails by itself starts. */
export function failuresOf(fn: ServiceFunction) {
  return {
    metric: fn.metricErrors({ period: Duration.minutes(5) }),
    threshold: 3,
    periods: 2,
  };
}

/** When an alarm about a dead-letter queue starts: as soon as it holds a message. */
export function deadLettersIn(queue: Queue) {
  const options = { statistic: Stats.MAXIMUM, period: Duration.minutes(5) };
  return { metric: queue.metricApproximateNumberOfMessagesVisible(options), threshold: 1 };
}
