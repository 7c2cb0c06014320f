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
  lastTry: number;
  /** When they were last heard of. */
  atMs: number;
}

const keptMs = 10 * 60 * 1000;

const itemOf = (requestId: string, lastTry: number, atMs: number): Item => ({
  requestId,
  lastTry,
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

/** Notes a first try that was refused, so that the next one takes no other wish's result. What is stored stays. */
export async function noteRefusedTry(
  table: Table,
  { keyId, requestId, digest }: { keyId: string; requestId: string; digest: string },
  nowMs: number,
): Promise<void> {
  const item = { ...itemKeys.sdkTry(keyId, digest, requestId), ...itemOf(requestId, 0, nowMs) };
  const command = new PutItemCommand({
    TableName: table.name,
    Item: marshall(item),
    ConditionExpression: 'attribute_not_exists(PK)',
  });
  await writeIf(() => table.client.send(command));
}

/** Earlier tries of the same members, none made as often as this one; first those that it most likely follows: a strong read. */
export async function listTries(
  table: Table,
  keyId: string,
  { digest, count }: SdkTry,
  nowMs: number,
): Promise<StoredTries[]> {
  const { PK, SK: from } = itemKeys.sdkTry(keyId, digest, firstRequestIdAt(nowMs - keptMs));
  // A page of a megabyte is enough: a key may send a hundred requests in ten minutes.
  const { Items: items = [] } = await table.documents.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: 'PK = :pk AND SK BETWEEN :from AND :to',
      FilterExpression: 'lastTry < :count',
      ExpressionAttributeValues: { ':pk': PK, ':from': from, ':to': `${digest}#~`, ':count': count },
      ScanIndexForward: false,
      ConsistentRead: true,
    }),
  );
  return items
    .map(({ SK, requestId, lastTry, atMs }): StoredTries => ({ key: { PK, SK }, requestId, lastTry, atMs }))
    .sort((one, other) => other.lastTry - one.lastTry || other.atMs - one.atMs);
}

/**
 * Takes tries for a later one, unless another that was made as often has taken them. Who has taken them may do so again: the SDK
 * sends a write again whose answer was lost, and a try that is refused after it is the last that was heard of them.
 * @param by the later one's request
 */
export async function takeTries(
  table: Table,
  { key }: StoredTries,
  { count, by, nowMs }: { count: number; by: string; nowMs: number },
): Promise<boolean> {
  const command = new UpdateItemCommand({
    TableName: table.name,
    Key: marshall(key),
    UpdateExpression: 'SET lastTry = :count, takenBy = :by, atMs = :at',
    ConditionExpression: 'lastTry < :count OR takenBy = :by',
    ExpressionAttributeValues: marshall({ ':count': count, ':by': by, ':at': nowMs }),
  });
  return writeIf(() => table.client.send(command));
}
