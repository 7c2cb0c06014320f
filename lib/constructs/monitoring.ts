import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { requestAlarms } from './alarms-of-requests.ts';
import { resourceAlarms } from './alarms-of-resources.ts';
import { Alarms } from './alarms.ts';
import { savedQueries } from './monitoring-queries.ts';
import { allFunctions, type MonitoringSources } from './monitoring-sources.ts';
import { OperationsBoard } from './operations-board.ts';

export interface MonitoringProps extends MonitoringSources {
  /** Who is told of alarms; null for nobody. */
  readonly alarmEmail: string | null;
}

/** Alarms and whom they tell, the board that shows what is going on, and saved questions to the logs. */
export class Monitoring extends Construct {
  /** Every alarm tells it when it begins to ring. */
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { alarmEmail, ...sources }: MonitoringProps) {
    super(scope, id);
    const { serviceName } = sources;
    this.topic = this.addTopic();
    if (alarmEmail !== null) this.topic.addSubscription(new EmailSubscription(alarmEmail));
    const rows = [...requestAlarms(sources), ...resourceAlarms(sources)];
    const { alarms } = new Alarms(this, 'Alarms', { serviceName, rows, topic: this.topic });
    new OperationsBoard(this, 'Board', { ...sources, alarms });
    this.saveQueries(sources);
  }

  /** CloudWatch can't use the key that AWS keeps for SNS, so the topic has one of its own. */
  private addTopic(): Topic {
    const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');
    const key = new Key(this, 'Key', {
      description: 'Encrypts alarms on their way to those who are told of them',
      enableKeyRotation: true,
      pendingWindow: Duration.days(7),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        principals: [cloudWatch],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        // In a key's policy this is the key itself.
        resources: ['*'],
      }),
    );
    const topic = new Topic(this, 'Topic', { masterKey: key, enforceSSL: true });
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [cloudWatch],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    return topic;
  }

  /** With their log groups, whose names are generated. */
  private saveQueries(sources: MonitoringSources): void {
    const logs = { functions: allFunctions(sources).map((fn) => fn.logGroup), gateway: [sources.accessLog] };
    for (const { name, logs: asked, lines } of savedQueries) {
      new CfnQueryDefinition(this, `Query-${name}`, {
        name: `${sources.serviceName}/${name}`,
        queryString: lines.join('\n| '),
        logGroupNames: logs[asked].map(({ logGroupName }) => logGroupName),
      });
    }
  }
}
