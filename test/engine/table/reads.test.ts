import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { newId } from '../../../shared/base/ids.ts';
import { identityStore } from '../../../shared/identities/store.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { rateLogStore } from '../../../shared/limits/rate-log-store.ts';
import { batchGet, getItem, queryAll, writeItem } from '../../../shared/table/table.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { transact, type Part } from '../../../shared/table/transact.ts';
import { busy, canceled, hungUp, writeConflict } from '../generations/table.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();

async function put(item: Record<string, unknown>): Promise<void> {
  await fixture.table.documents.send(new PutCommand({ TableName: fixture.table.name, Item: item }));
}

describe('items read at once', () => {
  const keys = ['a', 'b', 'c'].map((id) => itemKeys.identity(id));
  const names = async () => (await batchGet(fixture.table, keys)).map((item) => item?.name);

  beforeEach(async () => {
    for (const [i, key] of keys.entries()) if (i !== 1) await put({ ...key, name: `n${i}` });
  });

  test('come in the order of their keys, with a gap where there is none', async () => {
    const found = await batchGet(fixture.table, keys.toReversed());
    expect(found.map((item) => item?.name)).toEqual(['n2', undefined, 'n0']);
  });

  test('are known by both parts of their keys', async () => {
    const pairs = [
      { PK: 'XY', SK: '#1' },
      { PK: 'X', SK: 'Y#2' },
      { PK: 'X', SK: 'Y#1' },
    ];
    for (const pair of pairs) await put(pair);
    expect(await batchGet(fixture.table, pairs)).toEqual(pairs);
  });

  test('are read strongly, and nothing is read for no keys', async () => {
    const seen: any[] = [];
    fixture.state.before = (_command, input) => void seen.push(input.RequestItems[fixture.table.name]);
    await names();
    expect(await batchGet(fixture.table, [])).toEqual([]);
    expect(seen).toMatchObject([{ ConsistentRead: true }]);
  });

  /** The engine's answers, of which the first so many leave out the last item that was asked for. */
  function leaveOut(answers: number) {
    const asked: number[] = [];
    let left: unknown;
    fixture.state.before = (_command, input) => {
      const wanted = input.RequestItems[fixture.table.name];
      asked.push(wanted.Keys.length);
      left = asked.length <= answers ? wanted.Keys.at(-1) : undefined;
      // DynamoDB refuses a request without keys, so a key that does not exist is asked for.
      if (left !== undefined)
        wanted.Keys = [...wanted.Keys.slice(0, -1), marshall({ PK: 'nothing', SK: 'nothing' })];
      return undefined;
    };
    fixture.state.after = (_command, output) => {
      output.UnprocessedKeys = left === undefined ? {} : { [fixture.table.name]: { Keys: [left] } };
      return undefined;
    };
    return asked;
  }

  test('of which an answer says nothing are not there', async () => {
    fixture.state.after = (_command, output) => {
      output.Responses = undefined;
      output.UnprocessedKeys = undefined;
      return undefined;
    };
    expect(await names()).toEqual([undefined, undefined, undefined]);
  });

  test('of which the table leaves some out for now are asked for again, those alone', async () => {
    const asked = leaveOut(2);
    expect(await names()).toEqual(['n0', undefined, 'n2']);
    expect(asked).toEqual([3, 1, 1]);
  });

  test('that the table leaves out six times are SERVICE_UNAVAILABLE; the sixth answer still counts', async () => {
    leaveOut(5);
    expect(await names()).toEqual(['n0', undefined, 'n2']);
    const asked = leaveOut(100);
    await expect(names()).rejects.toMatchObject(busy);
    expect(asked).toHaveLength(6);
  });
});

test('a query is read to its last page, and a page may be empty', async () => {
  const PK = newId('identity');
  for (const n of [1, 2, 3, 4, 5]) await put({ PK, SK: String(n), n });
  const query = {
    KeyConditionExpression: 'PK = :pk',
    FilterExpression: 'n <> :three AND n <> :four',
    ExpressionAttributeValues: { ':pk': PK, ':three': 3, ':four': 4 },
    Limit: 2,
  };
  expect(await queryAll(fixture.table, query, ({ n }) => n * 10)).toEqual([10, 20, 50]);
});

describe('a transaction', () => {
  afterEach(() => void jest.restoreAllMocks());

  const condition = 'attribute_not_exists(PK)';
  const items = (PK: string): Part<object>[] => [
    { key: { PK, SK: '1' }, put: {}, condition, refusal: () => ({ first: true }) },
    { key: { PK, SK: '2' }, put: {}, condition, refusal: (found) => found ?? {} },
  ];

  test('that is refused says which condition failed, with the item as it is', async () => {
    const id = newId('identity');
    expect(await transact(fixture.table, items(id))).toBeNull();
    expect(await transact(fixture.table, items(id))).toEqual({ first: true });
    const other = newId('identity');
    await put({ PK: other, SK: '2', name: 'there' });
    expect(await transact(fixture.table, items(other))).toEqual({ PK: other, SK: '2', name: 'there' });
  });

  test.each([
    ['a conflict', ['None', 'TransactionConflict']],
    ['throttling', ['ThrottlingError', 'None']],
    ['a spent throughput', ['ProvisionedThroughputExceeded', undefined]],
  ])('is tried again after %s', async (_what, codes) => {
    let times = 0;
    fixture.state.before = () => (times++ < 2 ? canceled(...codes) : undefined);
    expect(await transact(fixture.table, items(newId('identity')))).toBeNull();
    expect(times).toBe(3);
  });

  test('that is canceled for another reason is not, nor one whose outcome is unknown', async () => {
    let times = 0;
    for (const error of [canceled('None', 'ValidationError'), hungUp()]) {
      fixture.state.before = () => {
        times += 1;
        return error;
      };
      await expect(transact(fixture.table, items(newId('identity')))).rejects.toBe(error);
    }
    expect(times).toBe(2);
  });

  test('that meets conflicts without an end is SERVICE_UNAVAILABLE, after a first time and 12 more', async () => {
    const last = canceled('TransactionConflict');
    jest.spyOn(Math, 'random').mockReturnValue(0);
    fixture.state.before = () => last;
    const sent = fixture.count();
    await expect(transact(fixture.table, items('x'))).rejects.toMatchObject({
      ...busy,
      cause: last,
      noFault: true,
    });
    expect(sent.times).toBe(13);
  });

  test('and so is a write of one item', async () => {
    const last = writeConflict();
    jest.spyOn(Math, 'random').mockReturnValue(0);
    let times = 0;
    const write = writeItem(() => {
      times += 1;
      return Promise.reject(last);
    });
    await expect(write).rejects.toMatchObject({ ...busy, cause: last, noFault: true });
    expect(times).toBe(13);
  });

  test('that conflicts beside a failed condition is answered by the condition', async () => {
    fixture.state.before = () => canceled('TransactionConflict', 'ConditionalCheckFailed');
    expect(await transact(fixture.table, items('x'))).toEqual({});
  });
});

