import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Configuration } from '../../configuration.ts';
import { Board, runbookPath, sectionOf, type RowAlarm } from './board.ts';
import { Budget } from './budget.ts';
import { savedQueries } from './saved-queries.ts';
import type { Watched } from './watched.ts';
import type { ServiceFunction } from '../service-function.ts';

export interface MonitoringProps extends Pick<Configuration, 'alarmEmail'> {
  readonly monthlyBudgetUsd: number | null;
  readonly watched: readonly Watched[];
  /** Of all functions. */
  readonly functionLogs: readonly ILogGroup[];
  /** API Gateway writes one line for each request to it. */
  readonly accessLog: ILogGroup;
}

/** Makes the alarms and their topic, one CloudWatch dashboard, and saved queries for the logs, of what each construct says of itself. */
export class Monitoring extends Construct {
  /** Every alarm notifies it when it starts, and of nothing else. */
  readonly topic: Topic;
  /** By the function whose deployment is taken back if one of them starts. */
  readonly rollbackAlarms: ReadonlyMap<ServiceFunction, readonly RowAlarm[]>;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { watched, alarmEmail, monthlyBudgetUsd } = props;
    this.topic = this.addTopic();
    if (alarmEmail !== null) this.topic.addSubscription(new EmailSubscription(alarmEmail));
    const alarms = this.addAlarms(watched);
    const rollbacks = alarms.filter(({ row }) => row.rollsBack !== undefined);
    this.rollbackAlarms = Map.groupBy(rollbacks, ({ row }) => row.rollsBack!);
    if (monthlyBudgetUsd !== null) new Budget(this, 'Budget', { monthlyBudgetUsd, topic: this.topic });
    new Board(this, 'Board', { watched, alarms });
    this.saveQueries(savedQueries.functions, props.functionLogs);
    this.saveQueries(savedQueries.gateway, [props.accessLog]);
  }

  private addAlarms(watched: readonly Watched[]): RowAlarm[] {
    const { stackName } = Stack.of(this);
    const action = new SnsAction(this.topic);
    // Alarms have fixed names, so their ids must stay: all of them are in this one scope, whoever asks for them.
    const scope = new Construct(this, 'Alarms');
    return watched
      .flatMap(({ alarms = [] }) => alarms)
      .map((row) => {
        const { periods = 1, of = periods } = row;
        const alarm = new Alarm(scope, row.id, {
          // An alarm that is updated keeps its state (CloudWatch API, "PutMetricAlarm"). One about a version has another name
          // for each, so that the next version's is new, and what the last one failed at keeps out no cure.
          alarmName: [
            stackName,
            row.id,
            ...(row.rollsBack ? [row.rollsBack.currentVersion.version] : []),
          ].join('-'),
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

  /** AWS's services may not use AWS's own key for SNS, so the topic has a key of its own. */
  private addTopic(): Topic {
    const principals = [
      new ServicePrincipal('cloudwatch.amazonaws.com'),
      new ServicePrincipal('budgets.amazonaws.com'),
    ];
    // Both name the account for which they act. (EventBridge names none to KMS: it would need another rule.)
    const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    const key = new Key(this, 'Key', {
      description: 'Encrypts alarms on their way to those who are told of them',
      enableKeyRotation: true,
      pendingWindow: Duration.days(7),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const allow = (actions: string[], resource: string) =>
      new PolicyStatement({ principals, actions, resources: [resource], conditions });
    // In the policy of a key `*` means this key.
    key.addToResourcePolicy(allow(['kms:Decrypt', 'kms:GenerateDataKey*'], '*'));
    const topic = new Topic(this, 'Topic', { masterKey: key, enforceSSL: true });
    topic.addToResourcePolicy(allow(['sns:Publish'], topic.topicArn));
    return topic;
  }

  private saveQueries(queries: Record<string, string>, logs: readonly ILogGroup[]): void {
    const { stackName } = Stack.of(this);
    for (const [name, queryString] of Object.entries(queries)) {
      new CfnQueryDefinition(this, `Query-${name}`, {
        name: `${stackName}/${name}`,
        queryString,
        logGroupNames: logs.map(({ logGroupName }) => logGroupName),
      });
    }
  }
}
