import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newId } from '../../../shared/base/ids.ts';
import { fromItem, toItem } from '../../../shared/generations/item.ts';
import { hashIdempotencyKey } from '../../../shared/generations/idempotency-store.ts';
import { leaseIndex, licenseIdOfGeneration } from '../../../shared/table/keys.ts';
import { anyGeneration, sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';

/** Whatever the generation is, this holds of it and of its item. */
const always = (rule: (generation: Generation, item: ReturnType<typeof toItem>) => void) =>
  fc.assert(fc.property(anyGeneration, (generation) => rule(generation, toItem(generation))));

test('a generation is read back as it was stored, whatever it is', () => {
  always((generation, item) => expect(fromItem(item)).toEqual(generation));
});

test('a record from before there was a choice of formats has PNGs', () => {
  always((generation, item) => {
    const { outputFormat: _, ...old } = item;
    expect(fromItem(old)).toEqual({ ...generation, outputFormat: 'png' });
  });
});

test('what is null is left out of the item, and nothing else', () => {
  always((generation, item) => {
    const { requestId: _r, licenseId: _l, idempotencyKeyHash, ...rest } = generation;
    for (const [name, value] of Object.entries({ ...rest, onceId: idempotencyKeyHash }))
      expect(Object.hasOwn(item, name)).toBe(value !== null);
    expect(Object.values(item)).not.toContain(null);
    expect(Object.values(item)).not.toContain(undefined);
  });
});

test('an item has its time to live in whole seconds, and is in the lease index until its lease ends', () => {
  always(({ requestId, expiresAtMs, leaseUntilMs }, item) => {
    expect(item.ttl).toBe(Math.ceil(expiresAtMs / 1000));
    expect(item[leaseIndex.partition]).toBe(leaseIndex.shardOf(requestId));
    expect(item[leaseIndex.sort]).toBe(leaseUntilMs);
  });
});

test('a record that has ended, and so left the lease index, reads back with no lease', () => {
  always((generation, item) => {
    const { [leaseIndex.partition]: _shard, [leaseIndex.sort]: _until, ...ended } = item;
    expect(fromItem(ended)).toEqual({ ...generation, leaseUntilMs: 0 });
  });
});

test('a key names the license and the request that it was made of', () => {
  always(({ licenseId, requestId }, item) => {
    expect([licenseIdOfGeneration(item), item.SK]).toEqual([licenseId, requestId]);
  });
});

test('a record costs one write unit with a prompt of 100 characters and all that it learns until it completes', () => {
  const learnt = {
    startedAtMs: sampleNowMs + 1234,
    completedAtMs: sampleNowMs + 9876,
    modelVersion: '2026-01-01.1',
  };
  expect(sizeOf(toItem({ ...largest(100), status: 'COMPLETED', ...learnt }))).toBeLessThan(1024);
  expect(sizeOf(toItem(largest(1000)))).toBeLessThan(2048);
});

/** Every member at a long value of everyday use, an idempotency key among them. */
function largest(promptLength: number): Generation {
  const generation = sampleGeneration(
    {
      licenseId: newId('license'),
      periodStartMs: Date.UTC(2026, 4, 1, 7, 8, 9, 123),
      creditsLimit: 123_456,
      idempotencyKeyHash: hashIdempotencyKey('8e03978e-40d5-43e8-bc93-6894a57f9324'),
    },
    {
      prompt: 'p'.repeat(promptLength),
      seed: 4294967295,
      referenceMode: 'exact_product',
      referenceImages: [{ url: 'https://a.example/' }],
    },
  );
  return { ...generation, identity: { ...generation.identity, id: newId('identity') } };
}

/**
 * Amazon DynamoDB Developer Guide, "DynamoDB item sizes and formats": a name or text is its UTF-8 bytes, a number
 * about one byte for two significant digits and one more, a boolean one byte, a map three bytes and one per entry.
 */
function sizeOf(item: Record<string, unknown>): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOfValue(value),
    0,
  );
}

function sizeOfValue(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'boolean') return 1;
  if (typeof value === 'object' && value !== null)
    return 3 + Object.keys(value).length + sizeOf(value as never);
  const digits = String(value)
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '');
  return Math.ceil(Math.max(1, digits.length) / 2) + 1;
}
