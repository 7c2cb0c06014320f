import { randomUUID } from 'node:crypto';
import { DynamoDB, type CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb, type DynamoDbOptions } from '../../../../local/dynamodb/engine.ts';
import { removeFolder, temporaryFolder } from '../../../support/service.ts';

export interface Endpoint {
  url: string;
  client: DynamoDB;
  document: DynamoDBDocument;
  /** Creates a table for its caller and answers its name. */
  createTable(): Promise<string>;
  close(): Promise<void>;
}

/** The endpoint of the conformance tests: the embedded engine, or what DYNAMODB_ENDPOINT names, such as AWS's DynamoDB Local. */
export async function openEndpoint(): Promise<Endpoint> {
  const given = process.env['DYNAMODB_ENDPOINT'];
  if (given) return connect(given);
  const folder = temporaryFolder();
  const engine = await startEngine({ folder });
  const close = () => engine.close().finally(() => removeFolder(folder));
  return { ...engine, close };
}

export async function startEngine(options: DynamoDbOptions): Promise<Endpoint> {
  const { url, close } = await startDynamoDb(options);
  return { ...connect(url), close };
}

/** Clients without retries, so that a test sees every answer. */
export function connect(url: string): Endpoint {
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
  return { url, client, document, createTable, close: async () => undefined };
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
  return call.then(
    () => new Error('The call was expected to fail, but it succeeded.'),
    (error: Failure) => error,
  );
}
