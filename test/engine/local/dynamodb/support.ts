import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDB, type CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { startDynamoDb } from '../../../../local/dynamodb/engine.ts';

export interface Endpoint {
  url: string;
  /** Whether it is the engine of this project. */
  isEmbedded: boolean;
  client: DynamoDB;
  document: DynamoDBDocument;
  /** Creates a table of its own for the caller and answers its name. */
  createTable(): Promise<string>;
  close(): Promise<void>;
}

/**
 * The endpoint that the conformance tests run against: the embedded engine on a folder of its own, or what
 * DYNAMODB_ENDPOINT names, such as AWS's DynamoDB Local.
 */
export async function openEndpoint(): Promise<Endpoint> {
  const given = process.env['DYNAMODB_ENDPOINT'];
  if (given) return { ...connect(given), isEmbedded: false, close: async () => undefined };
  const folder = await temporaryFolder();
  const engine = await startDynamoDb({ folder });
  const close = async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  };
  return { ...connect(engine.url), isEmbedded: true, close };
}

/** The endpoint for a test file, with a new table for each of its tests. */
export function useTable() {
  let endpoint: Endpoint;
  let TableName: string;
  beforeAll(async () => void (endpoint = await openEndpoint()));
  beforeEach(async () => void (TableName = await endpoint.createTable()));
  afterAll(() => endpoint.close());
  const key = (sk: string) => ({ pk: 'p', sk });
  return {
    key,
    at: (sk: string) => ({ TableName, Key: key(sk) }),
    endpoint: () => endpoint,
    name: () => TableName,
    /** Parts of a transaction. */
    put: (sk: string, more: object = {}) => ({ Put: { TableName, Item: { ...key(sk), ...more } } }),
    remove: (sk: string) => ({ Delete: { TableName, Key: key(sk) } }),
    exists: (sk: string) => ({
      ConditionCheck: { TableName, Key: key(sk), ConditionExpression: 'attribute_exists(pk)' },
    }),
    write: (...TransactItems: object[]) => endpoint.document.transactWrite({ TransactItems }),
    seed: (sk: string, more: object = {}) =>
      endpoint.document.put({ TableName, Item: { ...key(sk), ...more } }),
    item: async (sk: string) =>
      (await endpoint.document.get({ TableName, Key: key(sk), ConsistentRead: true })).Item,
    items: async (IndexName?: string) =>
      (await endpoint.document.scan({ TableName, IndexName, ConsistentRead: !IndexName })).Items!,
  };
}

export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'dynamodb-test-'));
}

/** Clients without retries, so that a test sees every answer. */
export function connect(url: string): Omit<Endpoint, 'close' | 'isEmbedded'> {
  const client = new DynamoDB({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  const document = DynamoDBDocument.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const createTable = async () => {
    const TableName = `test-${randomUUID()}`;
    await client.createTable({ ...tableDefinition, TableName });
    return TableName;
  };
  return { url, client, document, createTable };
}

export const tableDefinition: Omit<CreateTableCommandInput, 'TableName'> = {
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'owner', AttributeType: 'S' },
    { AttributeName: 'rank', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'owner-rank',
      KeySchema: [
        { AttributeName: 'owner', KeyType: 'HASH' },
        { AttributeName: 'rank', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
    {
      IndexName: 'owner-only',
      KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
};

export interface Failure extends Error {
  CancellationReasons?: { Code: string; Message?: string; Item?: Record<string, unknown> }[];
  Item?: Record<string, unknown>;
}

/** The error that a call fails with. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  try {
    await call;
  } catch (error) {
    return error as Failure;
  }
  throw new Error('The call was expected to fail, but it succeeded.');
}

/** Repeats a call that lost against another transaction, which DynamoDB may answer and this engine never does. */
export async function throughConflicts<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!/TransactionConflict/.test(`${(error as Error).name} ${(error as Error).message}`)) throw error;
    }
  }
}

/** Starts the engine in a process of its own. `kill` is SIGKILL: nothing in it gets to finish. */
export async function spawnEngine(folder: string): Promise<{ url: string; kill(): Promise<void> }> {
  const program = join(import.meta.dirname, 'engine-process.ts');
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: line.toString().trim(),
    async kill() {
      if (child.signalCode) return;
      const isGone = once(child, 'exit');
      child.kill('SIGKILL');
      await isGone;
    },
  };
}
