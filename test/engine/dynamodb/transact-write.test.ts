import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { failureOf, openEndpoint } from './support/endpoint.ts';
import type { Endpoint } from './support/endpoint.ts';

let endpoint: Endpoint;
let TableName: string;
beforeAll(async () => {
  endpoint = await openEndpoint();
});
beforeEach(async () => {
  TableName = await endpoint.createTable();
});
afterAll(() => endpoint.close());

const key = (sk: string) => ({ pk: 'p', sk });
const put = (sk: string, more = {}) => ({ Put: { TableName, Item: { ...key(sk), ...more } } });
const putNew = (sk: string, more = {}) => ({
  Put: {
    TableName,
    Item: { ...key(sk), ...more },
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  },
});
const exists = (sk: string) => ({
  ConditionCheck: { TableName, Key: key(sk), ConditionExpression: 'attribute_exists(pk)' },
});
const write = (...TransactItems: object[]) => endpoint.document.transactWrite({ TransactItems });
const items = async () => (await endpoint.document.scan({ TableName, ConsistentRead: true })).Items ?? [];
const item = async (sk: string) =>
  (await endpoint.document.get({ TableName, Key: key(sk), ConsistentRead: true })).Item;
/** As the API writes it: the SDK does not convert the items in errors. */
const stored = (sk: string, n: number) => ({ pk: { S: 'p' }, sk: { S: sk }, n: { N: String(n) } });
const seed = (sk: string, more = {}) => endpoint.document.put({ TableName, Item: { ...key(sk), ...more } });

describe('a transaction that succeeds', () => {
  test('puts, updates, deletes and checks together', async () => {
    await seed('updated', { n: 1 });
    await seed('deleted');
    await seed('checked');
    await write(
      put('new', { n: 7 }),
      {
        Update: {
          TableName,
          Key: key('updated'),
          UpdateExpression: 'SET n = n + :one',
          ConditionExpression: 'n = :one',
          ExpressionAttributeValues: { ':one': 1 },
        },
      },
      { Delete: { TableName, Key: key('deleted') } },
      exists('checked'),
    );
    expect(await item('new')).toEqual({ ...key('new'), n: 7 });
    expect(await item('updated')).toEqual({ ...key('updated'), n: 2 });
    expect(await item('deleted')).toBeUndefined();
    expect(await item('checked')).toEqual(key('checked'));
  });

  test('spans tables', async () => {
    const other = await endpoint.createTable();
    await write(put('here'), { Put: { TableName: other, Item: key('here') } });
    expect(await items()).toHaveLength(1);
    expect((await endpoint.document.scan({ TableName: other })).Count).toBe(1);
  });

  test('may have 100 parts', async () => {
    await write(...Array.from({ length: 100 }, (_, i) => put(`item-${i}`)));
    expect(await items()).toHaveLength(100);
  });

  test('costs twice the units of its writes', async () => {
    const { ConsumedCapacity } = await endpoint.document.transactWrite({
      TransactItems: [put('a'), put('b')],
      ReturnConsumedCapacity: 'TOTAL',
    });
    expect(ConsumedCapacity).toEqual([expect.objectContaining({ TableName, CapacityUnits: 4 })]);
  });

  test('keeps the indexes right as items enter, move within and leave them', async () => {
    const byOwner = async (owner: string) => {
      const found = await endpoint.document.query({
        TableName,
        IndexName: 'owner-rank',
        KeyConditionExpression: '#o = :o',
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: { ':o': owner },
      });
      return found.Items?.map(({ sk, rank }) => [sk, rank]);
    };
    const move = (sk: string, UpdateExpression: string, values?: Record<string, unknown>) => ({
      Update: {
        TableName,
        Key: key(sk),
        UpdateExpression,
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: values,
      },
    });
    await write(
      put('a', { owner: 'x', rank: 10 }),
      put('b', { owner: 'x', rank: -2.5 }),
      put('c', { rank: 1 }),
    );
    expect(await byOwner('x')).toEqual([
      ['b', -2.5],
      ['a', 10],
    ]);
    await write(
      move('a', 'SET #o = :o', { ':o': 'y' }),
      move('b', 'REMOVE #o'),
      move('c', 'SET #o = :o', { ':o': 'y' }),
    );
    expect(await byOwner('x')).toEqual([]);
    expect(await byOwner('y')).toEqual([
      ['c', 1],
      ['a', 10],
    ]);
    await write({ Delete: { TableName, Key: key('a') } }, put('c', { owner: 'y', rank: 99 }));
    expect(await byOwner('y')).toEqual([['c', 99]]);
  });
});

