import { setTimeout as wait } from 'node:timers/promises';
import {
  ContinuousBackupsUnavailableException,
  CreateBackupCommand,
  DeleteTableCommand,
  DescribeBackupCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ResourceNotFoundException,
  RestoreTableFromBackupCommand,
  RestoreTableToPointInTimeCommand,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  type DynamoDBClient,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { dataTag } from '../../lib/configuration.ts';
import { ttlAttribute } from '../../shared/table/keys.ts';

/** @returns null where there is no such table. */
export async function describeTable(
  client: DynamoDBClient,
  TableName: string,
): Promise<TableDescription | null> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table ?? null;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return null;
    throw error;
  }
}

/** Whether the table of this id is there, and is not about to go. */
export async function isThere(client: DynamoDBClient, TableName: string, tableId: string): Promise<boolean> {
  const table = await describeTable(client, TableName);
  return table?.TableId === tableId && table.TableStatus !== 'DELETING';
}

async function until(pauseMs: number, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(pauseMs);
}

const isActive = (client: DynamoDBClient, table: string) => async () =>
  (await describeTable(client, table))?.TableStatus === 'ACTIVE';

export async function restoreToTime(
  client: DynamoDBClient,
  source: string,
  target: string,
  toMs: number,
  pauseMs: number,
) {
  if ((await describeTable(client, target)) === null) {
    await client.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: source,
        TargetTableName: target,
        RestoreDateTime: new Date(toMs),
      }),
    );
  }
  await until(pauseMs, isActive(client, target));
}

/** @returns the backup's ARN, once it can be restored. */
export async function backUp(
  client: DynamoDBClient,
  TableName: string,
  BackupName: string,
  pauseMs: number,
): Promise<string> {
  const { BackupDetails: made } = await client.send(new CreateBackupCommand({ TableName, BackupName }));
  const BackupArn = made!.BackupArn!;
  await until(pauseMs, async () => {
    const { BackupDescription: backup } = await client.send(new DescribeBackupCommand({ BackupArn }));
    return backup?.BackupDetails?.BackupStatus === 'AVAILABLE';
  });
  return BackupArn;
}

/** Puts a backup in a table's place. @param tableId of the table that is to go; another of its name is what came of it. */
export async function replaceTable(
  client: DynamoDBClient,
  TableName: string,
  tableId: string | null,
  BackupArn: string,
  pauseMs: number,
): Promise<void> {
  if (tableId !== null && (await isThere(client, TableName, tableId))) {
    await protect(client, TableName, false);
    await until(pauseMs, isActive(client, TableName));
    await client.send(new DeleteTableCommand({ TableName }));
  }
  let present: TableDescription | null = null;
  await until(pauseMs, async () => {
    present = await describeTable(client, TableName);
    return present?.TableId !== tableId;
  });
  if (present === null) {
    await client.send(new RestoreTableFromBackupCommand({ TargetTableName: TableName, BackupArn }));
  }
  await until(pauseMs, isActive(client, TableName));
}

/** What a restored table lacks (Amazon DynamoDB, "Restore a table"), and CloudFormation believes to be there still. */
export async function setSettings(
  client: DynamoDBClient,
  TableName: string,
  stackName: string,
  pauseMs: number,
): Promise<void> {
  const { TimeToLiveDescription: ttl } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  // To enable it again would be refused.
  if (!ttl?.TimeToLiveStatus?.startsWith('ENABL')) {
    const TimeToLiveSpecification = { Enabled: true, AttributeName: ttlAttribute };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }
  const recovery = { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } };
  await until(pauseMs, async () => {
    try {
      await client.send(new UpdateContinuousBackupsCommand({ TableName, ...recovery }));
      return true;
    } catch (error) {
      // A new table has no backups for some minutes.
      if (error instanceof ContinuousBackupsUnavailableException) return false;
      throw error;
    }
  });
  await protect(client, TableName, true);
  const table = await describeTable(client, TableName);
  // By it the table is found once its stack is gone.
  const Tags = [{ Key: dataTag, Value: stackName }];
  await client.send(new TagResourceCommand({ ResourceArn: table!.TableArn, Tags }));
}

async function protect(
  client: DynamoDBClient,
  TableName: string,
  DeletionProtectionEnabled: boolean,
): Promise<void> {
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled }));
}
