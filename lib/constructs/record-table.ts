import { RemovalPolicy } from 'aws-cdk-lib/core';
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
import { environmentVariables } from '../../shared/config.ts';
import type { TableAction, TableGrants } from '../../shared/routes.ts';
import { partitions, tableSchema, ttlAttribute, type Partition } from '../../shared/store/table-keys.ts';
import type { ServiceFunction } from './service-function.ts';

const iamActions: Record<TableAction, string> = {
  get: 'dynamodb:GetItem',
  batchGet: 'dynamodb:BatchGetItem',
  query: 'dynamodb:Query',
  put: 'dynamodb:PutItem',
  update: 'dynamodb:UpdateItem',
  delete: 'dynamodb:DeleteItem',
};

/** The one table: keys, licenses, credits and generation records. It is kept when the stack is deleted. */
export class RecordTable extends Construct {
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

  /**
   * Allows each action only on the partitions that it is granted for. A transaction needs the permissions of its writes.
   * An index holds only one kind of item, so a statement for an index needs no condition.
   */
  grant(fn: ServiceFunction, grants: TableGrants): void {
    const granted = Object.entries(grants) as [Partition, readonly TableAction[]][];
    if (granted.length === 0) return;
    fn.setVariable(environmentVariables.tableName, this.table.tableName);
    for (const [partition, actions] of granted) {
      const place: { leadingKey: string; index?: string } = partitions[partition];
      fn.addToRolePolicy(
        new PolicyStatement({
          actions: actions.map((action) => iamActions[action]),
          ...(place.index === undefined
            ? {
                resources: [this.table.tableArn],
                conditions: {
                  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${place.leadingKey}*`] },
                },
              }
            : { resources: [`${this.table.tableArn}/index/${place.index}`] }),
        }),
      );
    }
  }
}

function attribute(name: string): Attribute {
  const { AttributeType: type } = tableSchema.AttributeDefinitions.find(
    ({ AttributeName }) => AttributeName === name,
  )!;
  return { name, type: type === 'N' ? AttributeType.NUMBER : AttributeType.STRING };
}
