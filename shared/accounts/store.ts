import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { AccountSettings } from './answer-contract.ts';
import { batchGet, writeIf, type Item, type Table } from '../table/table.ts';
import { itemKeys, type ItemKey } from '../table/keys.ts';

export type AccountStore = ReturnType<typeof accountStore>;

/** What the owners of licenses have chosen, and when their sessions ended. An account without either has no item. */
export function accountStore(table: Table) {
  const { documents, name: TableName } = table;
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

    /** Removes what was chosen. When the sessions ended stays, so that they stay ended. */
    async forget(ownerId: string): Promise<void> {
      const command = new UpdateCommand({
        TableName,
        Key: itemKeys.account(ownerId),
        UpdateExpression: 'REMOVE creditMails',
      });
      await documents.send(command);
    },

    /**
     * When all sessions of an account were last ended, and another item, in one strong read.
     * @returns milliseconds since 1970; 0 for never.
     */
    async getSessionsEnd(ownerId: string, beside: ItemKey[]): Promise<[number, ...(Item | undefined)[]]> {
      const [account, ...others] = await batchGet(table, [itemKeys.account(ownerId), ...beside]);
      return [account?.sessionsEndedAtMs ?? 0, ...others];
    },

    /** Tokens that were issued by then are refused from now on. It never goes back to an earlier time. */
    async endSessions(ownerId: string, atMs: number): Promise<void> {
      const command = new UpdateCommand({
        TableName,
        Key: itemKeys.account(ownerId),
        UpdateExpression: 'SET sessionsEndedAtMs = :at',
        ConditionExpression: 'attribute_not_exists(sessionsEndedAtMs) OR sessionsEndedAtMs < :at',
        ExpressionAttributeValues: { ':at': atMs },
      });
      await writeIf(() => documents.send(command));
    },
  };
}
