import { describe, expect, test } from '@jest/globals';
import { failureOf, useTable } from './support.ts';

const { at, endpoint, item, key, name, seed } = useTable();

const attributes = async () => {
  const { pk: _pk, sk: _sk, ...others } = (await item('a')) ?? {};
  return others;
};

describe('a single write whose condition fails', () => {
  const failing = {
    ConditionExpression: 'n > :n',
    ExpressionAttributeValues: { ':n': 9 },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  const writes = {
    put: () => endpoint().document.put({ TableName: name(), Item: key('a'), ...failing }),
    update: () => endpoint().document.update({ ...at('a'), UpdateExpression: 'SET n = :n', ...failing }),
    delete: () => endpoint().document.delete({ ...at('a'), ...failing }),
  };

  test.each(['put', 'update', 'delete'] as const)('returns the item that it met: %s', async (kind) => {
    await seed('a', { n: 1 });
    const failure = await failureOf(writes[kind]());
    expect(failure.name).toBe('ConditionalCheckFailedException');
    expect(failure.message).toBe('The conditional request failed');
    expect(failure.Item).toEqual({ pk: { S: 'p' }, sk: { S: 'a' }, n: { N: '1' } });
    expect(await attributes()).toEqual({ n: 1 });
  });

  test('returns no item where there is none, or none was asked for', async () => {
    expect((await failureOf(writes.update())).Item).toBeUndefined();
    await seed('a', { n: 1 });
    const { ReturnValuesOnConditionCheckFailure: _, ...silent } = failing;
    const failure = await failureOf(
      endpoint().document.put({ TableName: name(), Item: key('a'), ...silent }),
    );
    expect(failure.Item).toBeUndefined();
  });
});

describe('a condition', () => {
  test.each<[string, object, string, unknown, boolean]>([
    ['maps are equal in any order', { m: { a: 1, b: [2] } }, 'm = :v', { b: [2], a: 1 }, true],
    ['maps that differ are not equal', { m: { a: 1 } }, 'm = :v', { a: 2 }, false],
    ['lists are equal in order only', { m: [1, 2] }, 'm = :v', [2, 1], false],
    ['equal lists do not differ', { m: [1, 2] }, 'm <> :v', [1, 2], false],
    ['sets are equal in any order', { m: new Set(['a', 'b']) }, 'm = :v', new Set(['b', 'a']), true],
    ['an absent attribute differs from anything', {}, 'm <> :v', 1, true],
    ['an absent attribute is not less', {}, 'm < :v', 1, false],
    ['numbers compare as numbers', { m: 10 }, 'm > :v', 9, true],
    ['IN finds documents too', { m: { a: 1 } }, 'm IN (:v, m)', { a: 1 }, true],
    ['contains finds any member of a list', { m: [1, true] }, 'contains(m, :v)', true, true],
    ['size of an empty string', { m: '' }, 'size(m) = :v', 0, true],
    ['size of a list', { m: [1, 2] }, 'size(m) = :v', 2, true],
    ['NOT, AND, OR nest', { m: 5 }, 'NOT (m = :v) OR (m < :v AND attribute_exists(m))', 5, false],
    ['an attribute named as what every object has', {}, 'attribute_not_exists(valueOf) AND n = :v', 1, true],
  ])('%s', async (_what, before, ConditionExpression, value, holds) => {
    await seed('a', { ...before, n: 1 });
    const check = endpoint().document.update({
      ...at('a'),
      UpdateExpression: 'SET n = :done',
      ConditionExpression,
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
  const update = (UpdateExpression: string, ExpressionAttributeValues?: Record<string, unknown>) =>
    endpoint().document.update({ ...at('a'), UpdateExpression, ExpressionAttributeValues });

  test.each<[string, object, string, Record<string, unknown> | undefined, object]>([
    ['removes by old places', { l: [1, 2, 3, 4] }, 'REMOVE l[0], l[1]', undefined, { l: [3, 4] }],
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
      undefined,
      { l: [{ b: 2 }] },
    ],
    ['copies an attribute as it was', { n: 1 }, 'SET was = n ADD n :v', { ':v': 1 }, { n: 2, was: 1 }],
    [
      'copies a map as it was',
      { m: { a: 1 } },
      'SET c = m, m.a = :v',
      { ':v': 5 },
      { m: { a: 5 }, c: { a: 1 } },
    ],
    ['swaps two attributes', { a: 1, b: 2 }, 'SET a = b, b = a', undefined, { a: 2, b: 1 }],
    ['begins where nothing is', {}, 'SET n = if_not_exists(n, :v) + :v', { ':v': 2 }, { n: 4 }],
    [
      'keeps what if_not_exists finds',
      { n: 7 },
      'SET n = if_not_exists(n, :v), k = :v',
      { ':v': 2 },
      { n: 7, k: 2 },
    ],
    ['adds to a set that may not be there', {}, 'ADD s :v', { ':v': new Set(['a']) }, { s: new Set(['a']) }],
    ['writes below a map', { m: { a: {} } }, 'SET m.a.b = :v', { ':v': null }, { m: { a: { b: null } } }],
  ])('%s', async (_what, before, expression, values, expected) => {
    await seed('a', before);
    await update(expression, values);
    expect(await attributes()).toEqual(expected);
  });

  test('that makes an index key empty is refused', async () => {
    await seed('a', { owner: 'x' });
    const emptied = endpoint().document.update({
      ...at('a'),
      UpdateExpression: 'SET #o = :empty',
      ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':empty': '' },
    });
    const failure = await failureOf(emptied);
    expect(failure.name).toBe('ValidationException');
    const message = /attempted to update a secondary index key to a value that is not supported/;
    expect(failure.message).toMatch(message);
    expect(await attributes()).toEqual({ owner: 'x' });
  });
});

describe('a sum', () => {
  // JavaScript's numbers are too short for these tests: the API's own strings are used.
  const itemKey = { pk: { S: 'p' }, sk: { S: 'a' } };
  const put = (n: string) =>
    endpoint().client.putItem({ TableName: name(), Item: { ...itemKey, n: { N: n } } });
  const sum = (UpdateExpression: string, v: string) =>
    endpoint().client.updateItem({
      TableName: name(),
      Key: itemKey,
      UpdateExpression,
      ExpressionAttributeValues: { ':v': { N: v } },
    });
  const stored = async () =>
    (await endpoint().client.getItem({ TableName: name(), Key: itemKey, ConsistentRead: true })).Item?.['n']
      ?.N;
  const nines = '9'.repeat(38);

  test.each([
    ['is exact where binary fractions are not', '0.1', 'ADD n :v', '0.2', '0.3'],
    ['may have more digits if they are zeros', nines, 'ADD n :v', '1', `1${'0'.repeat(38)}`],
    ['may be the largest number', '9E+125', 'SET n = n + :v', '9E+124', `99${'0'.repeat(124)}`],
    ['of opposite numbers is zero', nines, 'SET n = n - :v', nines, '0'],
  ])('%s', async (_what, before, expression, v, after) => {
    await put(before);
    await sum(expression, v);
    expect(await stored()).toBe(after);
  });

  test.each([
    ['has more than 38 digits', nines, 'ADD n :v', '2'],
    ['has digits too far apart', '1E+37', 'SET n = n + :v', '0.1'],
    ['is too large', '9E+125', 'ADD n :v', '9E+125'],
    ['is too small', '1.1E-130', 'SET n = n - :v', '1E-130'],
  ])('that %s is refused, and nothing is changed', async (_what, before, expression, v) => {
    await put(before);
    const kept = await stored();
    const failure = await failureOf(sum(expression, v));
    expect(failure.name).toBe('ValidationException');
    // Of a sum with too many digits, AWS was seen to say that it overflows.
    expect(failure.message).toMatch(
      /Number (overflow|underflow)\. Attempting|more than 38 significant digits/,
    );
    expect(await stored()).toBe(kept);
  });
});