describe('a transaction that is cancelled', () => {
  test('gives a reason for each part, in their order', async () => {
    await seed('taken', { n: 3 });
    await seed('there');
    const failure = await failureOf(
      write(putNew('free'), putNew('taken'), exists('missing'), exists('there')),
    );
    expect(failure.name).toBe('TransactionCanceledException');
    expect(failure.message).toBe(
      'Transaction cancelled, please refer cancellation reasons for specific reasons ' +
        '[None, ConditionalCheckFailed, ConditionalCheckFailed, None]',
    );
    const Message = 'The conditional request failed';
    expect(failure.CancellationReasons).toEqual([
      { Code: 'None' },
      { Code: 'ConditionalCheckFailed', Message, Item: stored('taken', 3) },
      { Code: 'ConditionalCheckFailed', Message },
      { Code: 'None' },
    ]);
  });

  test('changes nothing', async () => {
    await seed('taken', { n: 3 });
    const before = await items();
    await failureOf(
      write(
        put('new', { owner: 'x', rank: 1 }),
        {
          Update: {
            TableName,
            Key: key('other'),
            UpdateExpression: 'SET a = :a',
            ExpressionAttributeValues: { ':a': 1 },
          },
        },
        { Delete: { TableName, Key: key('taken') } },
        exists('missing'),
      ),
    );
    expect(await items()).toEqual(before);
    expect((await endpoint.document.scan({ TableName, IndexName: 'owner-rank' })).Count).toBe(0);
  });

  test('returns the old item of an update, a delete and a check that ask for it', async () => {
    await seed('a', { n: 1 });
    await seed('b', { n: 2 });
    await seed('c', { n: 3 });
    const never = {
      ConditionExpression: 'n > :max',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
    const failure = await failureOf(
      write(
        {
          Update: {
            TableName,
            Key: key('a'),
            UpdateExpression: 'SET n = :max',
            ExpressionAttributeValues: { ':max': 9 },
            ...never,
          },
        },
        { Delete: { TableName, Key: key('b'), ExpressionAttributeValues: { ':max': 9 }, ...never } },
        { ConditionCheck: { TableName, Key: key('c'), ExpressionAttributeValues: { ':max': 9 }, ...never } },
      ),
    );
    expect(failure.CancellationReasons?.map(({ Item }) => Item)).toEqual([
      stored('a', 1),
      stored('b', 2),
      stored('c', 3),
    ]);
  });

  test('names what an update could not do with the item as it is', async () => {
    await seed('a', { label: 'x' });
    const failure = await failureOf(
      write(put('b'), {
        Update: {
          TableName,
          Key: key('a'),
          UpdateExpression: 'SET label = label + :one',
          ExpressionAttributeValues: { ':one': 1 },
        },
      }),
    );
    expect(failure.CancellationReasons).toEqual([
      { Code: 'None' },
      { Code: 'ValidationError', Message: 'An operand in the update expression has an incorrect data type' },
    ]);
    expect(await item('b')).toBeUndefined();
  });

  test.each([
    [
      'a put',
      () => ({ Put: { TableName, Item: { pk: 1, sk: 'a' } } }),
      /Type mismatch for key pk expected: S actual: N/,
    ],
    [
      'a delete',
      () => ({ Delete: { TableName, Key: { pk: 'p' } } }),
      /key element does not match the schema/,
    ],
    ['an index key', () => put('a', { owner: 5 }), /Type mismatch for Index Key owner Expected: S Actual: N/],
  ])('names a key that does not fit the table: %s', async (_what, part, message) => {
    const failure = await failureOf(write(put('fine'), part()));
    expect(failure.CancellationReasons).toEqual([
      { Code: 'None' },
      { Code: 'ValidationError', Message: expect.stringMatching(message) },
    ]);
    expect(await items()).toEqual([]);
  });
});
