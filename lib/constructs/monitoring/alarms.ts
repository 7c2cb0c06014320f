import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct, type IConstruct } from 'constructs';

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
  /** Whether a deployment is taken back if the alarm starts. @default false */
  readonly rollsBack?: boolean;
  /** What must be deployed before the alarm. */
  readonly after?: readonly IConstruct[];
}

export const runbookPath = 'docs/runbook.md';

export interface AlarmsProps {
  readonly serviceName: string;
  readonly rows: readonly AlarmRow[];
  readonly topic: ITopic;
}

/** Makes an alarm of every row. An alarm notifies the topic when it starts, and of nothing else. */
export class Alarms extends Construct {
  readonly alarms: readonly { readonly row: AlarmRow; readonly alarm: Alarm }[];

  constructor(scope: Construct, id: string, { serviceName, rows, topic }: AlarmsProps) {
    super(scope, id);
    const action = new SnsAction(topic);
    this.alarms = rows.map((row) => {
      const { periods = 1, of = periods } = row;
      const alarm = new Alarm(this, row.id, {
        alarmName: `${serviceName}-${row.id}`,
        alarmDescription: `${row.means} ${row.severity === 'critical' ? 'Critical' : 'Warning'}; see ${runbookPath}#${sectionOf(row)}`,
        metric: row.metric,
        threshold: row.threshold,
        comparisonOperator: row.below
          ? ComparisonOperator.LESS_THAN_THRESHOLD
          : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: of,
        datapointsToAlarm: periods,
        treatMissingData: row.missingDataBreaches
          ? TreatMissingData.BREACHING
          : TreatMissingData.NOT_BREACHING,
      });
      alarm.addAlarmAction(action);
      alarm.node.addDependency(...(row.after ?? []));
      return { row, alarm };
    });
  }
}

/** The section of the runbook that tells what to do. */
export function sectionOf({ id, runbook = id }: AlarmRow): string {
  return runbook;
}
