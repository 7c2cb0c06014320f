import { expect } from '@jest/globals';
import * as fc from 'fast-check';
import type { Endpoint, Failure } from './support.ts';

/** One change of one item. `below` and `absent` are its condition, if it has one. */
type Change = { sk: string; n: number; owner?: string; below?: number; absent?: boolean } & {
  kind: 'Put' | 'Add' | 'Own' | 'Delete';
};
type Row = { n?: number; owner?: string };
type Model = Map<string, Row>;

const n = fc.integer({ min: -5, max: 20 });
const anyChange: fc.Arbitrary<Change> = fc.record(
  {
    kind: fc.constantFrom('Put', 'Add', 'Own', 'Delete'),
    sk: fc.constantFrom('a', 'b', 'c', 'd'),
    n,
    owner: fc.constantFrom('x', 'y'),
    below: n,
    absent: fc.boolean(),
  },
  { requiredKeys: ['kind', 'sk', 'n'] },
);
const transaction = fc.uniqueArray(anyChange, { minLength: 1, maxLength: 4, selector: ({ sk }) => sk });

function passes(model: Model, { sk, below, absent }: Change): boolean {
  const row = model.get(sk);
  if (absent) return row === undefined;
  return below === undefined || (row?.n !== undefined && row.n < below);
}

function apply(model: Model, { kind, sk, n: number, owner }: Change): void {
  const { owner: _, ...unowned } = model.get(sk) ?? {};
  const owned = owner === undefined ? {} : { owner };
  if (kind === 'Put') model.set(sk, { n: number, ...owned });
  if (kind === 'Add') model.set(sk, { ...model.get(sk), n: (model.get(sk)?.n ?? 0) + number });
  if (kind === 'Own') model.set(sk, { ...unowned, ...owned });
  if (kind === 'Delete') model.delete(sk);
}

/** The change as a part of a transaction. */
function partOf(TableName: string, pk: string, { kind, sk, n: number, owner, below, absent }: Change) {
  const values: Record<string, unknown> = {};
  const use = (name: string, value: unknown) => {
    values[name] = value;
    return name;
  };
  const condition = absent
    ? 'attribute_not_exists(pk)'
    : below !== undefined && `n < ${use(':below', below)}`;
  const own = () => `SET #o = ${use(':o', owner)}, #r = ${use(':r', 1)}`;
  const update = { Add: () => `ADD n ${use(':n', number)}`, Own: owner ? own : () => 'REMOVE #o, #r' };
  const change =
    kind === 'Put'
      ? { Item: { pk, sk, n: number, owner, rank: owner && 1 } }
      : { Key: { pk, sk }, ...(kind !== 'Delete' && { UpdateExpression: update[kind]() }) };
  const write = {
    TableName,
    ...change,
    ...(condition && { ConditionExpression: condition }),
    ...(kind === 'Own' && { ExpressionAttributeNames: { '#o': 'owner', '#r': 'rank' } }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
  return { [kind === 'Add' || kind === 'Own' ? 'Update' : kind]: write };
}

/** What the engine says of each change. @param isAlone whether the only one is sent as a single write. */
async function perform({ document }: Endpoint, parts: Record<string, any>[], isAlone: boolean) {
  const { Put, Update, Delete } = isAlone ? parts[0]! : {};
  try {
    if (Put) await document.put(Put);
    else if (Update) await document.update(Update);
    else if (Delete) await document.delete(Delete);
    else await document.transactWrite({ TransactItems: parts });
    return parts.map(() => 'None');
  } catch (error) {
    const { name, CancellationReasons } = error as Failure;
    if (name === 'ConditionalCheckFailedException') return ['ConditionalCheckFailed'];
    if (CancellationReasons) return CancellationReasons.map(({ Code }) => Code);
    throw error;
  }
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
      const parts = changes.map((one) => partOf(TableName, pk, one));
      expect(await perform(endpoint, parts, mayBeAlone && changes.length === 1)).toEqual(expected);
    }
    const read = async (of: object) => {
      const { Items } = await endpoint.document.scan({
        TableName,
        FilterExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ...of,
      });
      return new Map(Items!.map(({ pk: _pk, sk, rank: _rank, ...row }) => [sk as string, row]));
    };
    expect(await read({ ConsistentRead: true })).toEqual(model);
    expect(await read({ IndexName: 'owner-rank' })).toEqual(
      new Map([...model].filter(([, row]) => row.owner)),
    );
  });
  await fc.assert(property, { numRuns });
}
