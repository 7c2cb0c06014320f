import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { usualBudgetUsd } from '../../../bin/costs/budget.ts';
import { scaledToZeroShares } from '../../../bin/costs/fleet.ts';
import { monthlyBill, sumOf } from '../../../bin/costs/model.ts';
import {
  assumptions,
  defaultWorkload,
  usualImageBytes,
  usualWorkload,
  type Workload,
} from '../../../bin/costs/workload.ts';
import { readConfiguration } from '../../../lib/configuration.ts';

const endpoint = { kind: 'endpoint', modelData: 's3://models/example/' };
const usual: Workload = { ...defaultWorkload, imageBytes: usualImageBytes(1) };

function bill(options: object = {}, workload: Partial<Workload> = {}) {
  const configuration = readConfiguration({ inference: endpoint, ...options }, 'A test');
  return monthlyBill(configuration, { ...usual, ...workload });
}

function usdOf({ lines }: ReturnType<typeof bill>, component: string, what = ''): number {
  return sumOf(lines.filter((line) => line.component === component && line.what.includes(what)));
}

describe('the bill', () => {
  test.each<[component: string, what: string, workload: Partial<Workload>, usd: number]>([
    [
      'Images',
      'to the internet',
      { outputs: 4, imageBytes: 2 ** 20, views: 3 },
      (1000 * 4 * 3 * 0.09) / 1024,
    ],
    ['Functions', 'generating', { seconds: 10 }, 1000 * 10.3 * 0.25 * 0.0000133334],
    ['Functions', 'async', { asyncShare: 0.25 }, 250 * 20.3 * 0.25 * 0.0000133334],
    ['Functions', 'invocations', { asyncShare: 0.25 }, ((1250 + 43_800) * 0.2) / 1e6],
    ['Table', 'writes', {}, (12_000 * 0.625) / 1e6],
    ['Table', 'records', {}, ((768 * 1000) / 2 ** 30) * (90 / (730 / 24)) * 0.25],
    ['Monitoring', 'alarms', {}, 19.1],
    // A request each second is traced, and a twentieth of those beyond.
    ['Monitoring', 'traces', { generationsPerMonth: 4_628_000 }, 5e-6 * (2_628_000 + 100_000 + 43_800)],
  ])('has what AWS charges for a thousand generations: %s, %s', (component, what, workload, usd) => {
    expect(usdOf(bill({}, { generationsPerMonth: 1000, ...workload }), component, what)).toBeCloseTo(usd, 9);
  });

  test('grows with what is kept', () => {
    const [short, long] = [bill({ retentionDays: 30 }), bill({ retentionDays: 90 })];
    for (const [component, what] of [
      ['Images', 'stored'],
      ['Table', 'records'],
      ['Table', 'backups'],
    ] as const) {
      expect(usdOf(long, component, what)).toBeCloseTo(3 * usdOf(short, component, what), 9);
    }
  });
});

test.each([
  [{ instanceType: 'ml.p5.4xlarge', secondsPerMegapixel: 1.5 }, 1.5],
  [{ instanceType: 'ml.p5.4xlarge' }, 1.2],
  [{ instanceType: 'ml.g6.xlarge' }, 12],
])(
  'a generation with %j takes what was measured there, else what is known of the card, else a guess',
  (more, seconds) => {
    const configuration = readConfiguration({ inference: { ...endpoint, ...more } }, 'A test');
    expect(usualWorkload(configuration).seconds).toBe(seconds);
  },
);

describe('the usual budget', () => {
  const budget = (options: object) => usualBudgetUsd(readConfiguration(options, 'A test'));

  test('is three times the usual bill, in whole hundreds, with the instances that a configuration has', () => {
    const { lines } = bill({}, defaultWorkload);
    const usd = budget({ inference: endpoint })!;
    expect(usd % 100).toBe(0);
    expect(usd - 3 * sumOf(lines)).toBeGreaterThanOrEqual(0);
    expect(usd - 3 * sumOf(lines)).toBeLessThan(100);
    expect(budget({})).toBeLessThan(usd / 10);
    expect(budget({ inference: { ...endpoint, minInstances: 2 } })).toBeGreaterThan(1.9 * usd);
  });

  test('is unknown where the price of the instances is', () => {
    expect(budget({ inference: { ...endpoint, instanceType: 'ml.p5.4xlarge' } })).toBeNull();
    expect(budget({ inference: { kind: 'existing', endpointName: 'elsewhere' } })).toBeNull();
  });
});

