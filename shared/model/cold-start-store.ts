import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { noColdStart, type ColdStart } from './cold-start.ts';
import { getItem, writeIf, type Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';

/** What is known of cold starts as it was read. It can be written back only while its version is unchanged. */
export interface StoredColdStart {
  coldStart: ColdStart;
  version: number;
}

export type ColdStartStore = ReturnType<typeof coldStartStore>;

/** One small item for the deployment's one model. */
export function coldStartStore(table: Table) {
  return {
    async get(): Promise<StoredColdStart> {
      const item = await getItem(table, itemKeys.coldStart());
      if (item === null) return { coldStart: noColdStart, version: 0 };
      const { wakingSinceMs, refusedAtMs, begunAtMs, wakeSeconds, version } = item;
      // An item of an earlier version has no `begunAtMs`.
      const coldStart = { sinceMs: wakingSinceMs, refusedAtMs, begunAtMs: begunAtMs ?? 0, wakeSeconds };
      return { coldStart, version };
    },

    /** @returns false when another process wrote it first. */
    async put({ sinceMs, ...others }: ColdStart, readVersion: number): Promise<boolean> {
      const version = readVersion + 1;
      const item = { ...itemKeys.coldStart(), wakingSinceMs: sinceMs, ...others, version };
      const command = new PutItemCommand({
        TableName: table.name,
        Item: marshall(item),
        ConditionExpression: readVersion === 0 ? 'attribute_not_exists(PK)' : 'version = :read',
        ExpressionAttributeValues: readVersion === 0 ? undefined : marshall({ ':read': readVersion }),
      });
      return writeIf(() => table.client.send(command));
    },
  };
}
