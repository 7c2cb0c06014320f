import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as openSocket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDynamoDb } from '../../../../local/dynamodb/engine.ts';
import { openLevel } from '../../../../local/dynamodb/open-level.ts';
import type { RunningServer } from '../../../../local/http/server.ts';
import { survivesKills } from './crash.ts';
import { connect, failureOf, tableDefinition, temporaryFolder } from './support.ts';

// What only the embedded engine has: a folder, a clock, a process to kill, and its own limits.
let folder: string;
let clock = Date.parse('2026-11-21T12:00:00Z');
let engine: RunningServer;
let clients: ReturnType<typeof connect>;

async function start(): Promise<void> {
  engine = await startDynamoDb({ folder, now: () => clock });
  clients = connect(engine.url);
}
async function restart(): Promise<void> {
  await engine.close();
  await start();
}
beforeAll(async () => {
  folder = await temporaryFolder();
  await start();
});
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

describe('what is not supported is refused by name', () => {
  test('an operation', async () => {
    const { client } = clients;
    const failure = await failureOf(client.listBackups({}));
    expect(failure.name).toBe('UnknownOperationException');
    expect(failure.message).toBe('The embedded DynamoDB engine does not support ListBackups.');
    const others = [
      client.transactGetItems({ TransactItems: [] }),
      client.describeTable({ TableName: 'abc' }),
    ];
    for (const call of others) expect((await failureOf(call)).name).toBe('UnknownOperationException');
  });

  test('a parameter, also one that expressions took the place of', async () => {
    const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' as const };
    const LocalSecondaryIndexes: [] = [];
    const table = { ...tableDefinition, TableName: 'streaming', StreamSpecification, LocalSecondaryIndexes };
    const failure = await failureOf(clients.client.createTable(table));
    expect(failure.name).toBe('ValidationException');
    expect(failure.message).toMatch(
      /does not support (StreamSpecification, LocalSecondaryIndexes|LocalSecondaryIndexes, StreamSpecification) in/,
    );
    const Expected = { pk: { Exists: false } };
    const old = clients.document.put({ TableName: 'streaming', Item: { pk: 'p', sk: 's' }, Expected });
    expect((await failureOf(old)).message).toMatch(/does not support Expected in PutItem/);
  });
});

test('a table is ready when CreateTable answers, and is not created twice', async () => {
  const TableName = await clients.createTable();
  expect((await clients.document.scan({ TableName, IndexName: 'owner-rank' })).Count).toBe(0);
  const failure = await failureOf(clients.client.createTable({ ...tableDefinition, TableName }));
  expect(failure.name).toBe('ResourceInUseException');
});

