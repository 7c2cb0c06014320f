import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { connect as openSocket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startDynamoDb } from '../../../local/dynamodb/engine.ts';
import { connect, failureOf, temporaryFolder } from './support/endpoint.ts';
import { spawnEngine } from './support/spawn-engine.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => rm(folder, { recursive: true }));

const Item = { pk: 'p', sk: 's', owner: 'x', rank: 1 };

async function startWithItem() {
  const engine = await startDynamoDb({ folder });
  const { document, createTable } = connect(engine.url);
  const TableName = await createTable();
  await document.transactWrite({ TransactItems: [{ Put: { TableName, Item } }] });
  return { engine, TableName };
}

test('tables, items, indexes and settings are there after a restart', async () => {
  const { engine, TableName } = await startWithItem();
  const { client } = connect(engine.url);
  const TimeToLiveSpecification = { AttributeName: 'expires', Enabled: true };
  await client.updateTimeToLive({ TableName, TimeToLiveSpecification });
  const { Table: before } = await client.describeTable({ TableName });
  await engine.close();

  const again = await startDynamoDb({ folder });
  const { client: after, document } = connect(again.url);
  expect((await document.get({ TableName, Key: { pk: 'p', sk: 's' } })).Item).toEqual(Item);
  expect((await document.scan({ TableName, IndexName: 'owner-rank' })).Items).toEqual([Item]);
  expect((await after.describeTable({ TableName })).Table).toEqual(before);
  expect((await after.describeTimeToLive({ TableName })).TimeToLiveDescription).toEqual({
    TimeToLiveStatus: 'ENABLED',
    AttributeName: 'expires',
  });
  await again.close();
});

test('without a folder nothing is kept, and it works the same', async () => {
  const engine = await startDynamoDb({ folder: null });
  const { document, createTable } = connect(engine.url);
  const TableName = await createTable();
  await document.transactWrite({ TransactItems: [{ Put: { TableName, Item } }] });
  const { Responses } = await document.transactGet({
    TransactItems: [{ Get: { TableName, Key: { pk: 'p', sk: 's' } } }],
  });
  expect(Responses).toEqual([{ Item }]);
  await engine.close();

  const another = await startDynamoDb({ folder: null });
  expect((await connect(another.url).client.listTables({})).TableNames).toEqual([]);
  await another.close();
});

describe('closing', () => {
  test('is prompt while connections are open, may be repeated, and frees the folder', async () => {
    const { engine, TableName } = await startWithItem();
    const { document } = connect(engine.url);
    await document.scan({ TableName });
    const idle = openSocket(Number(new URL(engine.url).port), '127.0.0.1');
    idle.on('error', () => undefined);
    await once(idle, 'connect');
    const begin = performance.now();
    await Promise.all([engine.close(), engine.close()]);
    expect(performance.now() - begin).toBeLessThan(1000);
    await (await startDynamoDb({ folder })).close();
  });

  test('completes what was answered, whatever is under way', async () => {
    const { engine, TableName } = await startWithItem();
    const { document } = connect(engine.url);
    const writes = Array.from({ length: 50 }, (_, i) =>
      document.put({ TableName, Item: { pk: 'w', sk: `${i}` } }).then(
        () => `${i}`,
        () => undefined,
      ),
    );
    await writes[0];
    await engine.close();
    const answered = (await Promise.all(writes)).filter((sk) => sk !== undefined);
    const again = await startDynamoDb({ folder });
    const { Items } = await connect(again.url).document.query({
      TableName,
      KeyConditionExpression: 'pk = :w',
      ExpressionAttributeValues: { ':w': 'w' },
    });
    expect(Items?.map(({ sk }) => sk)).toEqual(expect.arrayContaining(answered));
    await again.close();
  });
});

describe('a folder that cannot be used', () => {
  test('because another process has it is in use', async () => {
    const other = await spawnEngine(folder);
    const failure = await failureOf(startDynamoDb({ folder }));
    await other.kill();
    expect(failure).toMatchObject({ reason: 'in_use' });
    expect(failure.message).toBe(`The DynamoDB data folder ${folder} is in use by another process.`);
    await (await startDynamoDb({ folder })).close();
  });

  const manifest = async () => {
    const name = (await readdir(folder)).find((file) => file.startsWith('MANIFEST-'));
    return join(folder, String(name));
  };
  test.each([
    ['its manifest is garbage', async () => writeFile(await manifest(), 'garbage')],
    ['its manifest is missing', async () => rm(await manifest())],
    ['its CURRENT file is garbage', () => writeFile(join(folder, 'CURRENT'), 'garbage')],
    ['its CURRENT file is missing', () => rm(join(folder, 'CURRENT'))],
  ])('because %s is corrupt, and is left as it is', async (_what, damage) => {
    const { engine } = await startWithItem();
    await engine.close();
    await damage();
    const files = (await readdir(folder)).filter((file) => !file.startsWith('LO'));
    const failure = await failureOf(startDynamoDb({ folder }));
    expect(failure).toMatchObject({ reason: 'corrupt' });
    expect(failure.message).toMatch(/^The DynamoDB data folder .* is corrupt \(.*\)\.$/);
    expect(await readdir(folder)).toEqual(expect.arrayContaining(files));
  });

  test('because it is a file is told so', async () => {
    const path = join(folder, 'file');
    await writeFile(path, '');
    expect((await failureOf(startDynamoDb({ folder: path }))).message).toMatch(/cannot be opened/);
  });
});

test('a port that is taken is an error, and the folder is free again', async () => {
  const engine = await startDynamoDb({ folder: null });
  const port = Number(new URL(engine.url).port);
  expect((await failureOf(startDynamoDb({ folder, port }))).message).toMatch(/EADDRINUSE/);
  await engine.close();
  await (await startDynamoDb({ folder, port })).close();
});
