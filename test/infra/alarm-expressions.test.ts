import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { rings } from '../support/counted-metrics.ts';
import { monitored, starts } from './monitored.ts';

const alarm = (id: string) => monitored('everything').alarms.get(id)!;

test.each<[starts: boolean, id: string, values: Record<string, number>]>([
  // Three failures of few, and a tenth of many.
  ...['generation-failed', 'generation-timeout'].flatMap(
    (id): [boolean, string, Record<string, number>][] => [
      [true, id, { failed: 3, whole: 3 }],
      [false, id, { failed: 2, whole: 2 }],
      [false, id, { failed: 99, whole: 1000 }],
      [true, id, { failed: 100, whole: 1000 }],
      // Whoever has many end by no fault hides no others.
      [true, id, { failed: 99, whole: 1000, beside: 10 }],
    ],
  ),
  [true, 'generation-none', { accepted: 3 }],
  [false, 'generation-none', { accepted: 2 }],
  [false, 'generation-none', { accepted: 300, completed: 1 }],
  // Those that ended by no fault of ours are left out.
  [false, 'generation-none', { accepted: 32, refused: 30 }],
  [true, 'generation-none', { accepted: 33, refused: 30 }],
  [true, 'api-server-errors', { failed: 5, whole: 100 }],
  [false, 'api-server-errors', { failed: 50, except: 46, whole: 80 }],
  [true, 'api-server-errors', { failed: 50, except: 45, whole: 80 }],
  [false, 'api-server-errors', { except: 50, whole: 80 }],
  // Half the deadline in milliseconds, once five waits were measured.
  [true, 'generation-queue', { measured: 5, p90: 30_000 }],
  [false, 'generation-queue', { measured: 4, p90: 59_000 }],
  [false, 'generation-queue', { measured: 50, p90: 29_999 }],
  // Though all functions or operations but one report nothing.
  [true, 'function-crashes-generating', { m1: 3, whole: 100 }],
  [false, 'function-crashes-generating', { m0: 0, m1: 3, whole: 10_000 }],
  // Three failures of any kind, and a twentieth of the version's calls.
  [true, 'version-fails-CreateGeneration', { faults: 3, whole: 60 }],
  [true, 'version-fails-BillingEvents', { crashes: 2, faults: 1, whole: 3 }],
  [false, 'version-fails-CreateGeneration', { crashes: 2, whole: 2 }],
  [false, 'version-fails-CreateGeneration', { crashes: 2, faults: 2, whole: 81 }],
  [true, 'function-throttles-buffered', { m3: 10 }],
  [true, 'function-slow-generating', { m0: 80_000 }],
  [true, 'api-latency', { m0: 100, m5: 3000 }],
  [true, 'table-throttles', { m4: 10 }],
  [true, 'table-faults', { m6: 5 }],
])('it is %s that %s starts at %j', (expected, id, values) => {
  expect(starts(alarm(id), values)).toBe(expected);
});

// A completed generation is one, however long it was painted.
test.each<[id: string, refused: string, allowed: string, each: number]>([
  ['prompts-refused', 'PromptChecks refused', 'PromptChecks allowed', 1],
  ['pictures-refused', 'RefusedPictures', 'PaintTime', 7000],
])('%s starts at twenty of %s that are a fifth of these and of %s', (id, refused, allowed, each) => {
  const startsAt = (some: number, others: number) => {
    const values = new Map([[refused, Array<number>(some).fill(1)]]);
    if (others > 0) values.set(allowed, Array<number>(others).fill(each));
    return rings(alarm(id), values, {});
  };
  expect([startsAt(20, 80), startsAt(20, 0)]).toEqual([true, true]);
  expect([startsAt(19, 1), startsAt(20, 81)]).toEqual([false, false]);
});

const credits = fc.nat({ max: 1_000_000 });

test('credits-unbalanced starts at a difference of one credit, not while the sums agree or the sweep released a lease', () => {
  const off = fc.property(credits, credits, fc.constantFrom(-1, 0, 1), (settled, released, by) => {
    const sums = { reserved: settled + released + by, settled, released };
    expect(starts(alarm('credits-unbalanced'), { ...sums, leases: 0 })).toBe(by !== 0);
    expect(starts(alarm('credits-unbalanced'), { ...sums, leases: 1 })).toBe(false);
  });
  fc.assert(off);
  expect(starts(alarm('credits-unbalanced'), { reserved: 4, released: 4, leases: 0 })).toBe(false);
});

test('model-at-maximum counts instances as requests divided by requests per instance', () => {
  const ofSeven = monitored('tuned').alarms.get('model-at-maximum')!;
  expect(starts(ofSeven, { requests: 140, perInstance: 20 })).toBe(true);
  expect(starts(ofSeven, { requests: 140, perInstance: 23.4 })).toBe(false);
});

describe('where the model may be scaled to zero', () => {
  const atZero = (id: string) => monitored('atZero').alarms.get(id)!;
  const failing = {
    'service-busy': { refused: 50, whole: 100 },
    'model-errors': { failed: 50, whole: 100 },
  };

  test.each(Object.entries(failing))(
    '%s does not start because it is, and starts otherwise',
    (id, values) => {
      expect(starts(atZero(id), values)).toBe(true);
      expect(starts(atZero(id), { ...values, asleep: 0 })).toBe(true);
      expect(starts(atZero(id), { ...values, asleep: 1 })).toBe(false);
      expect(starts(alarm(id), { ...values, asleep: 1 })).toBe(true);
    },
  );

  test('no other alarm looks at it', () => {
    const looking = [...monitored('atZero').alarms].filter(([, { Metrics }]) =>
      Metrics?.some(({ Id }) => Id === 'asleep'),
    );
    expect(looking.map(([id]) => id).toSorted()).toEqual(Object.keys(failing).toSorted());
  });
});
