import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { newRequestId } from '../../../shared/base/ids.ts';
import { hashIdempotencyKey } from '../../../shared/generations/idempotency-store.ts';
import { itemKeys, leaseIndex, ownerIndex, sortPrefixes, type ItemKey } from '../../../shared/table/keys.ts';
import { anyId, anyInstantMs, anyRequestId } from '../../support/unit-samples.ts';

/** The inputs of keys, often the same ones. */
const anyInputs = fc.tuple(
  fc.oneof(fc.constantFrom('a', 'b'), anyId),
  fc.oneof(fc.constantFrom('a', 'b'), anyId),
  anyInstantMs,
);
type Inputs = typeof anyInputs extends fc.Arbitrary<infer T> ? T : never;

/** A key of every kind, under a text of the kind and its inputs. */
const keysOf = ([a, b, ms]: Inputs): [string, ItemKey][] => [
  [`apiKey ${a}`, itemKeys.apiKey(a)],
  [`rateLog ${a} ${b}`, itemKeys.rateLog(a, b)],
  [`idempotencyRecord ${a} ${b}`, itemKeys.idempotencyRecord(a, b)],
  [`license ${a}`, itemKeys.license(a)],
  [`activeKeys ${a}`, itemKeys.activeKeys(a)],
  [`billing ${a}`, itemKeys.billing(a)],
  [`period ${a} ${ms}`, itemKeys.period(a, ms)],
  [`generation ${a} ${b}`, itemKeys.generation(a, b)],
  [`identity ${a}`, itemKeys.identity(a)],
  ['coldStart', itemKeys.coldStart()],
  [`licenseAudit ${a} ${b}`, itemKeys.licenseAudit(a, b)],
  [`identityAudit ${a}`, itemKeys.identityAudit(a)],
];
const anyLaterMs = fc.integer({ min: 1, max: 10 ** 11 });

describe('item keys', () => {
  test('of different kinds or different inputs are different', () => {
    fc.assert(
      fc.property(fc.array(anyInputs, { minLength: 1, maxLength: 5 }), (inputs) => {
        const keys = new Map(inputs.flatMap(keysOf));
        expect(new Set([...keys.values()].map((key) => JSON.stringify(key))).size).toBe(keys.size);
      }),
    );
  });

  test('of periods sort by their start, and of generations by the time they were made', () => {
    fc.assert(
      fc.property(anyId, anyInstantMs, anyLaterMs, (id, ms, laterMs) => {
        for (const keyAt of [
          (at: number) => itemKeys.period(id, at),
          (at: number) => itemKeys.generation(id, newRequestId(at)),
          (at: number) => itemKeys.licenseAudit(id, newRequestId(at)),
          (at: number) => itemKeys.identityAudit(newRequestId(at)),
        ]) {
          expect(keyAt(ms).SK < keyAt(ms + laterMs).SK).toBe(true);
        }
      }),
    );
  });

  test('of what gives access share a partition with nothing that a function for customers writes', () => {
    fc.assert(
      fc.property(anyId, anyRequestId, anyInstantMs, (id, requestId, startMs) => {
        const { apiKey, license, identity, rateLog, idempotencyRecord, activeKeys, period, generation } =
          itemKeys;
        const audit = [itemKeys.licenseAudit(id, requestId), itemKeys.identityAudit(requestId)];
        const giving = [apiKey(id), license(id), identity(id)].map(({ PK }) => PK);
        const written = [rateLog(id, id), idempotencyRecord(id, id), activeKeys(id), period(id, startMs)];
        for (const { PK } of [...written, ...audit, generation(id, requestId)])
          expect(giving).not.toContain(PK);
      }),
    );
  });

  test('hold nothing that a caller wrote: an idempotency key enters by its hash', () => {
    const anyIdempotencyKey = fc.string({ minLength: 1, maxLength: 255 });
    fc.assert(
      fc.property(anyIdempotencyKey, anyIdempotencyKey, (a, b) => {
        expect(hashIdempotencyKey(a)).toMatch(/^[A-Za-z0-9_-]{43}$/);
        expect(hashIdempotencyKey(a) === hashIdempotencyKey(b)).toBe(a === b);
      }),
    );
  });
});

describe('the owner index', () => {
  const anyOwned = fc.tuple(fc.constantFrom(sortPrefixes.apiKey, sortPrefixes.license), anyInstantMs, anyId);

  test('sorts what one owner has of a kind by its creation, and keeps apart what is of one millisecond', () => {
    fc.assert(
      fc.property(anyOwned, anyLaterMs, anyId, ([prefix, ms, id], laterMs, otherId) => {
        const sort = ownerIndex.sortOf(prefix, ms, id);
        expect(sort < ownerIndex.sortOf(prefix, ms + laterMs, otherId)).toBe(true);
        expect(sort === ownerIndex.sortOf(prefix, ms, otherId)).toBe(id === otherId);
      }),
    );
  });

  test('keeps keys and licenses apart', () => {
    fc.assert(
      fc.property(anyOwned, ([prefix, ms, id]) => {
        const sort = ownerIndex.sortOf(prefix, ms, id);
        const kinds = [sortPrefixes.apiKey, sortPrefixes.license].filter((kind) => sort.startsWith(kind));
        expect(kinds).toEqual([prefix]);
      }),
    );
  });
});

describe('the lease index', () => {
  test('has shards that differ, and spreads the ids of one moment over all of them', () => {
    const { shards } = leaseIndex;
    expect(new Set(shards).size).toBe(shards.length);
    const nowMs = Date.UTC(2026, 0, 1);
    const used = Array.from({ length: 8000 }, () => leaseIndex.shardOf(newRequestId(nowMs)));
    const counts = shards.map((shard) => used.filter((one) => one === shard).length);
    // 1000 each on average; these bounds are more than ten standard deviations wide.
    for (const count of counts) expect(Math.abs(count - 8000 / shards.length)).toBeLessThan(350);
  });
});
