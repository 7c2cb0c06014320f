import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { AccountSettings } from './answer-contract.ts';
import type { Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';

export type AccountStore = ReturnType<typeof accountStore>;

/** What the owners of licenses have chosen. An account that has chosen nothing has no item. */
export function accountStore({ documents, name: TableName }: Table) {
  return {
    /** A strong read: a change holds at once. */
    async get(ownerId: string): Promise<AccountSettings> {
      const command = new GetCommand({ TableName, Key: itemKeys.account(ownerId), ConsistentRead: true });
      const { Item: item } = await documents.send(command);
      return { creditMails: item?.creditMails ?? true };
    },

    async set(ownerId: string, { creditMails }: AccountSettings): Promise<void> {
      await documents.send(
        new UpdateCommand({
          TableName,
          Key: itemKeys.account(ownerId),
          UpdateExpression: 'SET creditMails = :creditMails',
          ExpressionAttributeValues: { ':creditMails': creditMails },
        }),
      );
    },
  };
}
