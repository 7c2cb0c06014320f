import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { openEndpoint } from './support/endpoint.ts';
import type { Endpoint, Failure } from './support/endpoint.ts';

let endpoint: Endpoint;
let TableName: string;
beforeAll(async () => {
  endpoint = await openEndpoint();
  TableName = await endpoint.createTable();
});
afterAll(() => endpoint.close());

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
  const { n: number, owner: _, ...others } = model.get(change.sk) ?? {};
  const current = model.get(change.sk) ?? {};
  if (change.kind === 'put')
    model.set(change.sk, { n: change.n, ...(change.owner && { owner: change.owner }) });
  if (change.kind === 'add') model.set(change.sk, { ...current, n: (number ?? 0) + change.n });
  if (change.kind === 'own') {
    const kept = { ...others, ...(number !== undefined && { n: number }) };
    model.set(change.sk, { ...kept, ...(change.owner && { owner: change.owner }) });
  }
  if (change.kind === 'delete') model.delete(change.sk);
}

/** The change as a part of a transaction. */
function part(pk: string, change: Change) {
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

/** Each change's outcome, as the engine tells it. */
async function perform(pk: string, changes: Change[], isAlone: boolean): Promise<string[]> {
  const parts = changes.map((one) => part(pk, one));
  const [first] = parts;
  try {
    if (isAlone && first && 'Put' in first) await endpoint.document.put(first.Put as never);
    else if (isAlone && first && 'Update' in first) await endpoint.document.update(first.Update as never);
    else if (isAlone && first && 'Delete' in first) await endpoint.document.delete(first.Delete as never);
    else await endpoint.document.transactWrite({ TransactItems: parts as never });
    return changes.map(() => 'None');
  } catch (error) {
    const { name, CancellationReasons } = error as Failure;
    if (name === 'ConditionalCheckFailedException') return ['ConditionalCheckFailed'];
    if (CancellationReasons) return CancellationReasons.map(({ Code }) => Code);
    throw error;
  }
}

async function stored(pk: string): Promise<Model> {
  const { Items } = await endpoint.document.query({
    TableName,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
    ConsistentRead: true,
  });
  return new Map((Items ?? []).map(({ pk: _pk, sk: name, rank: _rank, ...row }) => [name as string, row]));
}

async function owned(pk: string): Promise<string[]> {
  const { Items } = await endpoint.document.scan({
    TableName,
    IndexName: 'owner-rank',
    FilterExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
  });
  return (Items ?? []).map((item) => `${item['sk']} ${item['owner']} ${item['n']}`).toSorted();
}

test('any sequence of writes and transactions does what a simple model does', async () => {
  let runs = 0;
  const sequence = fc.array(fc.tuple(transaction, fc.boolean()), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sequence, async (steps) => {
      const pk = `run-${(runs += 1)}`;
      const model: Model = new Map();
      for (const [changes, mayBeAlone] of steps) {
        const expected = changes.map((one) => (passes(model, one) ? 'None' : 'ConditionalCheckFailed'));
        if (expected.every((outcome) => outcome === 'None')) changes.forEach((one) => apply(model, one));
        expect(await perform(pk, changes, mayBeAlone && changes.length === 1)).toEqual(expected);
      }
      expect(await stored(pk)).toEqual(model);
      const withOwner = [...model].filter(([, row]) => row.owner);
      expect(await owned(pk)).toEqual(
        withOwner.map(([name, row]) => `${name} ${row.owner} ${row.n}`).toSorted(),
      );
    }),
    { numRuns: 60 },
  );
});
