import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import type { Route } from '../../../shared/routes/route.ts';
import type { Configuration } from '../../configuration.ts';
import type { JobSchedule } from '../job-schedule.ts';
import type { ServiceFunction } from '../service-function.ts';

/** Everything that the alarms and the dashboard show. */
export interface MonitoringSources {
  /** The dimension of the functions' own metrics. */
  readonly serviceName: string;
  readonly generationDeadlineSeconds: number;
  readonly throttle: Configuration['throttle'];
  /** Of API Gateway. */
  readonly stageName: string;
  /** API Gateway writes one line for each request to it. */
  readonly accessLog: ILogGroup;
  readonly functions: readonly RouteFunction[];
  /** The function that fetches reference images. */
  readonly references: ServiceFunction;
  readonly worker: WorkerSource;
  readonly sweep: ClockSource;
  /** Null where the deployment sends no mails. */
  readonly notices: ClockSource | null;
  /** Null without billing events. */
  readonly billing: BillingSource | null;
  readonly table: Table;
  readonly model: ModelSource;
  readonly webAcl: CfnWebACL;
  /** Of the account web app. */
  readonly distribution: Distribution;
}

export interface RouteFunction {
  readonly route: Route;
  readonly fn: ServiceFunction;
}

/** What runs requests that nobody waits for, and what releases those that could not be run. */
export interface WorkerSource {
  readonly run: ServiceFunction;
  readonly release: ServiceFunction;
  readonly asyncDeadlineSeconds: number;
}

/** A job that the clock starts. */
export interface ClockSource {
  readonly fn: ServiceFunction;
  readonly everyMinutes: number;
  readonly schedule: JobSchedule;
}

export interface BillingSource {
  readonly fn: ServiceFunction;
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
}

export interface ModelSource {
  /** `(none)` without a model. */
  readonly endpointName: string;
  /** The inference component of an endpoint that may sleep; null where it never does. */
  readonly componentName: string | null;
  /** Null for an endpoint of another stack: it has graphs but no alarms. */
  readonly variantName: string | null;
  /** Null when the number of instances is fixed. */
  readonly maxInstances: number | null;
}

/** The stack's own endpoint. */
export type OwnModel = ModelSource & { readonly variantName: string };

export function isOwn(model: ModelSource): model is OwnModel {
  return model.variantName !== null;
}

export interface RouteGroup {
  readonly name: 'generating' | 'buffered';
  readonly functions: readonly RouteFunction[];
}

/** Routes that wait for the model, and all others. What is normal for the first would be slow for the others. */
export function routeGroups({ functions }: MonitoringSources): RouteGroup[] {
  return [
    { name: 'generating', functions: functions.filter(({ route }) => route.streams) },
    { name: 'buffered', functions: functions.filter(({ route }) => !route.streams) },
  ];
}

/** Every function of the service. */
export function allFunctions(
  sources: Pick<MonitoringSources, 'functions' | 'references' | 'worker' | 'sweep' | 'notices' | 'billing'>,
): ServiceFunction[] {
  const { functions, references, worker, sweep, notices, billing } = sources;
  return [
    ...functions.map(({ fn }) => fn),
    worker.run,
    worker.release,
    references,
    sweep.fn,
    ...(notices === null ? [] : [notices.fn]),
    ...(billing === null ? [] : [billing.fn]),
  ];
}
