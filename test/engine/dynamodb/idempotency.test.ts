import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startDynamoDb } from '../../../local/dynamodb/engine.ts';
import type { DynamoDbEngine } from '../../../local/dynamodb/engine.ts';
import { openLevel } from '../../../local/dynamodb/open-level.ts';
import { connect, failureOf, temporaryFolder } from './support/endpoint.ts';

let folder: string;
let engine: DynamoDbEngine;
let TableName: string;
let clock: number;

const start = () => startDynamoDb({ folder, now: () => clock });
beforeEach(async () => {
  clock = Date.parse('2026-11-21T12:00:00Z');
  folder = await temporaryFolder();
  engine = await start();
  TableName = await connect(engine.url).createTable();
});
afterEach(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

const minutes = (n: number) => n * 60_000;
const Key = { pk: 'counter', sk: 'counter' };
const add = (n: number, ClientRequestToken: string | undefined, ConditionExpression?: string) =>
  connect(engine.url).document.transactWrite({
    ClientRequestToken,
    TransactItems: [
      {
        Update: {
          TableName,
          Key,
          UpdateExpression: 'ADD n :n',
          ConditionExpression,
          ExpressionAttributeValues: { ':n': n },
        },
      },
    ],
  });
const count = async () =>
  (await connect(engine.url).document.get({ TableName, Key, ConsistentRead: true })).Item?.['n'];

describe('a transaction with a token', () => {
  test('that is sent again succeeds and has no further effect', async () => {
    await add(1, 'token');
    await add(1, 'token');
    expect(await count()).toBe(1);
  });

  test('that is sent many times at once is done once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => add(1, 'token')));
    expect(await count()).toBe(1);
  });

  test('that is sent with other parameters is refused', async () => {
    await add(1, 'token');
    const failure = await failureOf(add(2, 'token'));
    expect(failure.name).toBe('IdempotentParameterMismatchException');
    expect(await count()).toBe(1);
  });

  test('is the same transaction in whatever order its members are written', async () => {
    const send = (members: [string, object | string][]) =>
      connect(engine.url).client.transactWriteItems({
        ClientRequestToken: 'token',
        TransactItems: [{ Put: Object.fromEntries(members) as never }],
      });
    await send([
      ['TableName', TableName],
      ['Item', { pk: { S: 'p' }, sk: { S: 's' } }],
    ]);
    await send([
      ['Item', { sk: { S: 's' }, pk: { S: 'p' } }],
      ['TableName', TableName],
    ]);
  });

  test('is remembered across a restart', async () => {
    await add(1, 'token');
    await engine.close();
    engine = await start();
    await add(1, 'token');
    expect(await count()).toBe(1);
    expect((await failureOf(add(2, 'token'))).name).toBe('IdempotentParameterMismatchException');
  });

  test('is remembered for ten minutes and no longer', async () => {
    await add(1, 'token');
    clock += minutes(10) - 1;
    await add(1, 'token');
    expect(await count()).toBe(1);
    clock += 1;
    await add(5, 'token');
    expect(await count()).toBe(6);
  });

  test('can be tried again if it was cancelled', async () => {
    await failureOf(add(1, 'token', 'attribute_exists(pk)'));
    await add(10, 'other');
    await add(1, 'token', 'attribute_exists(pk)');
    expect(await count()).toBe(11);
  });
});

test('transactions with tokens of their own, as the SDK gives them, are all done', async () => {
  for (let i = 0; i < 3; i += 1) await add(1, undefined);
  expect(await count()).toBe(3);
});

test('tokens do not pile up after their time', async () => {
  for (let i = 0; i < 150; i += 1) await add(1, `old-${i}`);
  clock += minutes(11);
  await add(1, 'old-7');
  for (let i = 0; i < 99; i += 1) await add(1, `new-${i}`);
  await add(1, 'old-7');
  expect(await count()).toBe(250);
  await engine.close();
  const level = await openLevel(folder);
  const kept = await level.keys({ gte: 'token~', lt: 'token~\uffff' }).all();
  await level.close();
  expect(kept).toHaveLength(100);
});
