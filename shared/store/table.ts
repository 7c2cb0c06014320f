import { DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ServiceError } from '../errors.ts';
import type { ItemKey } from './table-keys.ts';

/** The table and the client that speaks to it: what every store is made of. */
export interface Table {
  documents: DynamoDBDocumentClient;
  name: string;
}

export type Item = Record<string, any>;
export type TransactItems = NonNullable<TransactWriteCommandInput['TransactItems']>;

export function openTable(name: string): Table {
  const client = new DynamoDBClient({
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  });
  return { name, documents: DynamoDBDocumentClient.from(client) };
}

/** Reads up to 100 items strongly, in the order of their keys; undefined where there is none. */
export async function batchGet(table: Table, keys: ItemKey[]): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  let pending: Record<string, string>[] | undefined = keys;
  for (let attempt = 0; pending !== undefined && pending.length > 0; attempt++) {
    if (attempt === 6)
      throw new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy. Try again shortly.');
    if (attempt > 0) await pause(attempt);
    const answer: BatchGetCommandOutput = await table.documents.send(
      new BatchGetCommand({ RequestItems: { [table.name]: { Keys: pending, ConsistentRead: true } } }),
    );
    for (const item of answer.Responses?.[table.name] ?? []) found.set(`${item.PK}\n${item.SK}`, item);
    pending = answer.UnprocessedKeys?.[table.name]?.Keys;
  }
  return keys.map((key) => found.get(`${key.PK}\n${key.SK}`));
}

/** Every item of a query or scan, page by page. */
export async function readAll<T>(
  read: (
    start: Item | undefined,
  ) => Promise<{ Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined }>,
  fromItem: (item: Item) => T,
): Promise<T[]> {
  const found: T[] = [];
  let start: Item | undefined;
  do {
    const page = await read(start);
    found.push(...(page.Items ?? []).map(fromItem));
    start = page.LastEvaluatedKey;
  } while (start);
  return found;
}

/** Why a transaction was refused, item by item: the conditions that failed, with the items as they are. */
export interface Refusal {
  failed: boolean[];
  items: (Item | undefined)[];
}

const maxConflictRetries = 12;

/**
 * Writes all or nothing. A conflict with another transaction or a throttled item says nothing about the conditions,
 * so both are tried again with jitter; a failed condition is an answer.
 * @returns null when written, otherwise the conditions that failed.
 * @throws SERVICE_UNAVAILABLE when conflicts don't end; whatever the SDK throws when the outcome is unknown.
 */
export async function transact(table: Table, items: TransactItems): Promise<Refusal | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      await table.documents.send(new TransactWriteCommand({ TransactItems: items }));
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
      if (attempt > maxConflictRetries) {
        throw new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy. Try again shortly.', {
          cause: error,
        });
      }
      await pause(attempt);
    }
  }
}

/** Full jitter (AWS Architecture Blog, "Exponential Backoff and Jitter"): 10 ms doubling, at most half a second. */
function pause(attempt: number): Promise<void> {
  const longestMs = Math.min(500, 10 * 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs));
}
