import { ConditionalCheckFailedException, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { neverWoken, type Waking } from './cold-start.ts';
import { getItem, type Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';

/** What is known of waking as it was read. It can be written back only while its version is unchanged. */
export interface StoredWaking {
  waking: Waking;
  version: number;
}

export type WakingStore = ReturnType<typeof wakingStore>;

/** One small item for the deployment's one model. */
export function wakingStore(table: Table) {
  return {
    async get(): Promise<StoredWaking> {
      const item = await getItem(table, itemKeys.waking());
      if (item === null) return { waking: neverWoken, version: 0 };
      const { wakingSinceMs, refusedAtMs, wakeSeconds, version } = item;
      return { waking: { sinceMs: wakingSinceMs, refusedAtMs, wakeSeconds }, version };
    },

    /** @returns false when another process wrote it first. */
    async put({ sinceMs, refusedAtMs, wakeSeconds }: Waking, readVersion: number): Promise<boolean> {
      const version = readVersion + 1;
      const item = { ...itemKeys.waking(), wakingSinceMs: sinceMs, refusedAtMs, wakeSeconds, version };
      try {
        await table.client.send(
          new PutItemCommand({
            TableName: table.name,
            Item: marshall(item),
            ConditionExpression: readVersion === 0 ? 'attribute_not_exists(PK)' : 'version = :read',
            ExpressionAttributeValues: readVersion === 0 ? undefined : marshall({ ':read': readVersion }),
          }),
        );
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    },
  };
}