describe('a request that is not one', () => {
  const send = (body: string, headers: Record<string, string> = {}) =>
    fetch(engine.url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDB_20120810.Scan',
        authorization: 'AWS4-HMAC-SHA256 Credential=test',
        ...headers,
      },
    });
  const target = (name: string) => ({ 'x-amz-target': name });

  test.each([
    ['is no JSON', '{', {}, 400, 'SerializationException'],
    ['is no object', '[]', {}, 400, 'SerializationException'],
    ['is not signed', '{}', { authorization: '' }, 400, 'MissingAuthenticationTokenException'],
    ['names no operation', '{}', target('Other.Thing'), 400, 'UnknownOperationException'],
    [
      'names what every object has',
      '{}',
      target('DynamoDB_20120810.toString'),
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

  test('a client that leaves in the middle of a request disturbs nobody', async () => {
    const socket = openSocket(Number(new URL(engine.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"half":');
    socket.resetAndDestroy();
    expect((await send('{')).status).toBe(400);
  });
});

describe('a transaction with a token', () => {
  const Key = { pk: 'counter', sk: 'counter' };
  let TableName: string;
  beforeAll(async () => void (TableName = await clients.createTable()));
  const add = (n: number, ClientRequestToken: string) => {
    const values = { UpdateExpression: 'ADD n :n', ExpressionAttributeValues: { ':n': n } };
    const TransactItems = [{ Update: { TableName, Key, ...values } }];
    return clients.document.transactWrite({ ClientRequestToken, TransactItems });
  };
  const count = async () =>
    (await clients.document.get({ TableName, Key, ConsistentRead: true })).Item?.['n'];

  test('is remembered across a restart, for ten minutes and no longer', async () => {
    await add(1, 'token');
    await restart();
    await add(1, 'token');
    expect((await failureOf(add(2, 'token'))).name).toBe('IdempotentParameterMismatchException');
    clock += 10 * 60_000 - 1;
    await add(1, 'token');
    expect(await count()).toBe(1);
    clock += 1;
    await add(5, 'token');
    expect(await count()).toBe(6);
  });

  test('is the same transaction in whatever order its members are written', async () => {
    const send = (members: [string, object | string][]) =>
      clients.client.transactWriteItems({
        ClientRequestToken: 'order',
        TransactItems: [{ Put: Object.fromEntries(members) as never }],
      });
    const table: [string, string] = ['TableName', TableName];
    await send([table, ['Item', { pk: { S: 'p' }, sk: { S: 's' } }]]);
    await send([['Item', { sk: { S: 's' }, pk: { S: 'p' } }], table]);
  });

  test('is forgotten after its time, so that tokens do not pile up', async () => {
    for (let i = 0; i < 150; i += 1) await add(1, `old-${i}`);
    clock += 11 * 60_000;
    for (let i = 0; i < 100; i += 1) await add(1, `new-${i}`);
    await engine.close();
    const level = await openLevel(folder);
    const kept = await level.keys({ gte: 'token~', lt: 'token~\uffff' }).all();
    await level.close();
    await start();
    expect(kept).toHaveLength(100);
  });
});

describe('a folder', () => {
  const Item = { pk: 'p', sk: 's', owner: 'x', rank: 1 };
  let TableName: string;
  beforeAll(async () => {
    TableName = await clients.createTable();
    await clients.document.transactWrite({ TransactItems: [{ Put: { TableName, Item } }] });
  });

  test('has tables, items and indexes after a restart', async () => {
    await restart();
    const { document } = clients;
    expect((await document.get({ TableName, Key: { pk: 'p', sk: 's' } })).Item).toEqual(Item);
    expect((await document.scan({ TableName, IndexName: 'owner-rank' })).Items).toEqual([Item]);
  });

  test('has what was answered when it is closed, whatever is under way, and closing may be repeated', async () => {
    const writes = Array.from({ length: 50 }, (_, i) =>
      clients.document.put({ TableName, Item: { pk: 'w', sk: `${i}` } }).then(
        () => `${i}`,
        () => undefined,
      ),
    );
    const idle = openSocket(Number(new URL(engine.url).port), '127.0.0.1').on('error', () => undefined);
    await once(idle, 'connect');
    await writes[0];
    await Promise.all([engine.close(), engine.close()]);
    const answered = (await Promise.all(writes)).filter((sk) => sk !== undefined);
    await start();
    const { Items } = await clients.document.query({
      TableName,
      KeyConditionExpression: 'pk = :w',
      ExpressionAttributeValues: { ':w': 'w' },
    });
    expect(Items?.map(({ sk }) => sk)).toEqual(expect.arrayContaining(answered));
  });

  test('that is null keeps nothing', async () => {
    const memory = await startDynamoDb({ folder: null });
    const { document, client } = connect(memory.url);
    await client.createTable({ ...tableDefinition, TableName });
    await document.put({ TableName, Item });
    expect((await document.scan({ TableName })).Items).toEqual([Item]);
    await memory.close();
  });

  // LevelDB leaves out what it has written before, from four characters on: two UUIDs often share as many, and a name before
  // the text may share its first ones.
  const randomText = () => randomBytes(30).toString('base64');
  const isOnDisk = async (path: string, text: string) => {
    const files = (await readdir(path)).map((file) => readFile(join(path, file)).catch(() => ''));
    return (await Promise.all(files)).some((content) => content.includes(text.slice(10)));
  };
  test.each(['as soon as it runs', 'as it is closed after a restart'])(
    'loses what was deleted, %s',
    async (when) => {
      const path = await temporaryFolder();
      let own = await startDynamoDb({ folder: path });
      await connect(own.url).client.createTable({ ...tableDefinition, TableName });
      const [item, kept] = [
        { pk: 'p', sk: randomText() },
        { pk: 'p', sk: randomText() },
      ];
      for (const one of [item, kept]) await connect(own.url).document.put({ TableName, Item: one });
      const isClosed = when.includes('closed');
      if (isClosed) {
        await own.close();
        own = await startDynamoDb({ folder: path });
      }
      await connect(own.url).document.transactWrite({
        TransactItems: [{ Delete: { TableName, Key: item } }],
      });
      expect(await isOnDisk(path, item.sk)).toBe(true);
      if (isClosed) await own.close();
      else while (await isOnDisk(path, item.sk)) await setTimeout(50);
      expect(await isOnDisk(path, item.sk)).toBe(false);
      expect(await isOnDisk(path, kept.sk)).toBe(true);
      await own.close();
      await rm(path, { recursive: true });
    },
  );

  const manifest = async (path: string) => {
    const name = (await readdir(path)).find((file) => file.startsWith('MANIFEST-'));
    return join(path, String(name));
  };
  test.each<[string, (path: string) => Promise<void>]>([
    ['its manifest is garbage', async (path) => writeFile(await manifest(path), 'garbage')],
    ['its manifest is missing', async (path) => rm(await manifest(path))],
    ['its CURRENT file is garbage', (path) => writeFile(join(path, 'CURRENT'), 'garbage')],
    ['its CURRENT file is missing', (path) => rm(join(path, 'CURRENT'))],
  ])('is corrupt because %s, and is left as it is', async (_what, damage) => {
    const path = await temporaryFolder();
    await (await startDynamoDb({ folder: path })).close();
    await damage(path);
    const files = (await readdir(path)).filter((file) => !file.startsWith('LO'));
    const failure = await failureOf(startDynamoDb({ folder: path }));
    expect(failure).toMatchObject({ reason: 'corrupt' });
    expect(failure.message).toMatch(/^The DynamoDB data folder .* is corrupt \(.*\)\.$/);
    expect(await readdir(path)).toEqual(expect.arrayContaining(files));
    await rm(path, { recursive: true });
  });
});

test('two kills leave each transaction whole or absent, and a retry does it exactly once', async () => {
  await survivesKills(2);
}, 120_000);
