import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { CreditNotification } from './notifications.ts';
import { queryAll, writeItem, type Table } from '../table/table.ts';
import { itemKeys, notificationPartition } from '../table/keys.ts';

export type NotificationStore = ReturnType<typeof notificationStore>;

/** Notifications that wait to be sent. Charges put them: see notification-part.ts. */
export function notificationStore(table: Table) {
  const { documents, name: TableName } = table;
  return {
    /** All that nobody has claimed. There are few: at most two for each license and month. */
    async listWaiting(nowMs: number): Promise<CreditNotification[]> {
      const query = {
        KeyConditionExpression: 'PK = :notifications',
        FilterExpression: 'attribute_not_exists(leaseUntilMs) OR leaseUntilMs <= :now',
        ExpressionAttributeValues: { ':notifications': notificationPartition, ':now': nowMs },
        ConsistentRead: true,
      };
      return queryAll(table, query, ({ licenseId, periodStartMs, percent }) => ({
        licenseId,
        periodStartMs,
        percent,
      }));
    },

    /**
     * Takes a notification until an instant, so that nobody else sends it meanwhile.
     * @returns how often it was taken, this time included; null when somebody else has it, or it is gone.
     */
    async claim(
      notification: CreditNotification,
      nowMs: number,
      leaseUntilMs: number,
    ): Promise<number | null> {
      const command = new UpdateCommand({
        TableName,
        Key: itemKeys.notification(notification),
        UpdateExpression: 'SET leaseUntilMs = :until ADD tries :one',
        ConditionExpression:
          'attribute_exists(PK) AND (attribute_not_exists(leaseUntilMs) OR leaseUntilMs <= :now)',
        ExpressionAttributeValues: { ':until': leaseUntilMs, ':now': nowMs, ':one': 1 },
        ReturnValues: 'ALL_NEW',
      });
      try {
        return (await writeItem(() => documents.send(command))).Attributes!.tries;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return null;
        throw error;
      }
    },

    /** Keeps a notification that could not be sent from being taken again before an instant. */
    async postpone(notification: CreditNotification, untilMs: number): Promise<void> {
      const command = new UpdateCommand({
        TableName,
        Key: itemKeys.notification(notification),
        UpdateExpression: 'SET leaseUntilMs = :until',
        ConditionExpression: 'attribute_exists(PK)',
        ExpressionAttributeValues: { ':until': untilMs },
      });
      await documents.send(command);
    },

    /** It was sent, or is not to be sent any more. */
    async remove(notification: CreditNotification): Promise<void> {
      await documents.send(new DeleteCommand({ TableName, Key: itemKeys.notification(notification) }));
    },
  };
}
