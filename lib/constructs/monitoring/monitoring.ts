import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { requestAlarms } from './request-alarms.ts';
import { resourceAlarms } from './resource-alarms.ts';
import { Alarms } from './alarms.ts';
import { savedQueries } from './saved-queries.ts';
import { allFunctions, type MonitoringSources } from './sources.ts';
import { OperationsBoard } from './board.ts';
import { Budget } from './budget.ts';

export interface MonitoringProps extends MonitoringSources {
  /** Receives the alarms; null for nobody. */
  readonly alarmEmail: string | null;
  /** What the whole account may cost in a month, in US dollars; null for no alarm. */
  readonly monthlyBudgetUsd: number | null;
}

/** Alarms and their topic, a CloudWatch dashboard, and saved queries for the logs. */
export class Monitoring extends Construct {
  /** Every alarm notifies it when it starts. */
  readonly topic: Topic;
  /** A deployment is taken back if one of them starts. */
  readonly rollbackAlarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { alarmEmail, monthlyBudgetUsd, ...sources }: MonitoringProps) {
    super(scope, id);
    const { serviceName } = sources;
    this.topic = this.addTopic();
    if (alarmEmail !== null) this.topic.addSubscription(new EmailSubscription(alarmEmail));
    const rows = [...requestAlarms(sources), ...resourceAlarms(sources)];
    const { alarms } = new Alarms(this, 'Alarms', { serviceName, rows, topic: this.topic });
    this.rollbackAlarms = alarms.filter(({ row }) => row.rollsBack).map(({ alarm }) => alarm);
    if (monthlyBudgetUsd !== null) new Budget(this, 'Budget', { monthlyBudgetUsd, topic: this.topic });
    new OperationsBoard(this, 'Board', { ...sources, alarms });
    this.saveQueries(sources);
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
    key.addToResourcePolicy(
      new PolicyStatement({
        principals,
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        // In the policy of a key `*` means this key.
        resources: ['*'],
        conditions,
      }),
    );
    const topic = new Topic(this, 'Topic', { masterKey: key, enforceSSL: true });
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals,
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions,
      }),
    );
    return topic;
  }

  private saveQueries(sources: MonitoringSources): void {
    this.saveFor(
      sources,
      savedQueries.functions,
      allFunctions(sources).map((fn) => fn.logGroup),
    );
    this.saveFor(sources, savedQueries.gateway, [sources.accessLog]);
  }

  private saveFor(
    { serviceName }: MonitoringSources,
    queries: Record<string, string>,
    logs: ILogGroup[],
  ): void {
    for (const [name, queryString] of Object.entries(queries)) {
      new CfnQueryDefinition(this, `Query-${name}`, {
        name: `${serviceName}/${name}`,
        queryString,
        logGroupNames: logs.map(({ logGroupName }) => logGroupName),
      });
    }
  }
}
