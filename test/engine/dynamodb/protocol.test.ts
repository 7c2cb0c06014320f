import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDynamoDb } from '../../../local/dynamodb/engine.ts';
import type { DynamoDbEngine } from '../../../local/dynamodb/engine.ts';
import { connect, failureOf, tableDefinition } from './support/endpoint.ts';

let engine: DynamoDbEngine;
let clients: ReturnType<typeof connect>;
beforeAll(async () => {
  engine = await startDynamoDb({ folder: null });
  clients = connect(engine.url);
});
afterAll(() => engine.close());

describe('what is not supported is refused by name', () => {
  test('an operation', async () => {
    const failure = await failureOf(clients.client.listBackups({}));
    expect(failure.name).toBe('UnknownOperationException');
    expect(failure.message).toBe('The embedded DynamoDB engine does not support ListBackups.');
    expect((await failureOf(clients.client.executeStatement({ Statement: 'SELECT' }))).message).toMatch(
      /ExecuteStatement/,
    );
  });

  test('a parameter', async () => {
    const failure = await failureOf(
      clients.client.createTable({
        ...tableDefinition,
        TableName: 'streaming',
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
      }),
    );
    expect(failure.name).toBe('ValidationException');
    expect(failure.message).toMatch(/does not support StreamSpecification in CreateTable/);
  });

  test('a change of the indexes of a table', async () => {
    const TableName = await clients.createTable();
    const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName: 'owner-rank' } }];
    const failure = await failureOf(clients.client.updateTable({ TableName, GlobalSecondaryIndexUpdates }));
    expect(failure.message).toMatch(/GlobalSecondaryIndexUpdates that create or delete an index/);
  });
});

describe('tables', () => {
  test('are ready when CreateTable answers, listed, and gone with all they held when deleted', async () => {
    const TableName = await clients.createTable();
    const Item = { pk: 'p', sk: 's', owner: 'x', rank: 1 };
    await clients.document.put({ TableName, Item });
    expect((await clients.client.listTables({})).TableNames).toContain(TableName);
    const { Table } = await clients.client.describeTable({ TableName });
    expect(Table?.TableStatus).toBe('ACTIVE');
    expect(Table?.GlobalSecondaryIndexes?.map(({ IndexStatus }) => IndexStatus)).toEqual([
      'ACTIVE',
      'ACTIVE',
    ]);
    await clients.client.updateTimeToLive({
      TableName,
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    });

    await clients.client.deleteTable({ TableName });
    expect((await failureOf(clients.document.get({ TableName, Key: { pk: 'p', sk: 's' } }))).name).toBe(
      'ResourceNotFoundException',
    );
    await clients.client.createTable({ ...tableDefinition, TableName });
    expect((await clients.document.scan({ TableName })).Count).toBe(0);
    expect((await clients.document.scan({ TableName, IndexName: 'owner-rank' })).Count).toBe(0);
    expect((await clients.client.describeTimeToLive({ TableName })).TimeToLiveDescription).toEqual({
      TimeToLiveStatus: 'DISABLED',
    });
  });

  test('are not created twice', async () => {
    const TableName = await clients.createTable();
    const failure = await failureOf(clients.client.createTable({ ...tableDefinition, TableName }));
    expect(failure.name).toBe('ResourceInUseException');
  });

  test('carry tags', async () => {
    const TableName = await clients.createTable();
    const { Table } = await clients.client.describeTable({ TableName });
    const ResourceArn = String(Table?.TableArn);
    await clients.client.tagResource({
      ResourceArn,
      Tags: [
        { Key: 'a', Value: '1' },
        { Key: 'b', Value: '2' },
      ],
    });
    await clients.client.untagResource({ ResourceArn, TagKeys: ['a'] });
    expect((await clients.client.listTagsOfResource({ ResourceArn })).Tags).toEqual([
      { Key: 'b', Value: '2' },
    ]);
  });
});

describe('time to live', () => {
  test('is a setting that is kept and may be taken back', async () => {
    const TableName = await clients.createTable();
    const set = (AttributeName: string, Enabled: boolean) =>
      clients.client.updateTimeToLive({ TableName, TimeToLiveSpecification: { AttributeName, Enabled } });
    const status = async () => (await clients.client.describeTimeToLive({ TableName })).TimeToLiveDescription;
    expect(await status()).toEqual({ TimeToLiveStatus: 'DISABLED' });
    expect((await set('expires', true)).TimeToLiveSpecification).toEqual({
      AttributeName: 'expires',
      Enabled: true,
    });
    expect(await status()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' });
    expect((await failureOf(set('expires', true))).message).toBe('TimeToLive is already enabled');
    expect((await failureOf(set('other', true))).message).toMatch(/active on a different AttributeName/);
    await set('expires', false);
    expect((await failureOf(set('expires', false))).message).toBe('TimeToLive is already disabled');
    expect(await status()).toEqual({ TimeToLiveStatus: 'DISABLED' });
  });

  test('needs a table', async () => {
    const failure = await failureOf(clients.client.describeTimeToLive({ TableName: 'no-such-table' }));
    expect(failure.name).toBe('ResourceNotFoundException');
  });
});

describe('a request that is not one', () => {
  const send = (body: string, headers: Record<string, string> = {}) =>
    fetch(engine.url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDB_20120810.ListTables',
        authorization: 'AWS4-HMAC-SHA256 Credential=test',
        ...headers,
      },
    });

  test.each([
    ['is no JSON', '{', {}, 400, 'SerializationException'],
    ['is no object', '[]', {}, 400, 'SerializationException'],
    ['is not signed', '{}', { authorization: '' }, 400, 'MissingAuthenticationTokenException'],
    ['names no operation', '{}', { 'x-amz-target': 'Other.Thing' }, 400, 'UnknownOperationException'],
    [
      'names what every object has',
      '{}',
      { 'x-amz-target': 'DynamoDB_20120810.toString' },
      400,
      'UnknownOperationException',
    ],
    ['is larger than 16 MB', 'x'.repeat(17_000_000), {}, 413, undefined],
  ])('%s', async (_what, body, headers, status, name) => {
    const response = await send(body, headers);
    expect(response.status).toBe(status);
    const { __type } = (await response.json()) as { __type?: string };
    expect(__type?.split('#')[1]).toBe(name);
  });

  test('answers a health check', async () => {
    expect((await fetch(engine.url)).status).toBe(200);
  });

  test('a client that leaves in the middle of a request disturbs nobody', async () => {
    const socket = openSocket(Number(new URL(engine.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"half":');
    socket.resetAndDestroy();
    expect((await send('{}')).status).toBe(200);
  });
});
