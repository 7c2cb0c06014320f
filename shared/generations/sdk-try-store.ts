import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { firstRequestIdAt } from '../base/ids.ts';
import { itemKeys, ttlAttribute, type ItemKey } from '../table/keys.ts';
import { writeIf, type Item, type Table } from '../table/table.ts';
import type { Generation } from './generation.ts';
import type { StoredBeside } from './record-part.ts';

/** One of the tries that a program makes of a request by itself, without an idempotency key. */
export interface SdkTry {
  /** Of what is asked for. */
  digest: string;
  /** 0 for the first try. */
  count: number;
}

/** The tries of one request, as they are stored. */
export interface StoredTries {
  key: ItemKey;
  /** Of the try whose result counts. */
  requestId: string;
  /** The request that was made of the last of them. */
  takenBy: string;
  lastTry: number;
  /** When they were last heard of; of a refused one, when the next is due. */
  atMs: number;
}

const keptMs = 10 * 60 * 1000;
/** As many as a key may have accepted in that time. There may be any number of refused ones, and looking at them costs. */
export const maxListed = 100;

const itemOf = (requestId: string, lastTry: number, atMs: number): Item => ({
  requestId,
  lastTry,
  takenBy: requestId,
  atMs,
  [ttlAttribute]: Math.ceil((atMs + keptMs) / 1000),
});

/**
 * Stores a try with its reservation. Equal first tries are two wishes, so each has an item of its own.
 * @param earlier tries that came to nothing, whose place it takes. Refused where a later try has taken them meanwhile.
 */
export function storeTry(
  { keyId, requestId, createdAtMs }: Generation,
  { digest, count }: SdkTry,
  earlier: StoredTries | null,
): StoredBeside {
  return {
    key: earlier?.key ?? itemKeys.sdkTry(keyId, digest, requestId),
    put: itemOf(requestId, count, createdAtMs),
    condition: earlier === null ? 'attribute_not_exists(PK)' : 'takenBy = :own',
    ...(earlier !== null && { values: { ':own': requestId } }),
    refusal: () => ({ outcome: 'overtaken' }),
  };
}

/** Stores a try that has no reservation: the next one takes its place. */
export async function placeTry(
  table: Table,
  keyId: string,
  { digest, count }: SdkTry,
  { requestId, atMs }: { requestId: string; atMs: number },
): Promise<StoredTries> {
  const key = itemKeys.sdkTry(keyId, digest, requestId);
  const command = new PutItemCommand({
    TableName: table.name,
    Item: marshall({ ...key, ...itemOf(requestId, count, atMs) }),
    // The SDK sends a write again whose answer was lost: the place may be taken by then.
    ConditionExpression: 'attribute_not_exists(PK)',
  });
  await writeIf(() => table.client.send(command));
  return { key, requestId, takenBy: requestId, lastTry: count, atMs };
}

/**
 * All tries of the same members, by a strong read; first those that this one most likely follows: tried most, and then, if they are
 * not to come later, heard of last.
 */
export async function listTries(
  table: Table,
  keyId: string,
  digest: string,
  nowMs: number,
): Promise<StoredTries[]> {
  const { PK, SK: from } = itemKeys.sdkTry(keyId, digest, firstRequestIdAt(nowMs - keptMs));
  const { Items: items = [] } = await table.documents.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: 'PK = :pk AND SK BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': PK, ':from': from, ':to': `${digest}#~` },
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: maxListed,
    }),
  );
  const isEarly = ({ atMs }: StoredTries) => Number(atMs > nowMs);
  return items
    .map((item) => ({ ...(item as Omit<StoredTries, 'key'>), key: { PK, SK: item.SK as string } }))
    .sort(
      (one, other) => other.lastTry - one.lastTry || isEarly(one) - isEarly(other) || other.atMs - one.atMs,
    );
}

/**
 * Takes tries for a later one, unless another that was made as often has taken them. Who has taken them may do so again: the SDK
 * sends a write again whose answer was lost, and a try that is refused after it is the last that was heard of them.
 * @param by the later one's request
 */
export async function takeTries(
  table: Table,
  { key }: StoredTries,
  { count, by, atMs }: { count: number; by: string; atMs: number },
): Promise<boolean> {
  const command = new UpdateItemCommand({
    TableName: table.name,
    Key: marshall(key),
    UpdateExpression: 'SET lastTry = :count, takenBy = :by, atMs = :at',
    ConditionExpression: 'lastTry < :count OR takenBy = :by',
    ExpressionAttributeValues: marshall({ ':count': count, ':by': by, ':at': atMs }),
  });
  return writeIf(() => table.client.send(command));
}
