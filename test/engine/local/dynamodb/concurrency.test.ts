import { expect, test } from '@jest/globals';
import { agreesWithModel } from './properties.ts';
import { failureOf, throughConflicts, useTable } from './support.ts';

const table = useTable();

const increment = (sk: string) => ({
  ...table.at(sk),
  UpdateExpression: 'SET n = if_not_exists(n, :zero) + :one',
  ExpressionAttributeValues: { ':zero': 0, ':one': 1 },
});
const takeOne = () => ({
  ...table.at('stock'),
  UpdateExpression: 'SET n = n - :one',
  ConditionExpression: 'n >= :one',
  ExpressionAttributeValues: { ':one': 1 },
});

/** Many at once. The embedded engine lets transactions wait for one another; DynamoDB may tell them of a conflict. */
const times = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      table.endpoint().isEmbedded ? work(i) : throughConflicts(() => work(i)),
    ),
  );

test('no increment is lost when 200 come at once, alone and in transactions', async () => {
  await times<unknown>(200, (i) =>
    i % 2
      ? table.endpoint().document.update(increment('counter'))
      : table.write({ Update: increment('counter') }, table.put(`entry-${i}`)),
  );
  expect((await table.item('counter'))?.n).toBe(200);
  expect(await table.items()).toHaveLength(101);
});

test('no more is taken than there is, however many try at once', async () => {
  await table.seed('stock', { n: 30 });
  const outcomes = await times(100, (i) =>
    table.write({ Update: takeOne() }, table.put(`taken-${i}`)).then(
      () => 'taken',
      (error: Error) =>
        error.message.includes('[ConditionalCheckFailed, None]') ? 'refused' : Promise.reject(error),
    ),
  );
  expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(30);
  expect((await table.item('stock'))?.n).toBe(0);
  expect(await table.items()).toHaveLength(31);
});

test('a cancelled transaction is never seen, not even in an index', async () => {
  const attempts = times(40, (i) =>
    failureOf(table.write(table.put(`ghost-${i}`, { owner: 'ghost', rank: i }), table.exists('none'))),
  );
  for (let i = 0; i < 20; i += 1) expect(await table.items('owner-rank')).toEqual([]);
  await attempts;
  expect(await table.items()).toEqual([]);
});

test('any sequence of writes and transactions does what a simple model does', async () => {
  await agreesWithModel(table.endpoint(), 20);
});
