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
const exists = (sk: string) => ({
  ConditionCheck: { TableName, Key: key(sk), ConditionExpression: 'attribute_exists(pk)' },
});
const write = (...TransactItems: object[]) => endpoint.document.transactWrite({ TransactItems });
const items = async () => (await endpoint.document.scan({ TableName, ConsistentRead: true })).Items ?? [];

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
      () => [put('a'), { Delete: { TableName, Key: key('a') } }],
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
      () => [{ ConditionCheck: { TableName, Key: key('a'), ConditionExpression: 'n >' } }],
      /^Invalid ConditionExpression: Syntax error/,
    ],
    [
      'an update that does not parse',
      () => [{ Update: { TableName, Key: key('a'), UpdateExpression: 'SOT a = b' } }],
      /^Invalid UpdateExpression: Syntax error/,
    ],
    [
      'an unused value',
      () => [
        {
          ConditionCheck: {
            TableName,
            Key: key('a'),
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeValues: { ':v': 1 },
          },
        },
      ],
      /unused in expressions: keys: {:v}/,
    ],
    [
      'a check without a condition',
      () => [{ ConditionCheck: { TableName, Key: key('a') } }],
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
