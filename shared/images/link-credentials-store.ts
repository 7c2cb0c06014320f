import { ConditionalCheckFailedException, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { LinkCredentials } from './previews.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { itemKeys, ttlAttribute } from '../table/keys.ts';

/** Longer than they are good for, so that nobody misses them; the table removes them then. */
const keptMs = 2 * 3600 * 1000;

export type LinkCredentialsStore = ReturnType<typeof linkCredentialsStore>;

/** The credentials that sign links to previews, one item for each quarter of an hour. */
export function linkCredentialsStore(table: Table) {
  return {
    async get(quarterMs: number): Promise<LinkCredentials | null> {
      const item = await getItem(table, itemKeys.linkCredentials(quarterMs));
      return item && fromItem(item);
    },

    /** @returns those that count: these, or those that another process stored first. */
    async insert(quarterMs: number, credentials: LinkCredentials): Promise<LinkCredentials> {
      const item = {
        ...itemKeys.linkCredentials(quarterMs),
        ...credentials,
        [ttlAttribute]: Math.ceil((quarterMs + keptMs) / 1000),
      };
      try {
        await table.client.send(
          new PutItemCommand({
            TableName: table.name,
            Item: marshall(item),
            ConditionExpression: 'attribute_not_exists(PK)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return credentials;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException) || error.Item === undefined) throw error;
        return fromItem(unmarshall(error.Item));
      }
    },
  };
}

function fromItem({ accessKeyId, secretAccessKey, sessionToken }: Item): LinkCredentials {
  return { accessKeyId, secretAccessKey, sessionToken };
}
