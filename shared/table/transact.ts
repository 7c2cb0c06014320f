import { randomUUID } from 'node:crypto';
import {
  TransactionCanceledException,
  TransactWriteItemsCommand,
  type TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { serviceBusy } from '../base/errors.ts';
import { maxConflictRetries, pause } from './backoff.ts';
import type { Item, Table } from './table.ts';

export type TransactItems = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** Why a transaction was refused, item by item: the conditions that failed, with the items as they are. */
export interface Refusal {
  failed: boolean[];
  items: (Item | undefined)[];
}

/**
 * Writes all or nothing. A conflict with another transaction or a throttled item says nothing about the conditions, so
 * the transaction is tried again with jitter. A failed condition is an answer. All attempts carry one token, so none is
 * applied a second time when an answer is lost or an attempt arrives late (for ten minutes: Amazon DynamoDB API
 * Reference, TransactWriteItems).
 * @param token for whoever makes the same transaction again after it was refused. It has at most 36 characters.
 * @returns null when written, otherwise the conditions that failed.
 * @throws SERVICE_UNAVAILABLE when conflicts don't end; whatever the SDK throws when the outcome is unknown.
 */
export async function transact(
  table: Table,
  items: TransactItems,
  token: string = randomUUID(),
): Promise<Refusal | null> {
  const input = { TransactItems: items.map(marshalled), ClientRequestToken: token };
  for (let attempt = 1; ; attempt++) {
    try {
      await table.client.send(new TransactWriteItemsCommand(input));
      return null;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const codes = reasons.map((reason) => reason.Code);
      if (codes.includes('ConditionalCheckFailed')) {
        return {
          failed: codes.map((code) => code === 'ConditionalCheckFailed'),
          items: reasons.map((reason) => reason.Item && unmarshall(reason.Item)),
        };
      }
      const passing = ['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];
      if (!codes.every((code) => passing.includes(code ?? 'None'))) throw error;
      if (attempt > maxConflictRetries) throw serviceBusy(error);
      await pause(attempt);
    }
  }
}

/** One write of a transaction, in DynamoDB's own values. */
function marshalled(write: TransactItems[number]): TransactWriteItem {
  const [operation, parts] = Object.entries(write)[0] as [string, Item];
  const inDynamoDb = Object.fromEntries(
    ['Item', 'Key', 'ExpressionAttributeValues']
      .filter((part) => parts[part] !== undefined)
      .map((part) => [part, marshall(parts[part])]),
  );
  return { [operation]: { ...parts, ...inDynamoDb } };
}
