import { ConditionalCheckFailedException, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { RateLog } from './rate-limit.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';
import type { Part } from '../table/transact.ts';

/** A rate log as it was read. It can be written back only while its version is unchanged. */
export interface StoredRateLog {
  log: RateLog;
  version: number;
}

export type RateLogStore = ReturnType<typeof rateLogStore>;

/** The rolling log of a caller's uses under a limit. A caller is a key or an account. */
export function rateLogStore(table: Table) {
  return {
    async get(callerId: string, limitName: string): Promise<StoredRateLog> {
      return toRateLog(await getItem(table, itemKeys.rateLog(callerId, limitName)));
    },

    /** @returns null when written, otherwise the log that another request wrote first. */
    async put(
      callerId: string,
      limitName: string,
      log: RateLog,
      readVersion: number,
    ): Promise<StoredRateLog | null> {
      const { key, put, condition, values } = rateLogPart(callerId, limitName, log, readVersion);
      try {
        await table.client.send(
          new PutItemCommand({
            TableName: table.name,
            Item: marshall({ ...key, ...put }),
            ConditionExpression: condition,
            ExpressionAttributeValues: values && marshall(values),
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return null;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return toRateLog(error.Item && unmarshall(error.Item));
      }
    },
  };
}

export function toRateLog(item: Item | null | undefined): StoredRateLog {
  return { log: item?.usedAtMs ?? [], version: item?.version ?? 0 };
}

/** The write of a log that is refused when another was written since it was read. */
export function rateLogPart(callerId: string, limitName: string, log: RateLog, readVersion: number): Part {
  return {
    key: itemKeys.rateLog(callerId, limitName),
    put: { usedAtMs: log, version: readVersion + 1 },
    ...(readVersion === 0
      ? { condition: 'attribute_not_exists(PK)' }
      : { condition: 'version = :read', values: { ':read': readVersion } }),
  };
}
