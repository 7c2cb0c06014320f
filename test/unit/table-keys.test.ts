import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isId, newRequestId } from '../../shared/domain/ids.ts';
import { onceIdOf } from '../../shared/store/once-store.ts';
import {
  itemKeys,
  leaseIndex,
  ownerIndex,
  sortPrefixes,
  tableSchema,
  type ItemKey,
} from '../../shared/store/table-keys.ts';
import { anyId, anyInstantMs, anyRequestId } from '../support/unit-samples.ts';

const anyOnceId = fc.string({ minLength: 1, maxLength: 255 }).map(onceIdOf);

/** Every kind of key with its inputs, as a text that is the same only for the same inputs. */
const anyKey: fc.Arbitrary<{ key: ItemKey; inputs: string }> = fc.oneof(
  anyId.map((id) => ({ key: itemKeys.apiKey(id), inputs: `apiKey ${id}` })),
  fc
    .tuple(anyId, anyId)
    .map(([id, name]) => ({ key: itemKeys.rateLog(id, name), inputs: `rateLog ${id} ${name}` })),
  fc
    .tuple(anyId, anyOnceId)
    .map(([id, once]) => ({ key: itemKeys.once(id, once), inputs: `once ${id} ${once}` })),
  anyId.map((id) => ({ key: itemKeys.license(id), inputs: `license ${id}` })),
  anyId.map((id) => ({ key: itemKeys.billing(id), inputs: `billing ${id}` })),
  fc
    .tuple(anyId, anyInstantMs)
    .map(([id, ms]) => ({ key: itemKeys.period(id, ms), inputs: `period ${id} ${ms}` })),
  fc.tuple(anyId, anyRequestId).map(([id, request]) => ({
    key: itemKeys.generation(id, request),
    inputs: `generation ${id} ${request}`,
  })),
  anyId.map((id) => ({ key: itemKeys.identity(id), inputs: `identity ${id}` })),
);

describe('item keys', () => {
  test('of different inputs are different, whatever their kinds', () => {
    fc.assert(
      fc.property(fc.array(anyKey, { minLength: 2, maxLength: 30 }), (samples) => {
        const keys = new Map<string, string>();
        for (const { key, inputs } of samples) {
          const text = JSON.stringify([key.PK, key.SK]);
          expect(keys.get(text) ?? inputs).toBe(inputs);
          keys.set(text, inputs);
        }
      }),
    );
  });

  test('of one id in different kinds, or of ids in exchanged places, are different', () => {
    fc.assert(
      fc.property(anyId, anyId, (a, b) => {
        const keys = [
          itemKeys.apiKey(a),
          itemKeys.rateLog(a, b),
          itemKeys.once(a, b),
          itemKeys.license(a),
          itemKeys.billing(a),
          itemKeys.generation(a, b),
          itemKeys.identity(a),
        ];
        expect(new Set(keys.map((key) => JSON.stringify(key))).size).toBe(keys.length);
        if (a !== b) expect(itemKeys.generation(a, b)).not.toEqual(itemKeys.generation(b, a));
      }),
    );
  });

  test('are short enough for DynamoDB: 2048 bytes for a partition, 1024 for a sort key', () => {
    fc.assert(
      fc.property(anyKey, ({ key }) => {
        expect(Buffer.byteLength(key.PK)).toBeLessThanOrEqual(2048);
        expect(Buffer.byteLength(key.SK)).toBeLessThanOrEqual(1024);
      }),
    );
  });

  test('of periods sort by their start', () => {
    fc.assert(
      fc.property(anyId, anyInstantMs, fc.integer({ min: 1, max: 10 ** 11 }), (id, startMs, laterMs) => {
        const [early, late] = [itemKeys.period(id, startMs), itemKeys.period(id, startMs + laterMs)];
        expect(early.PK).toBe(late.PK);
        expect(early.SK < late.SK).toBe(true);
      }),
    );
  });

  test('of generations sort by the time they were made', () => {
    fc.assert(
      fc.property(anyId, anyInstantMs, fc.integer({ min: 1, max: 10 ** 11 }), (id, nowMs, laterMs) => {
        const early = itemKeys.generation(id, newRequestId(nowMs));
        const late = itemKeys.generation(id, newRequestId(nowMs + laterMs));
        expect(early.PK).toBe(late.PK);
        expect(early.SK < late.SK).toBe(true);
      }),
    );
  });

  test('of a license’s own items share its partition, and only its generations begin with their prefix', () => {
    fc.assert(
      fc.property(anyId, anyRequestId, anyInstantMs, (id, requestId, startMs) => {
        const { PK } = itemKeys.license(id);
        expect(itemKeys.generation(id, requestId).PK).toBe(PK);
        expect(itemKeys.period(id, startMs).PK).toBe(PK);
        expect(itemKeys.billing(id).PK).toBe(PK);
        expect(itemKeys.generation(id, requestId).SK.startsWith(sortPrefixes.generation)).toBe(true);
        expect(itemKeys.period(id, startMs).SK.startsWith(sortPrefixes.generation)).toBe(false);
        expect(itemKeys.license(id).SK.startsWith(sortPrefixes.generation)).toBe(false);
        expect(itemKeys.billing(id).SK.startsWith(sortPrefixes.generation)).toBe(false);
      }),
    );
  });

  test('hold nothing that a caller wrote: an idempotency key enters by its hash', () => {
    const anyIdempotencyKey = fc.string({ minLength: 1, maxLength: 255 });
    fc.assert(
      fc.property(anyIdempotencyKey, anyIdempotencyKey, (a, b) => {
        expect(onceIdOf(a)).toMatch(/^[A-Za-z0-9_-]{43}$/);
        expect(onceIdOf(a) === onceIdOf(b)).toBe(a === b);
      }),
    );
  });
});

