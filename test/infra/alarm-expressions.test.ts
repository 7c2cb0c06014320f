import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { monitored, starts } from './monitored.ts';

const alarm = (id: string) => monitored('everything').alarms.get(id)!;

test.each(['generation-failed', 'generation-timeout'])(
  '%s starts at three failures of few and at a tenth of many, never at two',
  (id) => {
    expect(starts(alarm(id), { failed: 3, whole: 3 })).toBe(true);
    expect(starts(alarm(id), { failed: 2, whole: 2 })).toBe(false);
    expect(starts(alarm(id), { failed: 99, whole: 1000 })).toBe(false);
    expect(starts(alarm(id), { failed: 100, whole: 1000 })).toBe(true);
  },
);

test('generation-none starts at three accepted generations without a completed one', () => {
  expect(starts(alarm('generation-none'), { accepted: 3 })).toBe(true);
  expect(starts(alarm('generation-none'), { accepted: 2 })).toBe(false);
  expect(starts(alarm('generation-none'), { accepted: 300, completed: 1 })).toBe(false);
});

test('generation-queue starts at half the deadline, in seconds, once five waits were measured', () => {
  expect(starts(alarm('generation-queue'), { measured: 5, p90: 30_000 })).toBe(true);
  expect(starts(alarm('generation-queue'), { measured: 4, p90: 59_000 })).toBe(false);
  expect(starts(alarm('generation-queue'), { measured: 50, p90: 29_999 })).toBe(false);
});

test('an alarm of several functions starts though all but one report nothing', () => {
  expect(starts(alarm('function-crashes-generating'), { m1: 3, whole: 100 })).toBe(true);
  expect(starts(alarm('function-crashes-generating'), { m0: 0, m1: 3, whole: 10_000 })).toBe(false);
  expect(starts(alarm('function-throttles-buffered'), { m3: 10 })).toBe(true);
  expect(starts(alarm('function-slow-generating'), { m0: 80_000 })).toBe(true);
  expect(starts(alarm('api-latency'), { m0: 100, m5: 3000 })).toBe(true);
});

test('an alarm of the table starts though all operations but one report nothing', () => {
  expect(starts(alarm('table-throttles'), { m4: 10 })).toBe(true);
  expect(starts(alarm('table-faults'), { m6: 5 })).toBe(true);
});

const credits = fc.nat({ max: 1_000_000 });

test('credits-unbalanced does not start while the sums agree', () => {
  const unbalanced = alarm('credits-unbalanced');
  const balanced = fc.property(credits, credits, fc.nat(3), (settled, released, leases) => {
    expect(starts(unbalanced, { reserved: settled + released, settled, released, leases })).toBe(false);
  });
  fc.assert(balanced);
  expect(starts(unbalanced, { reserved: 4, released: 4, leases: 0 })).toBe(false);
});

test('credits-unbalanced starts at a difference of one credit, unless the sweep released a lease', () => {
  const off = fc.property(credits, credits, fc.constantFrom(-1, 1), (settled, released, by) => {
    const sums = { reserved: settled + released + by, settled, released };
    expect(starts(alarm('credits-unbalanced'), { ...sums, leases: 0 })).toBe(true);
    expect(starts(alarm('credits-unbalanced'), { ...sums, leases: 1 })).toBe(false);
  });
  fc.assert(off);
});

test('model-at-maximum counts instances as requests divided by requests per instance', () => {
  const ofSeven = monitored('tuned').alarms.get('model-at-maximum')!;
  expect(starts(ofSeven, { requests: 140, perInstance: 20 })).toBe(true);
  expect(starts(ofSeven, { requests: 140, perInstance: 23.4 })).toBe(false);
});

describe('where the model may sleep', () => {
  const sleeping = (id: string) => monitored('sleeping').alarms.get(id)!;
  const failing = {
    'service-unavailable': { failed: 50, whole: 100 },
    'api-server-errors': { failed: 50, whole: 100 },
    'model-errors': { failed: 50, whole: 100 },
    'generation-none': { accepted: 50, whole: 50 },
  };

  test.each(Object.entries(failing))(
    '%s does not start because it sleeps, and starts otherwise',
    (id, values) => {
      expect(starts(sleeping(id), values)).toBe(true);
      expect(starts(sleeping(id), { ...values, asleep: 0 })).toBe(true);
      expect(starts(sleeping(id), { ...values, asleep: 1 })).toBe(false);
      expect(starts(alarm(id), { ...values, asleep: 1 })).toBe(true);
    },
  );

  test('no other alarm looks at it', () => {
    const looking = [...monitored('sleeping').alarms].filter(([, { Metrics }]) =>
      Metrics?.some(({ Id }) => Id === 'asleep'),
    );
    expect(looking.map(([id]) => id).toSorted()).toEqual(Object.keys(failing).toSorted());
  });
});
