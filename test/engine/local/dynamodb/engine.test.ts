import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as openSocket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { removeFolder, temporaryFolder } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { survivesKills } from './crash.ts';
import { failureOf, startEngine, tableDefinition, type Endpoint } from './support.ts';

// What only the embedded engine has: a folder, a clock, a process to kill, and its own limits.
const folder = temporaryFolder();
let clock = Date.parse('2026-11-21T12:00:00Z');
let engine: Endpoint;
let TableName: string;

const start = async () => void (engine = await startEngine({ folder, now: () => clock }));
beforeAll(async () => {
  await start();
  TableName = await engine.createTable();
});
afterAll(async () => {
  await engine.close();
  removeFolder(folder);
});

test('what is not supported is refused by name', async () => {
  const { client, document } = engine;
  const definition = { ...tableDefinition, TableName: 'other' };
  const refused: [Promise<unknown>, string, RegExp][] = [
    [client.listBackups({}), 'UnknownOperationException', /does not support ListBackups\.$/],
    [client.createTable({ ...definition, Tags: [] }), 'ValidationException', /does not support Tags in/],
    [
      document.put({ TableName, Item: { pk: 'p', sk: 's' }, Expected: { pk: { Exists: false } } }),
      'ValidationException',
      /does not support Expected in PutItem/,
    ],
    [
      document.delete({ TableName, Key: { pk: 'p', sk: 's' }, ConditionExpression: 'size(pk) = pk' }),
      'ValidationException',
      /does not support size\(\)/,
    ],
    [client.createTable({ ...tableDefinition, TableName }), 'ResourceInUseException', /already exists/],
  ];
  for (const [call, name, message] of refused) {
    expect(await failureOf(call)).toMatchObject({ name, message: expect.stringMatching(message) });
  }
});

describe('a request that is not one', () => {
  const send = (body: string, headers: Record<string, string> = {}) => {
    const target = { 'x-amz-target': 'DynamoDB_20120810.Scan' };
    const signed = { authorization: 'AWS4-HMAC-SHA256 Credential=test' };
    return fetch(engine.url, { method: 'POST', body, headers: { ...target, ...signed, ...headers } });
  };

  test.each<[string, string, Record<string, string>, string | undefined]>([
    ['is no JSON', '{', {}, 'SerializationException'],
    ['is no object', '[]', {}, 'SerializationException'],
    ['is not signed', '{}', { authorization: '' }, 'MissingAuthenticationTokenException'],
    ['names no operation', '{}', { 'x-amz-target': 'Other.Thing' }, 'UnknownOperationException'],
    [
      'names what objects have',
      '{}',
      { 'x-amz-target': 'DynamoDB_20120810.toString' },
      'UnknownOperationException',
    ],
    ['is larger than 16 MB', 'x'.repeat(17_000_000), {}, undefined],
  ])('%s', async (_what, body, headers, name) => {
    const response = await send(body, headers);
    const { __type: type } = (await response.json()) as { __type?: string };
    expect([response.status, type?.split('#')[1]]).toEqual([name ? 400 : 413, name]);
  });

  test('since its client left in the middle of it disturbs nobody', async () => {
    const socket = openSocket(Number(new URL(engine.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"half":');
    socket.resetAndDestroy();
    expect((await send('{')).status).toBe(400);
  });
});

test('a transaction that is sent again with its token has no further effect for ten minutes', async () => {
  const Key = { pk: 'counter', sk: 'counter' };
  const add = (n: number, ClientRequestToken: string, ConditionExpression?: string) => {
    const update = {
      UpdateExpression: 'ADD n :n',
      ExpressionAttributeValues: { ':n': n },
      ConditionExpression,
    };
    const TransactItems = [{ Update: { TableName, Key, ...update } }];
    return engine.document.transactWrite({ ClientRequestToken, TransactItems });
  };
  // What was cancelled may be tried again.
  expect((await failureOf(add(1, 'token', 'attribute_exists(pk)'))).name).toBe(
    'TransactionCanceledException',
  );
  await Promise.all(Array.from({ length: 20 }, () => add(1, 'token', 'attribute_not_exists(pk)')));
  expect((await failureOf(add(2, 'token'))).name).toBe('IdempotentParameterMismatchException');
  clock += 10 * 60_000 - 1;
  await add(1, 'token', 'attribute_not_exists(pk)');
  clock += 1;
  await add(5, 'token');
  expect((await engine.document.get({ TableName, Key, ConsistentRead: true })).Item?.n).toBe(6);
});

describe('a folder', () => {
  test('has what was answered when it is closed, whatever is under way, and closing may be repeated', async () => {
    const writes = Array.from({ length: 50 }, (_, i) =>
      engine.document.put({ TableName, Item: { pk: 'w', sk: `${i}`, owner: 'x', rank: i } }).then(
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
    for (const IndexName of [undefined, 'owner-rank']) {
      const { Items } = await engine.document.scan({ TableName, IndexName });
      expect(Items?.map(({ sk }) => sk)).toEqual(expect.arrayContaining(answered));
    }
  });

  // LevelDB leaves out what it has written before, from four characters on: two UUIDs often share as many, and a name before
  // the text may share its first ones.
  const randomText = () => randomBytes(30).toString('base64');
  const isOnDisk = async (path: string, text: string) => {
    const files = (await readdir(path)).map((file) => readFile(join(path, file)).catch(() => ''));
    return (await Promise.all(files)).some((content) => content.includes(text.slice(10)));
  };
  test.each(['as soon as it runs', 'as it is closed'])('loses what was deleted, %s', async (when) => {
    const path = temporaryFolder();
    let own = await startEngine({ folder: path });
    const table = await own.createTable();
    const [item, kept] = [randomText(), randomText()].map((sk) => ({ pk: 'p', sk })) as [any, any];
    for (const Item of [item, kept]) await own.document.put({ TableName: table, Item });
    if (when === 'as it is closed') {
      await own.close();
      own = await startEngine({ folder: path });
    }
    await own.document.transactWrite({ TransactItems: [{ Delete: { TableName: table, Key: item } }] });
    expect(await isOnDisk(path, item.sk)).toBe(true);
    if (when === 'as it is closed') await own.close();
    else await until('it is gone', async () => !(await isOnDisk(path, item.sk)));
    expect([await isOnDisk(path, item.sk), await isOnDisk(path, kept.sk)]).toEqual([false, true]);
    await own.close();
    removeFolder(path);
  });

  const manifest = async (path: string) =>
    join(
      path,
      (await readdir(path)).find((file) => file.startsWith('MANIFEST-'))!,
    );
  test.each<[string, (path: string) => Promise<void>]>([
    ['its manifest is garbage', async (path) => writeFile(await manifest(path), 'garbage')],
    ['its manifest is missing', async (path) => rm(await manifest(path))],
    ['its CURRENT file is missing', (path) => rm(join(path, 'CURRENT'))],
  ])('is corrupt because %s, and is left as it is', async (_what, damage) => {
    const path = temporaryFolder();
    await (await startEngine({ folder: path })).close();
    await damage(path);
    const files = (await readdir(path)).filter((file) => !file.startsWith('LO'));
    expect(await failureOf(startEngine({ folder: path }))).toMatchObject({ reason: 'corrupt' });
    expect(await readdir(path)).toEqual(expect.arrayContaining(files));
    removeFolder(path);
  });

  test('has each transaction whole or not at all, and each that was answered, after two kills', async () => {
    await survivesKills(2);
  }, 120_000);
});
