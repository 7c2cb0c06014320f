import { expect } from '@jest/globals';
import * as fc from 'fast-check';
import type { Endpoint, Failure } from './support.ts';

/** One change of one item; `below` and `absent` are its condition, if it has one. */
type Change =
  | { kind: 'put'; sk: string; n: number; owner: string | undefined; absent: boolean }
  | { kind: 'add'; sk: string; n: number; below: number | undefined }
  | { kind: 'own'; sk: string; owner: string | undefined }
  | { kind: 'delete'; sk: string; below: number | undefined }
  | { kind: 'check'; sk: string; below: number };
type Row = { n?: number; owner?: string };
type Model = Map<string, Row>;

const sk = fc.constantFrom('a', 'b', 'c', 'd');
const owner = fc.option(fc.constantFrom('x', 'y'), { nil: undefined });
const n = fc.integer({ min: -5, max: 20 });
const below = fc.option(n, { nil: undefined });
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), sk, n, owner, absent: fc.boolean() }),
  fc.record({ kind: fc.constant('add' as const), sk, n, below }),
  fc.record({ kind: fc.constant('own' as const), sk, owner }),
  fc.record({ kind: fc.constant('delete' as const), sk, below }),
  fc.record({ kind: fc.constant('check' as const), sk, below: n }),
);
const transaction = fc.uniqueArray(anyChange, {
  minLength: 1,
  maxLength: 4,
  selector: ({ sk: name }) => name,
});

function passes(model: Model, change: Change): boolean {
  const row = model.get(change.sk);
  if (change.kind === 'put') return !change.absent || row === undefined;
  if (change.kind === 'own' || change.below === undefined) return true;
  return row?.n !== undefined && row.n < change.below;
}

function apply(model: Model, change: Change): void {
  const row = model.get(change.sk) ?? {};
  const { owner: _, ...unowned } = row;
  const ownedBy = (name: string | undefined) => (name === undefined ? {} : { owner: name });
  if (change.kind === 'put') model.set(change.sk, { n: change.n, ...ownedBy(change.owner) });
  if (change.kind === 'add') model.set(change.sk, { ...row, n: (row.n ?? 0) + change.n });
  if (change.kind === 'own') model.set(change.sk, { ...unowned, ...ownedBy(change.owner) });
  if (change.kind === 'delete') model.delete(change.sk);
}

/** The change as a part of a transaction. */
function part(TableName: string, pk: string, change: Change) {
  const target = { TableName, Key: { pk, sk: change.sk } };
  const limit = 'below' in change && change.below !== undefined;
  const condition = limit ? { ConditionExpression: 'n < :below' } : {};
  const bound = limit ? { ':below': change.below } : {};
  switch (change.kind) {
    case 'put': {
      const Item = { pk, sk: change.sk, n: change.n, owner: change.owner, rank: change.owner && 1 };
      return {
        Put: { TableName, Item, ...(change.absent && { ConditionExpression: 'attribute_not_exists(pk)' }) },
      };
    }
    case 'add':
      return {
        Update: {
          ...target,
          ...condition,
          UpdateExpression: 'ADD n :n',
          ExpressionAttributeValues: { ':n': change.n, ...bound },
        },
      };
    case 'own':
      return {
        Update: {
          ...target,
          UpdateExpression: change.owner ? 'SET #o = :o, #r = :r' : 'REMOVE #o, #r',
          ExpressionAttributeNames: { '#o': 'owner', '#r': 'rank' },
          ...(change.owner && { ExpressionAttributeValues: { ':o': change.owner, ':r': 1 } }),
        },
      };
    case 'delete':
      return { Delete: { ...target, ...condition, ...(limit && { ExpressionAttributeValues: bound }) } };
    case 'check':
      return {
        ConditionCheck: { ...target, ConditionExpression: 'n < :below', ExpressionAttributeValues: bound },
      };
  }
}

/** What the engine says of each change. A change that is alone is sent as a single write, if it is one. */
async function perform(
  { document }: Endpoint,
  TableName: string,
  pk: string,
  changes: Change[],
  isAlone: boolean,
) {
  const parts: Record<string, any>[] = changes.map((one) => part(TableName, pk, one));
  const { Put, Update, Delete } = (isAlone && parts[0]) || {};
  try {
    if (Put) await document.put(Put);
    else if (Update) await document.update(Update);
    else if (Delete) await document.delete(Delete);
    else await document.transactWrite({ TransactItems: parts });
    return changes.map(() => 'None');
  } catch (error) {
    const { name, CancellationReasons } = error as Failure;
    if (name === 'ConditionalCheckFailedException') return ['ConditionalCheckFailed'];
    if (CancellationReasons) return CancellationReasons.map(({ Code }) => Code);
    throw error;
  }
}

async function stored({ document }: Endpoint, TableName: string, pk: string): Promise<Model> {
  const { Items } = await document.query({
    TableName,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
    ConsistentRead: true,
  });
  return new Map((Items ?? []).map(({ pk: _pk, sk: name, rank: _rank, ...row }) => [name as string, row]));
}

async function owned({ document }: Endpoint, TableName: string, pk: string): Promise<string[]> {
  const { Items } = await document.scan({
    TableName,
    IndexName: 'owner-rank',
    FilterExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
  });
  return (Items ?? []).map((item) => `${item['sk']} ${item['owner']} ${item['n']}`).toSorted();
}

/** Any sequence of writes and transactions does what a simple model does. */
export async function agreesWithModel(endpoint: Endpoint, numRuns: number): Promise<void> {
  const TableName = await endpoint.createTable();
  let runs = 0;
  const sequence = fc.array(fc.tuple(transaction, fc.boolean()), { maxLength: 12 });
  const property = fc.asyncProperty(sequence, async (steps) => {
    const pk = `run-${(runs += 1)}`;
    const model: Model = new Map();
    for (const [changes, mayBeAlone] of steps) {
      const expected = changes.map((one) => (passes(model, one) ? 'None' : 'ConditionalCheckFailed'));
      if (expected.every((outcome) => outcome === 'None')) changes.forEach((one) => apply(model, one));
      const isAlone = mayBeAlone && changes.length === 1;
      expect(await perform(endpoint, TableName, pk, changes, isAlone)).toEqual(expected);
    }
    expect(await stored(endpoint, TableName, pk)).toEqual(model);
    const withOwner = [...model].filter(([, row]) => row.owner);
    const expected = withOwner.map(([name, row]) => `${name} ${row.owner} ${row.n}`).toSorted();
    expect(await owned(endpoint, TableName, pk)).toEqual(expected);
  });
  await fc.assert(property, { numRuns });
}