describe('the model', () => {
  const fleet = (inference: object, workload: Partial<Workload> = {}) =>
    bill({ inference: { ...endpoint, ...inference } }, workload).fleet!;

  test.each([{ kind: 'none' }, { kind: 'existing', endpointName: 'elsewhere' }])(
    'costs nothing without instances of the deployment: %j',
    (inference) => {
      expect(bill({ inference }).fleet).toBeNull();
      expect(usdOf(bill({ inference }), 'Model')).toBe(0);
    },
  );

  test('costs at least its fewest instances, and at most its most, which are then too busy', () => {
    const idle = bill({ inference: { ...endpoint, minInstances: 2 } }, { generationsPerMonth: 1 });
    expect(usdOf(idle, 'Model')).toBeCloseTo(2 * 730 * 1.1267, 6);
    const busy = fleet({ maxInstances: 3 }, { generationsPerMonth: 10_000_000 });
    expect(busy.instanceHours).toBe(3 * 730);
    expect(busy.utilization).toBeGreaterThan(1);
  });

  test('has more instances in hours in which the fewest would be busy for more than 70% of the time', () => {
    // 6 s for each of two megapixels of three images: 100 generations keep an instance busy for an hour.
    const work = { seconds: 6, megapixels: 2, outputs: 3 };
    expect(fleet({}, { ...work, generationsPerMonth: 100 }).instanceHours).toBeCloseTo(730, 6);
    // 70% of them in 45 of a week's 168 hours.
    const workingHours = (45 / 168) * 730;
    const generationsPerMonth = (2 * 0.7 * 100 * workingHours) / 0.7;
    expect(fleet({}, { ...work, generationsPerMonth }).instanceHours).toBeCloseTo(730 + workingHours, 6);
  });

  test('with an instance type of unknown price costs what the operator says, and is refused without that', () => {
    const instanceType = 'ml.p5.4xlarge';
    expect(() => fleet({ instanceType })).toThrow('The price of ml.p5.4xlarge is not known here');
    expect(fleet({ instanceType }, { instancePrice: 60 }).price.usd).toBe(60);
  });
});

describe('a model that may be scaled to zero', () => {
  const zero = (workload: Partial<Workload>, inference: object = {}) =>
    bill({ inference: { ...endpoint, minInstances: 0, maxInstances: 100, ...inference } }, workload).fleet!;
  const { coldStartMinutes, leavingMinutes } = assumptions;

  test('costs nothing without images', () => {
    expect(zero({ generationsPerMonth: 0 })).toMatchObject({ instanceHours: 0, sittingsThatWait: 0 });
  });

  test('costs an instance from the cold start that one image causes until it has left after idleness', () => {
    const { instanceHours, sittingsThatWait, waitSeconds } = zero({
      generationsPerMonth: 1,
      imagesPerSitting: 1,
    });
    const seconds = 12 + 60 * (coldStartMinutes + 15 + leavingMinutes);
    // With another one in the same minutes once in thousands of months.
    expect(instanceHours / (seconds / 3600)).toBeCloseTo(1, 2);
    expect(sittingsThatWait).toBeCloseTo(1, 2);
    expect(waitSeconds / (60 * coldStartMinutes)).toBeCloseTo(1, 2);
  });

  test('costs as much as one that is always on, in the same hours, once it is never scaled to zero', () => {
    const busy = { generationsPerMonth: 2_000_000 };
    // At night, too, more than one instance is needed, each busy for 70% of its time.
    expect(zero(busy).instanceHours).toBeCloseTo((2_000_000 * 12) / 3600 / 0.7, 3);
  });

  test('is scaled to zero for less of the month the longer it is kept, and the more comes in sittings of one', () => {
    const hours = [5, 15, 60].map((idleMinutes) => zero({}, { idleMinutes }).instanceHours);
    expect(hours).toEqual(hours.toSorted((a, b) => a - b));
    expect(zero({ imagesPerSitting: 1 }).instanceHours).toBeGreaterThan(zero({}).instanceHours);
  });

  test('says where more is asked for in working hours than can be generated, though not over a month', () => {
    const fleet = zero({ generationsPerMonth: 200_000 }, { maxInstances: 2 });
    expect(fleet.utilization).toBeLessThan(1);
    expect(fleet.peakUtilization).toBeGreaterThan(1);
  });

  test('has workers ask again during its cold starts, and all its hours in the bill', () => {
    const options = { inference: { ...endpoint, minInstances: 0 } };
    const { fleet, lines } = bill(options);
    expect(usdOf({ fleet, lines }, 'Model')).toBeCloseTo(fleet!.instanceHours * 1.1267, 6);
    const waits = usdOf({ fleet, lines }, 'Functions', 'async') / (1000 * 0.25 * 0.0000133334);
    expect(waits).toBeCloseTo(20.3 + (0.1 * fleet!.waitSeconds) / 11, 6);
  });

  test('has shares of time that are none below 0 and together at most 1, for any load', () => {
    const endpointAtZero = { minInstances: 0, idleMinutes: 15 };
    const sitting = { imagesPerSitting: 5 };
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 50, noNaN: true }),
        (sittingsPerHour, load) => {
          const shares = scaledToZeroShares(sittingsPerHour, load, endpointAtZero, sitting);
          const { atZero, unpaid, starting } = shares;
          expect(Math.min(unpaid, starting, atZero - unpaid)).toBeGreaterThanOrEqual(0);
          expect(atZero + starting + Math.min(1, load)).toBeLessThanOrEqual(1 + 1e-9);
        },
      ),
    );
  });
});
