import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  paginateQuery,
  paginateScan,
  QueryCommand,
  type QueryCommandInput,
  type ScanCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { withoutUnusedMiddleware, cachedMiddleware } from '../base/aws-clients.ts';
import { serviceBusy } from '../base/errors.ts';
import { maxConflictRetries, pause } from './backoff.ts';
import { leaseIndex, ownerIndex, type ItemKey } from './keys.ts';

/** The table and its clients: every store is built on these. */
export interface Table {
  name: string;
  /** For what each generation calls. Its values are DynamoDB's, and its calls take half of the time. */
  client: DynamoDBClient;
  /** For everything else; made when it is first asked for. */
  readonly documents: DynamoDBDocumentClient;
}

export type Item = Record<string, any>;

export function openTable(name: string, { requestTimeoutMs = 3000 } = {}): Table {
  const client = withoutUnusedMiddleware(
    new DynamoDBClient({
      ...cachedMiddleware,
      requestHandler: {
        connectionTimeout: 1000,
        requestTimeout: requestTimeoutMs,
        throwOnRequestTimeout: true,
      },
    }),
  );
  let documents: DynamoDBDocumentClient | undefined;
  return {
    name,
    client,
    get documents() {
      return (documents ??= documentClient(client.config));
    },
  };
}

/** Its commands are bound to their input: out of a cache, each would send the first one's again. */
function documentClient({ requestHandler }: DynamoDBClient['config']): DynamoDBDocumentClient {
  const client = withoutUnusedMiddleware(
    new DynamoDBClient({ ...cachedMiddleware, cacheMiddleware: false, requestHandler }),
  );
  return DynamoDBDocumentClient.from(client);
}

/** One item, read strongly: every write that was answered before is in it. */
export async function getItem(table: Table, key: ItemKey): Promise<Item | null> {
  const command = new GetItemCommand({ TableName: table.name, Key: marshall(key), ConsistentRead: true });
  const { Item: item } = await table.client.send(command);
  return item === undefined ? null : unmarshall(item);
}

/**
 * Sends a write of one item that transactions write too. One that meets such a transaction is refused unapplied, and
 * the SDK tries throttled writes again but not these (@smithy/core, "service-error-classification").
 * @throws SERVICE_UNAVAILABLE when conflicts don't end; whatever else the SDK throws.
 */
export async function writeItem<T>(send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof TransactionConflictException)) throw error;
      if (attempt > maxConflictRetries) throw serviceBusy(error, true);
      await pause(attempt);
    }
  }
}

/** As `writeItem`, for a write that may come too late. @returns whether its condition held. */
export async function writeIf(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await writeItem(send);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** An account's items of one kind, in order of creation. Eventually consistent: for lists, never for access. */
export function listOwned<T>(
  table: Table,
  ownerId: string,
  kind: string,
  order: 'oldest first' | 'newest first',
  fromItem: (item: Item) => T,
): Promise<T[]> {
  const query = {
    IndexName: ownerIndex.name,
    KeyConditionExpression: `${ownerIndex.partition} = :owner AND begins_with(${ownerIndex.sort}, :kind)`,
    ExpressionAttributeValues: { ':owner': ownerIndex.of(ownerId), ':kind': kind },
    ScanIndexForward: order === 'oldest first',
  };
  return queryAll(table, query, fromItem);
}

/** The keys of what is listed under one value of the lease index, and whose lease ended before an instant, oldest first. */
export async function listLeases(
  table: Table,
  listedAs: string,
  beforeMs: number,
  limit: number,
): Promise<Item[]> {
  const { Items: keys = [] } = await table.documents.send(
    new QueryCommand({
      TableName: table.name,
      IndexName: leaseIndex.name,
      KeyConditionExpression: `${leaseIndex.partition} = :listedAs AND ${leaseIndex.sort} < :before`,
      ExpressionAttributeValues: { ':listedAs': listedAs, ':before': beforeMs },
      Limit: limit,
    }),
  );
  return keys;
}

/** Reads up to 100 items strongly, in the order of their keys; undefined where there is none. */
export async function batchGet(table: Table, keys: ItemKey[]): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  let pending: Record<string, AttributeValue>[] | undefined = keys.map((key) => marshall(key));
  for (let attempt = 0; pending !== undefined && pending.length > 0; attempt++) {
    if (attempt === 6) throw serviceBusy();
    if (attempt > 0) await pause(attempt);
    const answer: BatchGetItemCommandOutput = await table.client.send(
      new BatchGetItemCommand({ RequestItems: { [table.name]: { Keys: pending, ConsistentRead: true } } }),
    );
    for (const stored of answer.Responses?.[table.name] ?? []) {
      const item = unmarshall(stored);
      found.set(`${item.PK}\n${item.SK}`, item);
    }
    pending = answer.UnprocessedKeys?.[table.name]?.Keys;
  }
  return keys.map((key) => found.get(`${key.PK}\n${key.SK}`));
}

/** Like `batchGet`, of any number of items. */
export async function batchGetAll(table: Table, keys: ItemKey[]): Promise<(Item | undefined)[]> {
  // Twenty reads at a time: of more, some would wait for a socket until their time is over.
  if (keys.length > 2000) {
    return [
      ...(await batchGetAll(table, keys.slice(0, 2000))),
      ...(await batchGetAll(table, keys.slice(2000))),
    ];
  }
  const chunks = Array.from({ length: Math.ceil(keys.length / 100) }, (_, i) =>
    keys.slice(100 * i, 100 * i + 100),
  );
  return (await Promise.all(chunks.map((chunk) => batchGet(table, chunk)))).flat();
}

/** Every item that a query finds, page by page. */
export function queryAll<T>(
  { documents: client, name: TableName }: Table,
  query: Omit<QueryCommandInput, 'TableName'>,
  fromItem: (item: Item) => T,
): Promise<T[]> {
  return itemsOf(paginateQuery({ client }, { ...query, TableName }), fromItem);
}

/** Every item of the whole table that a scan finds: for the operator's programs, never for a request. */
export function scanAll<T>(
  { documents: client, name: TableName }: Table,
  scan: Omit<ScanCommandInput, 'TableName'>,
  fromItem: (item: Item) => T,
): Promise<T[]> {
  return itemsOf(paginateScan({ client }, { ...scan, TableName }), fromItem);
}

async function itemsOf<T>(
  pages: AsyncIterable<{ Items?: Item[] | undefined }>,
  fromItem: (item: Item) => T,
): Promise<T[]> {
  const found: T[] = [];
  for await (const { Items: items = [] } of pages) found.push(...items.map(fromItem));
  return found;
}
