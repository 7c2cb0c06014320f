import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import type { Route } from '../../shared/routes.ts';
import type { Configuration } from '../configuration.ts';
import type { ServiceFunction } from './service-function.ts';
import type { SweepSchedule } from './sweep-schedule.ts';

/** Everything that alarms and the board look at. */
export interface MonitoringSources {
  /** What the functions' own metrics are kept under. */
  readonly serviceName: string;
  readonly generationDeadlineSeconds: number;
  readonly throttle: Configuration['throttle'];
  readonly api: RestApi;
  /** Where the gateway logs one line for each request. */
  readonly accessLog: ILogGroup;
  /** Every route with the function that answers it. */
  readonly functions: readonly RouteFunction[];
  /** What opens the reference images of generations. */
  readonly references: ServiceFunction;
  readonly sweep: SweepSource;
  /** Null where no billing events come. */
  readonly billing: BillingSource | null;
  readonly table: Table;
  readonly model: ModelSource;
  readonly webAcl: CfnWebACL;
  /** The dashboard's. */
  readonly distribution: Distribution;
}

export interface RouteFunction {
  readonly route: Route;
  readonly fn: ServiceFunction;
}

export interface SweepSource {
  readonly fn: ServiceFunction;
  readonly everyMinutes: number;
  readonly schedule: SweepSchedule;
}

export interface BillingSource {
  readonly fn: ServiceFunction;
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
}

export interface ModelSource {
  /** `(none)` where there is none. */
  readonly endpointName: string;
  /** Null where the endpoint is not this stack's own: it is drawn then, and rings no alarm. */
  readonly variantName: string | null;
  /** Null where the number of instances is fixed. */
  readonly maxInstances: number | null;
  /** SageMaker adds the percentages of an instance's GPUs up. @default 1 */
  readonly gpusPerInstance?: number;
}

export interface RouteGroup {
  readonly name: 'generating' | 'buffered';
  readonly functions: readonly RouteFunction[];
}

/** Routes that wait for the model, and all others: what is slow for these is normal for those. */
export function routeGroups({ functions }: MonitoringSources): RouteGroup[] {
  return [
    { name: 'generating', functions: functions.filter(({ route }) => route.streams) },
    { name: 'buffered', functions: functions.filter(({ route }) => !route.streams) },
  ];
}

/** Every function of the service, by the name of its file. */
export function allFunctions(sources: MonitoringSources): ServiceFunction[] {
  const { functions, references, sweep, billing } = sources;
  return [...functions.map(({ fn }) => fn), references, sweep.fn, ...(billing === null ? [] : [billing.fn])];
}
