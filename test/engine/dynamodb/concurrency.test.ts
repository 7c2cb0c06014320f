import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { failureOf, openEndpoint, throughConflicts } from './support/endpoint.ts';
import type { Endpoint, Failure } from './support/endpoint.ts';

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
const increment = (sk: string) => ({
  TableName,
  Key: key(sk),
  UpdateExpression: 'SET n = if_not_exists(n, :zero) + :one',
  ExpressionAttributeValues: { ':zero': 0, ':one': 1 },
});
const numberAt = async (sk: string) =>
  (await endpoint.document.get({ TableName, Key: key(sk), ConsistentRead: true })).Item?.['n'];
const times = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => throughConflicts(() => work(i))));

test('no increment is lost when 200 come at once, alone and in transactions', async () => {
  await times(200, async (i) => {
    if (i % 2) await endpoint.document.update(increment('counter'));
    else {
      const TransactItems = [
        { Update: increment('counter') },
        { Put: { TableName, Item: key(`entry-${i}`) } },
      ];
      await endpoint.document.transactWrite({ TransactItems });
    }
  });
  expect(await numberAt('counter')).toBe(200);
  expect((await endpoint.document.scan({ TableName })).Count).toBe(101);
});

test('no more is taken than there is, however many try at once', async () => {
  await endpoint.document.put({ TableName, Item: { ...key('stock'), n: 30 } });
  const outcomes = await times(100, async (i) => {
    const take = endpoint.document.transactWrite({
      TransactItems: [
        {
          Update: {
            TableName,
            Key: key('stock'),
            UpdateExpression: 'SET n = n - :one',
            ConditionExpression: 'n >= :one',
            ExpressionAttributeValues: { ':one': 1 },
          },
        },
        { Put: { TableName, Item: key(`taken-${i}`), ConditionExpression: 'attribute_not_exists(pk)' } },
      ],
    });
    return take.then(
      () => 'taken',
      (error: Error) =>
        error.message.includes('[ConditionalCheckFailed, None]') ? 'refused' : Promise.reject(error),
    );
  });
  expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(30);
  expect(await numberAt('stock')).toBe(0);
  expect((await endpoint.document.scan({ TableName })).Count).toBe(31);
});

test('of many who put an item if it is absent, exactly one succeeds', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) =>
      endpoint.document.put({
        TableName,
        Item: { ...key('once'), n: i },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    ),
  );
  const winners = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
  expect(winners).toHaveLength(1);
  expect(await numberAt('once')).toBe(winners[0]);
});

test('a reading transaction never sees half of a writing one', async () => {
  const parts = Array.from({ length: 100 }, (_, i) => `part-${i}`);
  const Put = (sk: string, n: number) => ({
    Put: { TableName, Item: { ...key(sk), n } },
  });
  await endpoint.document.transactWrite({ TransactItems: parts.map((sk) => Put(sk, 0)) });
  const writing = { isDone: false };
  const writers = times(2, async (writer) => {
    for (let i = 1; i <= 20; i += 1) {
      const TransactItems = parts.map((sk) => Put(sk, writer * 1000 + i));
      await throughConflicts(() => endpoint.document.transactWrite({ TransactItems }));
    }
  }).finally(() => {
    writing.isDone = true;
  });
  const seen = new Set<number>();
  const readers = times(4, async () => {
    while (!writing.isDone) {
      const TransactItems = parts.map((sk) => ({ Get: { TableName, Key: key(sk) } }));
      const { Responses } = await throughConflicts(() => endpoint.document.transactGet({ TransactItems }));
      const numbers = new Set(Responses?.map(({ Item }) => Item?.['n'] as number));
      expect(numbers.size).toBe(1);
      numbers.forEach((n) => seen.add(n));
    }
  });
  await Promise.all([writers, readers]);
  expect(seen.size).toBeGreaterThan(3);
});

test('a cancelled transaction is never seen, not even in an index', async () => {
  const attempts = times(40, (i) =>
    failureOf(
      endpoint.document.transactWrite({
        TransactItems: [
          { Put: { TableName, Item: { ...key(`ghost-${i}`), owner: 'ghost', rank: i } } },
          { ConditionCheck: { TableName, Key: key('none'), ConditionExpression: 'attribute_exists(pk)' } },
        ],
      }),
    ),
  );
  for (let i = 0; i < 20; i += 1) {
    expect((await endpoint.document.scan({ TableName, IndexName: 'owner-rank' })).Count).toBe(0);
  }
  await attempts;
  expect((await endpoint.document.scan({ TableName })).Count).toBe(0);
});

test('a transaction that meets another on its item is done or told of the conflict, never done by half', async () => {
  const attempts = Array.from({ length: 100 }, (_, i) =>
    endpoint.document.transactWrite({
      TransactItems: [{ Update: increment('counter') }, { Put: { TableName, Item: key(`entry-${i}`) } }],
    }),
  );
  const outcomes = await Promise.allSettled(attempts);
  const done = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [`entry-${i}`] : []));
  const conflicts = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as Failure] : []));
  for (const { name, CancellationReasons } of conflicts) {
    expect(name).toBe('TransactionCanceledException');
    expect(CancellationReasons?.map(({ Code }) => Code)).toEqual(['TransactionConflict', 'None']);
  }
  // The embedded engine lets all of them wait for one another; where some are refused, one at least is done.
  expect(done.length).toBeGreaterThan(0);
  if (endpoint.isEmbedded) expect(conflicts).toEqual([]);
  expect(await numberAt('counter')).toBe(done.length);
  const { Items } = await endpoint.document.scan({ TableName, ConsistentRead: true });
  expect(Items?.map(({ sk }) => sk as string).toSorted()).toEqual(['counter', ...done].toSorted());
});
