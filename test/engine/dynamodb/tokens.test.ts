import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { failureOf, openEndpoint } from './support/endpoint.ts';
import type { Endpoint } from './support/endpoint.ts';

let endpoint: Endpoint;
let TableName: string;
let token: string;
beforeAll(async () => {
  endpoint = await openEndpoint();
});
beforeEach(async () => {
  TableName = await endpoint.createTable();
  token = randomUUID();
});
afterAll(() => endpoint.close());

const Key = { pk: 'counter', sk: 'counter' };
const add = (n: number, ClientRequestToken: string, more: object = {}) =>
  endpoint.document.transactWrite({
    ClientRequestToken,
    TransactItems: [
      {
        Update: {
          TableName,
          Key,
          UpdateExpression: 'ADD n :n',
          ExpressionAttributeValues: { ':n': n },
          ...more,
        },
      },
    ],
  });
const count = async () => (await endpoint.document.get({ TableName, Key, ConsistentRead: true })).Item?.['n'];

// How long a token is remembered needs a clock and a restart: idempotency.test.ts has them.
describe('a transaction with a token', () => {
  test('that is sent again succeeds and has no further effect', async () => {
    await add(1, token);
    await add(1, token);
    expect(await count()).toBe(1);
  });

  test('that is sent again succeeds even if its condition no longer holds', async () => {
    const first = { ConditionExpression: 'attribute_not_exists(pk)' };
    await add(1, token, first);
    await add(1, token, first);
    expect((await failureOf(add(1, randomUUID(), first))).name).toBe('TransactionCanceledException');
    expect(await count()).toBe(1);
  });

  test('that is sent with other parameters is refused', async () => {
    await add(1, token);
    const failure = await failureOf(add(2, token));
    expect(failure.name).toBe('IdempotentParameterMismatchException');
    expect(await count()).toBe(1);
  });

  test('that was cancelled may be tried again', async () => {
    const existing = { ConditionExpression: 'attribute_exists(pk)' };
    await failureOf(add(1, token, existing));
    await add(10, randomUUID());
    await add(1, token, existing);
    expect(await count()).toBe(11);
  });

  test('of 37 characters is refused', async () => {
    const failure = await failureOf(add(1, 'x'.repeat(37)));
    expect(failure.name).toBe('ValidationException');
    expect(failure.message).toMatch(
      /'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36/,
    );
  });
});
