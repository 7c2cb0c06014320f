import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { failureOf, openEndpoint } from './support/endpoint.ts';
import type { Endpoint } from './support/endpoint.ts';

let endpoint: Endpoint;
let TableName: string;
let taken = 0;
beforeAll(async () => {
  endpoint = await openEndpoint();
  TableName = await endpoint.createTable();
});
beforeEach(() => {
  taken += 1;
});
afterAll(() => endpoint.close());

const Key = () => ({ pk: 'p', sk: `item-${taken}` });
const seed = (attributes: object) => endpoint.document.put({ TableName, Item: { ...Key(), ...attributes } });
const attributes = async () => {
  const { Item } = await endpoint.document.get({ TableName, Key: Key(), ConsistentRead: true });
  const { pk: _pk, sk: _sk, ...others } = Item ?? {};
  return others;
};

describe('a single write whose condition fails', () => {
  const failing = {
    ConditionExpression: 'n > :n',
    ExpressionAttributeValues: { ':n': 9 },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  const writes = {
    put: () => endpoint.document.put({ TableName, Item: Key(), ...failing }),
    update: () =>
      endpoint.document.update({ TableName, Key: Key(), UpdateExpression: 'SET n = :n', ...failing }),
    delete: () => endpoint.document.delete({ TableName, Key: Key(), ...failing }),
  };

  test.each(['put', 'update', 'delete'] as const)('returns the item that it met: %s', async (kind) => {
    await seed({ n: 1 });
    const failure = await failureOf(writes[kind]());
    expect(failure.name).toBe('ConditionalCheckFailedException');
    expect(failure.message).toBe('The conditional request failed');
    expect(failure.Item).toEqual({ pk: { S: 'p' }, sk: { S: Key().sk }, n: { N: '1' } });
    expect(await attributes()).toEqual({ n: 1 });
  });

  test('returns no item where there is none, or none was asked for', async () => {
    expect((await failureOf(writes.update())).Item).toBeUndefined();
    await seed({ n: 1 });
    const { ReturnValuesOnConditionCheckFailure: _, ...silent } = failing;
    expect(
      (await failureOf(endpoint.document.put({ TableName, Item: Key(), ...silent }))).Item,
    ).toBeUndefined();
  });
});

describe('a condition', () => {
  const text = 'hello';
  test.each([
    [
      'maps are equal whatever the order of their members',
      { m: { a: 1, b: [2] } },
      'm = :v',
      { b: [2], a: 1 },
      true,
    ],
    ['maps that differ are not equal', { m: { a: 1 } }, 'm = :v', { a: 2 }, false],
    ['lists are equal in order only', { m: [1, 2] }, 'm = :v', [2, 1], false],
    ['equal lists do not differ', { m: [1, 2] }, 'm <> :v', [1, 2], false],
    ['sets are equal in any order', { m: new Set(['a', 'b']) }, 'm = :v', new Set(['b', 'a']), true],
    ['an absent attribute differs from anything', {}, 'm <> :v', 1, true],
    ['an absent attribute is not less', {}, 'm < :v', 1, false],
    ['numbers compare as numbers', { m: 10 }, 'm > :v', 9, true],
    ['IN finds documents too', { m: { a: 1 } }, 'm IN (:v, m)', { a: 1 }, true],
    ['contains finds any member of a list', { m: [1, true] }, 'contains(m, :v)', true, true],
    ['contains finds a part of a string', { m: text }, 'contains(m, :v)', 'ell', true],
    ['begins_with', { m: text }, 'begins_with(m, :v)', 'he', true],
    ['size of an empty string', { m: '' }, 'size(m) = :v', 0, true],
    ['size of a list', { m: [1, 2] }, 'size(m) = :v', 2, true],
    ['BETWEEN includes its bounds', { m: 5 }, 'm BETWEEN :v AND :v', 5, true],
    ['NOT, AND, OR nest', { m: 5 }, 'NOT (m = :v) OR (m < :v AND attribute_exists(m))', 5, false],
    [
      'a missing attribute named like a member of every object',
      {},
      'attribute_not_exists(valueOf) AND :v = :v',
      1,
      true,
    ],
  ])('%s', async (_what, item, condition, value, holds) => {
    await seed({ ...item, marker: 1 });
    const operands = condition.replace(':v = :v', 'marker = :v');
    const check = endpoint.document.update({
      TableName,
      Key: Key(),
      UpdateExpression: 'SET marker = :done',
      ConditionExpression: operands,
      ExpressionAttributeValues: { ':v': value, ':done': 2 },
    });
    const outcome = await check.then(
      () => true,
      (error: Error) => (error.name === 'ConditionalCheckFailedException' ? false : error),
    );
    expect(outcome).toBe(holds);
  });
});

describe('an update', () => {
  test.each([
    [
      'removes several members of a list by their old places',
      { l: [1, 2, 3, 4] },
      'REMOVE l[0], l[1]',
      {},
      { l: [3, 4] },
    ],
    [
      'sets and removes by old places',
      { l: [1, 2, 3] },
      'REMOVE l[0] SET l[1] = :v',
      { ':v': 9 },
      { l: [9, 3] },
    ],
    [
      'removes below a list and the list member',
      { l: [1, { a: 1, b: 2 }] },
      'REMOVE l[0], l[1].a',
      {},
      { l: [{ b: 2 }] },
    ],
    [
      'copies an attribute as it was',
      { n: 1 },
      'SET previous = n ADD n :v',
      { ':v': 1 },
      { n: 2, previous: 1 },
    ],
    [
      'copies a map as it was',
      { m: { a: 1 } },
      'SET c = m, m.a = :v',
      { ':v': 5 },
      { m: { a: 5 }, c: { a: 1 } },
    ],
    ['swaps two attributes', { a: 1, b: 2 }, 'SET a = b, b = a', undefined, { a: 2, b: 1 }],
    [
      'adds to what may not be there',
      {},
      'SET n = if_not_exists(n, :z) + :v',
      { ':z': 0, ':v': 2 },
      { n: 2 },
    ],
    [
      'keeps what if_not_exists finds',
      { n: 7 },
      'SET n = if_not_exists(n, :v), k = :v',
      { ':v': 2 },
      { n: 7, k: 2 },
    ],
    ['ADD is exact', { n: 0.1 }, 'ADD n :v', { ':v': 0.2 }, { n: 0.3 }],
    ['ADD starts at zero', {}, 'ADD n :v', { ':v': 3 }, { n: 3 }],
    [
      'ADD and DELETE change sets',
      { s: new Set(['a', 'b']) },
      'ADD s :v',
      { ':v': new Set(['c']) },
      { s: new Set(['a', 'b', 'c']) },
    ],
    ['a set without members is gone', { s: new Set(['a']) }, 'DELETE s :v', { ':v': new Set(['a']) }, {}],
    [
      'appends to a list that may not be there',
      {},
      'SET l = list_append(if_not_exists(l, :z), :v)',
      { ':z': [], ':v': [1] },
      { l: [1] },
    ],
    ['writes below a map', { m: { a: {} } }, 'SET m.a.b = :v', { ':v': null }, { m: { a: { b: null } } }],
  ])('%s', async (_what, item, UpdateExpression, values, expected) => {
    await seed(item);
    const given = values && Object.keys(values).length > 0 ? values : undefined;
    await endpoint.document.update({
      TableName,
      Key: Key(),
      UpdateExpression,
      ExpressionAttributeValues: given,
    });
    expect(await attributes()).toEqual(expected);
  });

  test('below what is not there is refused', async () => {
    await seed({});
    const failure = await failureOf(
      endpoint.document.update({
        TableName,
        Key: Key(),
        UpdateExpression: 'SET m.a = :v',
        ExpressionAttributeValues: { ':v': 1 },
      }),
    );
    expect(failure.message).toMatch(/document path provided in the update expression is invalid/);
  });

  test('returns what it was asked to return', async () => {
    await seed({ n: 1, other: 1 });
    const update = async (ReturnValues: 'ALL_OLD' | 'UPDATED_OLD' | 'UPDATED_NEW') => {
      const answer = await endpoint.document.update({
        TableName,
        Key: Key(),
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': 1 },
        ReturnValues,
      });
      return answer.Attributes;
    };
    expect(await update('ALL_OLD')).toEqual({ ...Key(), n: 1, other: 1 });
    expect(await update('UPDATED_OLD')).toEqual({ n: 2 });
    expect(await update('UPDATED_NEW')).toEqual({ n: 4 });
  });

  test('that makes an index key empty is refused', async () => {
    await seed({ owner: 'x' });
    const failure = await failureOf(
      endpoint.document.update({
        TableName,
        Key: Key(),
        UpdateExpression: 'SET #o = :empty',
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: { ':empty': '' },
      }),
    );
    expect(failure.name).toBe('ValidationException');
    expect(failure.message).toMatch(
      /attempted to update a secondary index key to a value that is not supported/,
    );
    expect(await attributes()).toEqual({ owner: 'x' });
  });
});
