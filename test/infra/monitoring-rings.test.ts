import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { monitored, rings } from './monitored.ts';

const { alarms } = monitored();
const alarm = (id: string) => alarms.get(id)!;

test.each(['generation-failed', 'generation-timeout'])(
  '%s: three of few, a tenth of many, never two',
  (id) => {
    expect(rings(alarm(id), { failed: 3, whole: 3 })).toBe(true);
    expect(rings(alarm(id), { failed: 2, whole: 2 })).toBe(false);
    expect(rings(alarm(id), { failed: 99, whole: 1000 })).toBe(false);
    expect(rings(alarm(id), { failed: 100, whole: 1000 })).toBe(true);
  },
);

test('three accepted generations without a completed one ring, one completed does not', () => {
  expect(rings(alarm('generation-none'), { accepted: 3 })).toBe(true);
  expect(rings(alarm('generation-none'), { accepted: 2 })).toBe(false);
  expect(rings(alarm('generation-none'), { accepted: 300, completed: 1 })).toBe(false);
});

test('a wait counts once five were measured, in seconds', () => {
  expect(rings(alarm('generation-queue'), { measured: 5, p90: 30_000 })).toBe(true);
  expect(rings(alarm('generation-queue'), { measured: 4, p90: 59_000 })).toBe(false);
  expect(rings(alarm('generation-queue'), { measured: 50, p90: 29_999 })).toBe(false);
});

test('a crash of one function rings whatever the others do not report', () => {
  expect(rings(alarm('function-crashes-generating'), { m1: 3, whole: 100 })).toBe(true);
  expect(rings(alarm('function-crashes-generating'), { m0: 0, m1: 3, whole: 10_000 })).toBe(false);
  expect(rings(alarm('function-throttles-buffered'), { m3: 10 })).toBe(true);
  expect(rings(alarm('function-slow-generating'), { m0: 80_000 })).toBe(true);
  expect(rings(alarm('api-latency'), { m0: 100, m5: 3000 })).toBe(true);
});

test('throttles and faults of one operation ring though the others have none to report', () => {
  expect(rings(alarm('table-throttles'), { m4: 10 })).toBe(true);
  expect(rings(alarm('table-faults'), { m6: 5 })).toBe(true);
});

const credits = fc.nat({ max: 1_000_000 });

test('books that balance never ring', () => {
  const books = alarm('credits-unbalanced');
  const balanced = fc.property(credits, credits, fc.nat(3), (settled, released, leases) => {
    expect(rings(books, { reserved: settled + released, settled, released, leases })).toBe(false);
  });
  fc.assert(balanced);
  expect(rings(books, { reserved: 4, released: 4, leases: 0 })).toBe(false);
});

test('books that are off by one credit ring, unless handlers died', () => {
  const off = fc.property(credits, credits, fc.constantFrom(-1, 1), (settled, released, by) => {
    const sums = { reserved: settled + released + by, settled, released };
    expect(rings(alarm('credits-unbalanced'), { ...sums, leases: 0 })).toBe(true);
    expect(rings(alarm('credits-unbalanced'), { ...sums, leases: 1 })).toBe(false);
  });
  fc.assert(off);
});

test('instances are requests by the parts of them that one instance has', () => {
  expect(rings(alarm('model-at-maximum'), { requests: 100, perInstance: 25 })).toBe(true);
  expect(rings(alarm('model-at-maximum'), { requests: 100, perInstance: 33.4 })).toBe(false);
});
