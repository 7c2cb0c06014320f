import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { failureOf, useTable } from './support.ts';

const table = useTable();
const { at, exists, items, key, put, remove, seed, write } = table;

const putNew = (sk: string) => ({
  Put: {
    ...put(sk).Put,
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  },
});
/** As the API writes it: the SDK does not convert the items in errors. */
const stored = (sk: string, n: number) => ({ pk: { S: 'p' }, sk: { S: sk }, n: { N: String(n) } });

// That a transaction does all or nothing, in the indexes too, is compared with a model: concurrency.test.ts.
test('a transaction may span tables', async () => {
  const other = await table.endpoint().createTable();
  await write(put('here'), { Put: { TableName: other, Item: key('there') } });
  expect(await items()).toEqual([key('here')]);
  const { Items } = await table.endpoint().document.scan({ TableName: other });
  expect(Items).toEqual([key('there')]);
});

test('a transaction may have 100 parts', async () => {
  await write(...Array.from({ length: 100 }, (_, i) => put(`item-${i}`)));
  expect(await items()).toHaveLength(100);
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

  test('returns the old item of an update, a delete and a check that ask for it', async () => {
    await seed('a', { n: 1 });
    await seed('b', { n: 2 });
    await seed('c', { n: 3 });
    const never = {
      ConditionExpression: 'n > :max',
      ExpressionAttributeValues: { ':max': 9 },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
    const failure = await failureOf(
      write(
        { Update: { ...table.at('a'), UpdateExpression: 'SET n = :max', ...never } },
        { Delete: { ...table.at('b'), ...never } },
        { ConditionCheck: { ...table.at('c'), ...never } },
      ),
    );
    expect(failure.CancellationReasons?.map(({ Item }) => Item)).toEqual([
      stored('a', 1),
      stored('b', 2),
      stored('c', 3),
    ]);
  });

  test.each([
    [
      'a put',
      () => ({ Put: { TableName: table.name(), Item: { pk: 1, sk: 'a' } } }),
      /Type mismatch for key pk expected: S actual: N/,
    ],
    [
      'a delete',
      () => ({ Delete: { TableName: table.name(), Key: { pk: 'p' } } }),
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

describe('a transaction that is refused', () => {
  test.each([
    [
      'no parts',
      () => [],
      /'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1/,
    ],
    [
      '101 parts',
      () => Array.from({ length: 101 }, (_, i) => put(`i${i}`)),
      /Member must have length less than or equal to 100$/,
    ],
    [
      'two operations on one item',
      () => [put('a'), remove('a')],
      /^Transaction request cannot include multiple operations on one item$/,
    ],
    [
      'a part with two operations',
      () => [{ ...put('a'), ...exists('b') }],
      /^TransactItems can only contain one of Check, Put, Update or Delete$/,
    ],
    ['a part with none', () => [{}], /^Invalid Request: TransactWriteRequest should contain/],
    [
      'a condition that does not parse',
      () => [{ ConditionCheck: { ...at('a'), ConditionExpression: 'n >' } }],
      /^Invalid ConditionExpression: Syntax error/,
    ],
    [
      'a check without a condition',
      () => [{ ConditionCheck: at('a') }],
      /'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null/,
    ],
    [
      'an empty key',
      () => [put('')],
      /not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk/,
    ],
    [
      'an empty index key',
      () => [put('a', { owner: '' })],
      /A value specified for a secondary index key is not supported.*IndexName: owner-(rank|only), IndexKey: owner/,
    ],
    [
      'more than 4 MB',
      () => Array.from({ length: 12 }, (_, i) => put(`i${i}`, { label: 'x'.repeat(390_000) })),
      /4 ?MB/,
    ],
  ])('for %s, and changes nothing', async (_what, parts, message) => {
    await write(put('zzz'));
    const failure = await failureOf(write(...parts()));
    expect(failure.name).toBe('ValidationException');
    expect(failure.message).toMatch(message);
    expect(await items()).toEqual([key('zzz')]);
  });

  test('for a table that does not exist', async () => {
    const failure = await failureOf(write(put('a'), { Put: { TableName: 'no-such-table', Item: key('a') } }));
    expect(failure.name).toBe('ResourceNotFoundException');
    expect(failure.message).toBe('Requested resource not found');
    expect(await items()).toEqual([]);
  });
});

describe('a transaction with a token', () => {
  // How long a token is remembered needs a clock and a restart: engine.test.ts has them.
  let token: string;
  beforeEach(() => void (token = randomUUID()));
  const add = (n: number, ClientRequestToken: string, more: object = {}) => {
    const values = { UpdateExpression: 'ADD n :n', ExpressionAttributeValues: { ':n': n } };
    const TransactItems = [{ Update: { ...at('counter'), ...values, ...more } }];
    return table.endpoint().document.transactWrite({ ClientRequestToken, TransactItems });
  };
  const count = async () => (await table.item('counter'))?.n;

  test('that is sent again, even many times at once, succeeds and has no further effect', async () => {
    const first = { ConditionExpression: 'attribute_not_exists(pk)' };
    await add(1, token, first);
    await Promise.all(Array.from({ length: 20 }, () => add(1, token, first)));
    expect((await failureOf(add(1, randomUUID(), first))).name).toBe('TransactionCanceledException');
    expect(await count()).toBe(1);
  });

  test('that was cancelled may be tried again', async () => {
    const existing = { ConditionExpression: 'attribute_exists(pk)' };
    await failureOf(add(1, token, existing));
    await add(10, randomUUID());
    await add(1, token, existing);
    expect(await count()).toBe(11);
  });
});
