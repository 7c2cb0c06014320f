import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { fleetOf } from '../../../bin/costs/fleet.ts';
import type { Bill } from '../../../bin/costs/model.ts';
import { prices } from '../../../bin/costs/prices.ts';
import { gigabyte, type Workload } from '../../../bin/costs/workload.ts';
import { readConfiguration } from '../../../lib/configuration.ts';
import { bill, inference, usdOf, usual } from './sample.ts';

const generations = fc.integer({ min: 1, max: 2_000_000 });

describe('the bill', () => {
  test('does not fall when more is generated, and its fixed lines stay', () => {
    fc.assert(
      fc.property(generations, generations, (one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)].map((generationsPerMonth) =>
          bill({}, { generationsPerMonth }),
        );
        expect(usdOf(less!)).toBeLessThanOrEqual(usdOf(more!) + 1e-9);
        const fixed = ({ lines }: Bill) => lines.filter((line) => line.fixed);
        expect(fixed(less!)).toEqual(fixed(more!));
      }),
    );
  });

  test('has a known price in each line', () => {
    for (const { quantity, usd, unit, component } of bill({}, {}).lines) {
      if (component === 'Model') continue;
      const fits = Object.values(prices).some(
        (price) => price.unit === unit && Math.abs((quantity * price.usd) / price.per - usd) < 1e-9,
      );
      expect({ unit, fits }).toEqual({ unit, fits: true });
    }
  });

  test('uses every known price', () => {
    const units = new Set(bill().lines.map(({ unit }) => unit));
    expect(Object.values(prices).filter(({ unit }) => !units.has(unit))).toEqual([]);
  });

  test('depends on the retention of images and records', () => {
    const [short, long] = [bill({ retentionDays: 30 }), bill({ retentionDays: 90 })];
    for (const [component, what] of [
      ['Images', 'stored'],
      ['Table', 'records'],
      ['Table', 'backups'],
      ['Table', 'point-in-time recovery'],
    ] as const) {
      expect(usdOf(long, component, what)).toBeCloseTo(3 * usdOf(short, component, what), 9);
    }
    expect(usdOf(long, 'Images', 'to the internet')).toBe(usdOf(short, 'Images', 'to the internet'));
  });

  test('depends on the retention of logs', () => {
    const [week, year] = [bill({ logRetentionDays: 7 }), bill({ logRetentionDays: 365 })];
    expect(usdOf(year, 'Logs', 'stored')).toBeGreaterThan(50 * usdOf(week, 'Logs', 'stored'));
    expect(usdOf(year, 'Logs', 'written')).toBe(usdOf(week, 'Logs', 'written'));
  });

  test('depends on the memory of a function that waits', () => {
    const what = 'waiting for the model';
    const double = usdOf(bill({}, {}, { memoryMb: 512 }), 'Functions', what);
    expect(double).toBeCloseTo(2 * usdOf(bill(), 'Functions', what), 12);
  });

  test('charges each byte of each view of each image', () => {
    const workload = { generationsPerMonth: 1000, outputs: 4, imageBytes: 2 ** 20, viewsPerImage: 3 };
    const gb = (1000 * 4 * 2 ** 20 * 3) / gigabyte;
    expect(usdOf(bill({}, workload), 'Images', 'to the internet')).toBeCloseTo(gb * prices.internet.usd, 9);
  });

  test('has a trace of each request up to one a second, and of few beyond', () => {
    const traces = (generationsPerMonth: number) =>
      usdOf(bill({}, { generationsPerMonth }), 'Monitoring', 'traces');
    expect(traces(2_000_000)).toBeCloseTo(10, 9);
    expect(traces(4_628_000)).toBeCloseTo(5e-6 * (2_628_000 + 100_000), 9);
  });
});

describe('the model', () => {
  const fleet = (options: object, workload: Partial<Workload> = {}) =>
    bill({ inference: { ...inference, ...options } }, workload).fleet!;

  test('costs nothing without instances of the deployment', () => {
    for (const none of [{ kind: 'none' }, { kind: 'existing', endpointName: 'elsewhere' }]) {
      expect(bill({ inference: none }).fleet).toBeNull();
      expect(usdOf(bill({ inference: none }), 'Model')).toBe(0);
    }
  });

  test('costs at least its minimum of instances, used or not', () => {
    const idle = bill({ inference: { ...inference, minInstances: 2 } }, { generationsPerMonth: 1 });
    expect(usdOf(idle, 'Model')).toBeCloseTo(2 * 730 * 1.1267, 6);
  });

  test('costs at most its maximum of instances, and its utilization says when they are too few', () => {
    const { instanceHours, utilization } = fleet({ maxInstances: 3 }, { generationsPerMonth: 10_000_000 });
    expect(instanceHours).toBe(3 * 730);
    expect(utilization).toBeGreaterThan(1);
  });

  test('is busy for the seconds of each megapixel of each image', () => {
    const work = { generationsPerMonth: 600, secondsPerMegapixel: 6, megapixels: 2, outputs: 3 };
    expect(fleet({}, work).paintHours).toBeCloseTo(6, 9);
  });

  test('stays at the minimum of instances while they are not busy, and always has enough', () => {
    fc.assert(
      fc.property(generations, fc.integer({ min: 1, max: 5 }), (generationsPerMonth, minInstances) => {
        const { paintHours, instanceHours } = fleet(
          { minInstances, maxInstances: 100 },
          { generationsPerMonth },
        );
        expect(instanceHours).toBeGreaterThanOrEqual(minInstances * 730);
        expect(instanceHours).toBeGreaterThanOrEqual(paintHours);
        if (paintHours <= 0.7 * minInstances * 730) expect(instanceHours).toBe(minInstances * 730);
      }),
    );
  });

  test('with an instance type of unknown price costs what the operator says, and is refused without that', () => {
    const instanceType = 'ml.p5.4xlarge';
    expect(() => fleet({ instanceType })).toThrow('The price of ml.p5.4xlarge is not known here');
    const { inference: known } = readConfiguration({ inference: { ...inference, instanceType } }, 'A test');
    expect(fleetOf(known, { ...usual, instancePerHour: 60 })?.usdPerHour).toBe(60);
  });
});