describe('the parts of a transaction', () => {
  type Refused = { by: string };
  const counting = (PK: string, name: string, most: number): Part<Refused> => ({
    key: { PK, SK: '1' },
    update: { ADD: `#${name} :${name}` },
    condition: `(attribute_not_exists(#${name}) OR #${name} < :most_${name})`,
    names: { [`#${name}`]: name },
    values: { [`:${name}`]: 1, [`:most_${name}`]: most },
    refusal: (found) => ((found?.[name] ?? 0) < most ? null : { by: name }),
  });

  test('that update one item are one write, and those of other items stand beside it', async () => {
    const PK = newId('identity');
    const remembered = { key: { PK, SK: '1' }, update: { SET: 'seen = :yes' }, values: { ':yes': true } };
    const other = { key: { PK, SK: '2' }, put: { name: 'other' } };
    let sent: any;
    fixture.state.before = (_name, input) => void (sent = input);
    const parts = [counting(PK, 'a', 2), null, counting(PK, 'b', 1), remembered, other];
    expect(await transact(fixture.table, parts)).toBeNull();
    expect(sent.TransactItems).toHaveLength(2);
    expect(await getItem(fixture.table, { PK, SK: '1' })).toEqual({ PK, SK: '1', a: 1, b: 1, seen: true });
    expect(await getItem(fixture.table, { PK, SK: '2' })).toEqual({ PK, SK: '2', name: 'other' });
    const gone: Part = { key: { PK, SK: '2' }, isDeleted: true };
    const bare: Part = { key: { PK, SK: '1' }, update: { REMOVE: 'seen' } };
    expect(await transact(fixture.table, [gone, bare])).toBeNull();
    expect(await getItem(fixture.table, { PK, SK: '1' })).toEqual({ PK, SK: '1', a: 1, b: 1 });
    expect(await getItem(fixture.table, { PK, SK: '2' })).toBeNull();
  });

  test('are refused by the first in their list that says so, and then nothing is written', async () => {
    const [PK, other] = [newId('identity'), newId('identity')];
    await put({ PK, SK: '1', a: 1, b: 1 });
    const refusedBy = (...parts: Part<Refused>[]) => transact(fixture.table, parts);
    const [a, b] = [counting(PK, 'a', 1), counting(PK, 'b', 1)];
    expect(await refusedBy(counting(other, 'a', 1), a, b)).toEqual({ by: 'a' });
    expect(await refusedBy(b, a)).toEqual({ by: 'b' });
    expect(await refusedBy(counting(PK, 'a', 2), b)).toEqual({ by: 'b' });
    expect(await getItem(fixture.table, { PK: other, SK: '1' })).toBeNull();
    expect(await getItem(fixture.table, { PK, SK: '1' })).toEqual({ PK, SK: '1', a: 1, b: 1 });
  });

  test('that none of them explains a refusal is an error', async () => {
    const PK = newId('identity');
    await put({ PK, SK: '1', a: 1 });
    const silent = { ...counting(PK, 'a', 1), refusal: () => null };
    await expect(transact(fixture.table, [silent])).rejects.toThrow('no part of it says why');
  });
});

test('licenses, periods, rate logs and the catalog are read strongly: what was answered holds from then on', async () => {
  const seen: unknown[] = [];
  fixture.state.before = (_command, input) => void seen.push(input);
  await licenseStore(fixture.table).get(newId('license'));
  await periodStore(fixture.table).get(newId('license'), 0);
  await rateLogStore(fixture.table).get('key_1', 'generate');
  await identityStore(fixture.table).list();
  expect(seen).toMatchObject(seen.map(() => ({ ConsistentRead: true })));
  expect(seen).toHaveLength(4);
});

describe('a rate log', () => {
  test.each([0, 1, 3])(
    'that another wrote since version %i is answered instead of written over',
    async (version) => {
      const logs = rateLogStore(fixture.table);
      const caller = newId('identity');
      await logs.put(caller, 'fetch', [1], 0);
      await logs.put(caller, 'fetch', [1, 2], 1);
      expect(await logs.put(caller, 'fetch', [9], version)).toEqual({ log: [1, 2], version: 2 });
      expect(await logs.get(caller, 'fetch')).toEqual({ log: [1, 2], version: 2 });
    },
  );

  test('that cannot be written for another reason is that failure', async () => {
    fixture.state.before = () => hungUp();
    await expect(rateLogStore(fixture.table).put('key_c', 'fetch', [1], 0)).rejects.toThrow('socket hang up');
  });
});