describe('the owner index', () => {
  const anyOwned = fc.tuple(fc.constantFrom(sortPrefixes.apiKey, sortPrefixes.license), anyInstantMs, anyId);

  test('sorts what one owner has of a kind by its creation', () => {
    fc.assert(
      fc.property(
        anyOwned,
        fc.integer({ min: 1, max: 10 ** 11 }),
        anyId,
        ([prefix, ms, id], laterMs, otherId) => {
          expect(ownerIndex.sortOf(prefix, ms, id) < ownerIndex.sortOf(prefix, ms + laterMs, otherId)).toBe(
            true,
          );
        },
      ),
    );
  });

  test('keeps apart what was made in the same millisecond', () => {
    fc.assert(
      fc.property(anyOwned, anyId, ([prefix, ms, id], otherId) => {
        expect(ownerIndex.sortOf(prefix, ms, id) === ownerIndex.sortOf(prefix, ms, otherId)).toBe(
          id === otherId,
        );
      }),
    );
  });

  test('keeps keys and licenses apart, so that each is listed by where its sort key begins', () => {
    fc.assert(
      fc.property(anyOwned, ([prefix, ms, id]) => {
        const sort = ownerIndex.sortOf(prefix, ms, id);
        const kinds = [sortPrefixes.apiKey, sortPrefixes.license].filter((kind) => sort.startsWith(kind));
        expect(kinds).toEqual([prefix]);
      }),
    );
  });

  test('keeps owners apart', () => {
    fc.assert(
      fc.property(anyId, anyId, (a, b) => expect(ownerIndex.of(a) === ownerIndex.of(b)).toBe(a === b)),
    );
  });
});

describe('the lease index', () => {
  test('has a shard for every request id, always the same', () => {
    fc.assert(
      fc.property(anyRequestId, (requestId) => {
        const shard = leaseIndex.shardOf(requestId);
        expect(leaseIndex.shards).toContain(shard);
        expect(leaseIndex.shardOf(requestId)).toBe(shard);
      }),
    );
  });

  test('has shards that differ, and spreads the ids of one moment over all of them', () => {
    const { shards } = leaseIndex;
    expect(new Set(shards).size).toBe(shards.length);
    const nowMs = Date.UTC(2026, 0, 1);
    const counts = new Map<string, number>(shards.map((shard) => [shard, 0]));
    for (let i = 0; i < 8000; i++) {
      const shard = leaseIndex.shardOf(newRequestId(nowMs));
      counts.set(shard, counts.get(shard)! + 1);
    }
    // 1000 each on average; these bounds are more than ten standard deviations wide.
    for (const count of counts.values()) expect(Math.abs(count - 8000 / shards.length)).toBeLessThan(350);
  });
});

test('the table’s schema indexes the attributes that the keys are written under', () => {
  const used = [
    ...tableSchema.KeySchema,
    ...tableSchema.GlobalSecondaryIndexes.flatMap(({ KeySchema }) => [...KeySchema]),
  ].map(({ AttributeName }) => AttributeName);
  const defined = tableSchema.AttributeDefinitions.map(({ AttributeName }) => AttributeName);
  expect(new Set(used)).toEqual(new Set(defined));
  expect(Object.keys(itemKeys.apiKey('a'))).toEqual(
    tableSchema.KeySchema.map(({ AttributeName }) => AttributeName),
  );
});

test('what has the shape of an id holds no separator of the keys', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 70 }), (text) => expect(isId(text) && text.includes('#')).toBe(false)),
  );
});
