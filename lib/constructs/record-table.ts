import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  Table,
  TableEncryption,
  type Attribute,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/base/config.ts';
import type { TableAction, TableGrants } from '../../shared/routes/grants.ts';
import { leaseIndex, ownerIndex, ttlAttribute } from '../../shared/table/keys.ts';
import { partitions, tableSchema, type Partition } from '../../shared/table/schema.ts';
import { combined, graph, hour, period } from './monitoring/metrics.ts';
import type { AlarmRow, Costs, Watched, Widgets } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

const iamActions: Record<TableAction, string> = {
  get: 'dynamodb:GetItem',
  batchGet: 'dynamodb:BatchGetItem',
  query: 'dynamodb:Query',
  put: 'dynamodb:PutItem',
  update: 'dynamodb:UpdateItem',
  delete: 'dynamodb:DeleteItem',
};

/** The operations that the functions use. */
const operations = [
  ...Object.values(iamActions).map((action) => action.replace('dynamodb:', '')),
  'TransactWriteItems',
];

/** The one table: keys, licenses, credits and generation records. It is kept when the stack is deleted. */
export class RecordTable extends Construct implements Watched {
  readonly table: Table;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { KeySchema, GlobalSecondaryIndexes } = tableSchema;
    this.table = new Table(this, 'Table', {
      partitionKey: attribute(KeySchema[0].AttributeName),
      sortKey: attribute(KeySchema[1].AttributeName),
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.DEFAULT,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: ttlAttribute,
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    for (const index of GlobalSecondaryIndexes) {
      this.table.addGlobalSecondaryIndex({
        indexName: index.IndexName,
        partitionKey: attribute(index.KeySchema[0].AttributeName),
        sortKey: attribute(index.KeySchema[1].AttributeName),
        projectionType: ProjectionType[index.Projection.ProjectionType],
      });
    }
  }

  get alarms(): AlarmRow[] {
    const sumOfOperations = (name: string) => {
      const metrics = operations.map((operation) => this.sum(name, period, { Operation: operation }));
      return combined('SUM', metrics, period);
    };
    const row = { capability: 'table', periods: 2, of: 3 } as const;
    return [
      {
        ...row,
        id: 'table-throttles',
        severity: 'warning',
        means: 'DynamoDB throttles requests to the table.',
        metric: sumOfOperations('ThrottledRequests'),
        threshold: 10,
      },
      {
        ...row,
        id: 'table-faults',
        severity: 'critical',
        means: 'DynamoDB answers with faults of its own.',
        metric: sumOfOperations('SystemErrors'),
        threshold: 5,
      },
    ];
  }

  get widgets(): Widgets {
    const throttles = ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
      this.table.metric(name, { statistic: Stats.SUM, label: name, period }),
    );
    return {
      storage: [
        graph('Table: capacity consumed', this.capacity(period)),
        graph('Table: throttles', throttles),
      ],
    };
  }

  get costs(): Costs {
    return { 'API requests, table units': this.capacity(hour) };
  }

  /** Reads and writes of the table and its indexes together. */
  private capacity(every: Duration): MathExpression[] {
    const places = [{}, ...[ownerIndex, leaseIndex].map(({ name }) => ({ GlobalSecondaryIndexName: name }))];
    return ['Read', 'Write'].map((kind) => {
      const metrics = places.map((place, i) => [
        `${kind.toLowerCase()}${i}`,
        this.sum(`Consumed${kind}CapacityUnits`, every, place),
      ]);
      const usingMetrics = Object.fromEntries(metrics);
      return new MathExpression({
        expression: `SUM([${Object.keys(usingMetrics).join(', ')}])`,
        usingMetrics,
        label: `${kind.toLowerCase()} units`,
        period: every,
      });
    });
  }

  private sum(name: string, every: Duration, dimensions: Record<string, string>) {
    const dimensionsMap = { TableName: this.table.tableName, ...dimensions };
    return this.table.metric(name, { dimensionsMap, statistic: Stats.SUM, period: every });
  }

  /** Allows exactly these actions. A transaction needs the permissions of its writes. */
  grant(fn: ServiceFunction, grants: TableGrants): void {
    if (Object.keys(grants).length === 0) return;
    fn.setVariable(environmentVariables.tableName, this.table.tableName);
    for (const { leadingKeys, actions } of itemStatements(grants)) {
      fn.addToRolePolicy(
        new PolicyStatement({
          actions,
          resources: [this.table.tableArn],
          conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } },
        }),
      );
    }
    // An index holds only one kind of item, so its statement needs no condition.
    for (const { index, actions } of granted(grants)) {
      if (index === undefined) continue;
      fn.addToRolePolicy(
        new PolicyStatement({
          actions: actions.map((action) => iamActions[action]),
          resources: [`${this.table.tableArn}/index/${index}`],
        }),
      );
    }
  }
}

/**
 * The actions on items, by the beginnings of the partition keys that they may name. IAM allows a request for several items
 * only if one statement allows all their keys. So each action stands in one statement, with the keys of every partition
 * that it is granted for.
 */
function itemStatements(grants: TableGrants): { leadingKeys: string[]; actions: string[] }[] {
  const ofItems = granted(grants).filter(({ index }) => index === undefined);
  const actionsByKeys = Map.groupBy(Object.keys(iamActions) as TableAction[], (action) =>
    ofItems
      .filter(({ actions }) => actions.includes(action))
      .map(({ leadingKey }) => `${leadingKey}*`)
      .join(' '),
  );
  actionsByKeys.delete('');
  return [...actionsByKeys].map(([keys, actions]) => ({
    leadingKeys: keys.split(' '),
    actions: actions.map((action) => iamActions[action]),
  }));
}

function granted(grants: TableGrants) {
  return (Object.keys(partitions) as Partition[]).flatMap((partition) => {
    const { leadingKey, index }: { leadingKey: string; index?: string } = partitions[partition];
    const actions = grants[partition] ?? [];
    return actions.length === 0 ? [] : [{ leadingKey, index, actions }];
  });
}

function attribute(name: string): Attribute {
  const { AttributeType: type } = tableSchema.AttributeDefinitions.find(
    ({ AttributeName }) => AttributeName === name,
  )!;
  return { name, type: type === 'N' ? AttributeType.NUMBER : AttributeType.STRING };
}
