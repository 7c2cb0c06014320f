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
  | 'firewall'
  | 'model';

/** One alarm, as data. */
export interface AlarmRow {
  /** Part of its name. */
  readonly id: string;
  /** The section of docs/runbook.md that tells what to do. */
  readonly runbook: string;
  readonly capability: Capability;
  /** Critical: customers feel it, or money is at stake. A warning can wait for the morning. */
  readonly severity: 'critical' | 'warning';
  /** One sentence. */
  readonly means: string;
  readonly metric: IMetric;
  /** It rings at this value and above it, or only below it. */
  readonly threshold: number;
  readonly below?: boolean;
  /** So many of the newest periods must be beyond the threshold. */
  readonly periods: number;
  readonly of?: number;
  /** Whether silence is bad news. @default false: no traffic is no failure */
  readonly silenceRings?: boolean;
  /** What must be there before the alarm is. */
  readonly after?: readonly IConstruct[];
}

export const runbookPath = 'docs/runbook.md';

export interface AlarmsProps {
  readonly serviceName: string;
  readonly rows: readonly AlarmRow[];
  readonly topic: ITopic;
}

/** Every row as an alarm that tells the topic when it begins to ring, and nothing else: it ends by itself. */
export class Alarms extends Construct {
  readonly alarms: readonly { readonly row: AlarmRow; readonly alarm: Alarm }[];

  constructor(scope: Construct, id: string, { serviceName, rows, topic }: AlarmsProps) {
    super(scope, id);
    const action = new SnsAction(topic);
    this.alarms = rows.map((row) => {
      const alarm = new Alarm(this, row.id, {
        alarmName: `${serviceName}-${row.id}`,
        alarmDescription: `${row.means} ${row.severity === 'critical' ? 'Critical' : 'Warning'}; see ${runbookPath}#${row.runbook}`,
        metric: row.metric,
        threshold: row.threshold,
        comparisonOperator: row.below
          ? ComparisonOperator.LESS_THAN_THRESHOLD
          : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: row.of ?? row.periods,
        datapointsToAlarm: row.periods,
        treatMissingData: row.silenceRings ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      });
      alarm.addAlarmAction(action);
      alarm.node.addDependency(...(row.after ?? []));
      return { row, alarm };
    });
  }
}
